package metrics

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

const (
	// binWidth is the width of the bins that everything is counted in.
	binWidth = 100 * time.Millisecond
	// secondBins is how many bins a second has.
	secondBins = int64(time.Second / binWidth)
	// recentBins is how many bins make the Headline: ten seconds.
	recentBins = 10 * secondBins
	// settleBins is how long a bin stays open after its end.
	settleBins = secondBins
)

// Collector turns the events of one run into Snapshots and a Summary. New makes
// one.
type Collector struct {
	config Config
	watch  Watch
	now    clock.Instant
	seq    uint64

	client   clients
	queues   queues
	sockets  sockets
	breakers breakers
	server   server
	faults   []faultState

	history history
	// aside is what the open bins hold beyond a Bin, by bin number modulo its
	// length, which is more than there are open bins.
	aside     [16]aside
	whole     whole
	synchrony synchrony
	waves     waves
	raster    rasterLog
	journeys  journeys
	heads     heads
	tied      tied
	refreshes Refreshes
	lanes     lanes

	limits  limits
	story   story
	was     Headline // when a setting was last changed
	cycles  cycles
	changed bool
}

// aside is what is counted in a bin and not shown in it.
type aside struct {
	opened int32 // breakers that opened
	lag    time.Duration
}

// New is a Collector for a run of the given configuration. All breakers are
// closed and everything is 0.
func New(c Config) *Collector {
	return &Collector{
		config:    c,
		client:    newClients(),
		queues:    newQueues(c),
		sockets:   newSockets(),
		breakers:  newBreakers(c),
		server:    newServer(c.Workers),
		faults:    newFaults(c.Faults),
		history:   newHistory(),
		synchrony: newSynchrony(c.Base, c.Cap),
		waves:     newWaves(c.EpochFraction),
		raster:    newRasterLog(),
		journeys:  newJourneys(),
		heads:     heads{at: clock.Never},
		lanes:     newLanes(c),
		story:     newStory(),
		cycles:    cycles{changed: wire.Held},
	}
}

// Observe counts an event. Events that are not known are ignored, as are
// clients, scopes and faults that the Config does not have.
func (c *Collector) Observe(e wire.Event) {
	c.Advance(e.At)
	c.journeys.observe(&e)
	c.tied.observe(&e)
	c.refreshes.observe(&e)
	switch e.Kind {
	case wire.RequestBegan:
		c.requestBegan(&e)
	case wire.RequestQueued:
		c.requestQueued(&e)
	case wire.RequestDequeued:
		c.queues.leave(&e)
	case wire.AttemptSent:
		c.attemptSent(&e)
	case wire.AttemptEnded:
		c.client.attemptEnded(&e)
	case wire.RequestDone:
		c.requestDone(&e)
	case wire.BreakerChanged:
		c.breakerChanged(&e)
	case wire.StarvationBegan:
		c.starvationBegan(&e)
	case wire.StarvationEnded:
		c.starvationEnded(&e)
	case wire.ServerArrived:
		c.serverArrived(&e)
	case wire.ServerBegan:
		c.serverBegan(&e)
	case wire.ServerDone:
		c.server.finished(&e)
	case wire.ServerRejected:
		c.serverRejected(&e)
	case wire.ServerReset:
		c.serverReset(&e)
	case wire.ServerCancelled:
		c.server.cancel(&e)
	case wire.ServerReturned:
		c.serverReturned(&e)
	case wire.ServerRepeated:
		c.serverRepeated(&e)
	case wire.ServerReplayed:
		c.serverReplayed()
	case wire.FaultBegan, wire.FaultEnded, wire.FaultStruck, wire.FaultMissed, wire.ServerSwallowed:
		c.fault(&e)
	case wire.ClassChanged:
		c.reclass(&e)
	case wire.RetryDenied:
		c.client.denied++
	case wire.PageEnded:
		c.journeys.pages.ended(&e)
	case wire.ArrivalsMissed:
		c.arrivalMissed(&e)
	default:
		c.observeLimits(&e)
	}
}

// observeLimits counts an event about limits, connections and probes.
func (c *Collector) observeLimits(e *wire.Event) {
	switch e.Kind {
	case wire.LimitChanged:
		c.limitChanged(e)
	case wire.ScopePaused:
		c.limits.paused++
	case wire.ScopeResumed:
		c.limits.paused--
	case wire.ProbeDone:
		c.lanes.probed(e)
	case wire.SocketQueued:
		c.socketQueued(e)
	case wire.SocketDequeued:
		c.sockets.leave(e)
	}
}

// Advance says that the time is now, which closes the bins that are over. A
// moment that has passed, and clock.Never, change nothing.
func (c *Collector) Advance(now clock.Instant) {
	if now <= c.now || now == clock.Never {
		return
	}
	for now.Bin(binWidth) > c.history.cur {
		c.turn()
	}
	c.now = now
}

// SetWatch says what the snapshots must show from now on.
func (c *Collector) SetWatch(w Watch) { c.watch = w }

// SetWorkers says that the server has n workers from now on; 0 is unlimited.
func (c *Collector) SetWorkers(n int) { c.server.setWorkers(c.now, n) }

// SetBreakersOn says whether breakers are in use from now on.
func (c *Collector) SetBreakersOn(on bool) { c.breakers.on = on }

// SetBreakersShared says whether all clients have one breaker for each scope from
// now on, or each has its own. Event.Shared tells whose a transition is.
func (c *Collector) SetBreakersShared(shared bool) { c.breakers.share(c.now, shared) }

// Mark notes that a setting was changed at the given moment, and keeps what Now
// is and has been, to be compared with; see Snapshot.Was.
func (c *Collector) Mark(at clock.Instant, text string) {
	c.Advance(at)
	c.was, c.changed = c.headline(), true
	c.cycles.change(at)
	c.MarkDone(at, text)
}

// MarkDone notes that something was done that is no setting, such as a fault that a
// hand begins. What Now is compared with stays: a fault is begun to see what a
// change was good for.
func (c *Collector) MarkDone(at clock.Instant, text string) {
	c.Advance(at)
	c.story.mark(Mark{Kind: MarkChange, At: at, Until: at, Text: text})
	c.story.note(Note{Kind: NoteChange, At: at, Text: text})
}

// turn closes the newest bin and opens the next one.
func (c *Collector) turn() {
	c.stamp(c.history.newest())
	c.history.open()
	cur := c.history.cur
	c.aside[cur%int64(len(c.aside))] = aside{}
	if cur%secondBins == 0 {
		c.client.recent.turn()
		c.journeys.turn()
	}
	c.tellFed(binStart(cur))
	if c.cycles.due(binStart(cur)) {
		c.cycles.note(c.headline())
	}
	if over := cur - settleBins - 1; over >= 0 {
		c.settle(over)
	}
}

// settle takes a bin that can change no more into the statistics.
func (c *Collector) settle(number int64) {
	b := *c.history.bin(number)
	if c.whole.add(number, b) {
		end, fault := c.whole.recovery.end, c.whole.recovery.fault
		took := c.whole.recovery.took
		c.story.note(Note{
			Kind: NoteRecovered, At: end.Add(took), Delay: took, Text: c.FaultName(fault),
		})
	}
	c.story.arrivals(b)
	c.story.opened(b.Start, c.aside[number%int64(len(c.aside))].opened, c.breakers.total())
}

// stamp writes the present state into a bin.
func (c *Collector) stamp(b *Bin) {
	for i, n := range c.breakers.used().counts {
		b.States[i] = int32(n)
	}
	for i := range c.queues.classes {
		b.Waiting[i] = int32(len(c.queues.classes[i].waiting))
	}
	b.Busy, b.Backlog = int32(c.server.busy), int32(c.server.backlog)
	b.Limit = float32(c.limits.view().Mean)
}

// bin is the bin that a moment falls in, or the oldest that is open.
func (c *Collector) bin(at clock.Instant) *Bin {
	return c.history.bin(c.number(at))
}

// number is the number of the bin of a moment, or of the oldest that is open.
func (c *Collector) number(at clock.Instant) int64 {
	cur := c.history.cur
	return min(max(at.Bin(binWidth), cur-settleBins, 0), cur)
}

// behind notes that something began later than it should have.
func (c *Collector) behind(at clock.Instant, lag time.Duration) {
	a := &c.aside[c.number(at)%int64(len(c.aside))]
	a.lag = max(a.lag, lag)
}

// lag is the largest lag of the last second.
func (c *Collector) lag() (largest time.Duration) {
	for n := max(0, c.history.cur-secondBins); n <= c.history.cur; n++ {
		largest = max(largest, c.aside[n%int64(len(c.aside))].lag)
	}
	return largest
}

// binStart is the moment at which a bin begins.
func binStart(number int64) clock.Instant { return clock.Instant(number * int64(binWidth)) }
