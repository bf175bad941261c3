package metrics

import (
	"slices"
	"time"

	"herdscope/engine/wire"
)

// defaultSpan is how much history a Snapshot covers unless it is watched
// otherwise.
const defaultSpan = time.Minute

// Snapshot is the state of the run now.
func (c *Collector) Snapshot() *Snapshot {
	c.seq++
	s := &Snapshot{
		Seq: c.seq, At: c.now, Clients: c.config.Clients,
		Requests: c.client.requests, Outcomes: c.client.outcomes(),
		Attempts: c.client.attempts, Retries: c.client.retries,
		InFlight: c.client.inFlight, Waiting: c.queues.count,
		Paused:  c.limits.paused,
		Sharing: c.tied.sharing, Nesting: c.tied.nesting, Deadlocks: c.tied.deadlocks,
		Missed: c.client.missed, Denied: c.client.denied, Lag: c.lag(),
		Now: c.headline(), Was: c.compared(), Changed: c.changed, Window: c.window(),
		Breakers: c.breakerView(),
		Limits:   c.limits.view(),
		Server:   c.server.view(c.now),
		Faults:   c.FaultViews(),
		Marks:    slices.Clone(c.story.marks),
		Notes:    slices.Clone(c.story.notes),
		Recovery: c.whole.recovery.view(c.now),
	}
	s.Sockets = c.sockets.view(c.now)
	// A request that has not ended is on the wire, waits for a connection, is in a
	// queue or in backoff, shares the flight of another, or has its reply and waits
	// for nested ones. In a live run a snapshot may fall between two events of the
	// same moment.
	s.Sleeping = max(0, s.Outcomes[wire.Unfinished]-s.InFlight-s.Waiting-s.Sockets.Waiting-
		s.Sharing-s.Nesting)
	for i := range s.Queues {
		s.Queues[i] = c.queues.view(i, c.now)
	}
	span := c.watch.Span
	if span <= 0 {
		span = defaultSpan
	}
	c.stamp(c.history.newest())
	s.Bins, s.BinWidth = c.history.view(span)
	s.Raster = c.draw(span)
	if c.watch.HeatRows > 0 {
		s.Latency = c.journeys.view(c.now, span, c.watch)
	}
	if c.watch.Lines {
		s.Lines = c.lineView()
	}
	if c.watch.BreakerRows > 0 {
		s.Lanes = c.lanes.view(c.now, c.breakers.shared, span, c.watch)
	}
	return s
}

// compared is what Now is to be compared with.
func (c *Collector) compared() Headline {
	if then, ok := c.cycles.at(c.now); ok {
		return then
	}
	return c.was
}

func (c *Collector) breakerView() BreakerView {
	b := &c.breakers
	return BreakerView{
		On: b.on, Shared: b.shared, Counts: b.used().counts, Total: b.total(),
		Opened: b.into[wire.Open], HalfOpened: b.into[wire.HalfOpen], Closed: b.into[wire.Closed],
		OpenShare: b.openShare(c.now),
		Last:      b.latest(),
	}
}

// windowBins is how many whole bins the Headline covers.
func (c *Collector) windowBins() int64 { return min(c.history.cur, recentBins) }

func (c *Collector) window() time.Duration {
	return time.Duration(c.windowBins()) * binWidth
}

// headline sums up the whole bins of the last ten seconds.
func (c *Collector) headline() (h Headline) {
	var sum Bin
	var arrivals dispersion
	n := c.windowBins()
	for back := n; back > 0; back-- {
		b := c.history.bin(c.history.cur - back)
		sum.add(b)
		arrivals.add(b.Arrivals())
	}
	if n > 0 {
		seconds := c.window().Seconds()
		h.Offered = float64(sum.Began) / seconds
		h.Sent = float64(sum.Sent) / seconds
		h.Goodput = float64(sum.Good) / seconds
		h.PeakToMean, h.Chance = arrivals.peakToMean(), arrivals.chance()
	}
	h.Amplification = ratio(int64(sum.Sent), int64(sum.Began))
	latency := c.client.recent.sum()
	h.Count, h.Max, h.P50 = latency.count(), latency.longest, latency.percentile(50)
	if h.Count >= enoughForP99 {
		h.P99 = latency.percentile(99)
	}
	return h
}

// enoughForP99 is how many times a percentile of 99 needs to mean anything.
const enoughForP99 = 100

// ratio is a over b; 0 if b is 0.
func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// Summary is what is left of the run if it ends now. It changes nothing: the run
// may go on.
func (c *Collector) Summary() Summary {
	s := Summary{
		Duration: c.now.Duration(), Clients: c.config.Clients,
		Requests: c.client.requests, Attempts: c.client.attempts, Retries: c.client.retries,
		InFlight: c.client.inFlight, Outcomes: c.client.outcomes(), Statuses: c.statuses(),
		Amplification: ratio(c.client.attempts, c.client.requests),
		Missed:        c.client.missed,
		Denied:        c.client.denied,
		Joined:        c.tied.joined,
		Deadlocks:     c.tied.deadlocks,
		ClassChanges:  c.client.reclassed,
		Refreshes:     c.refreshes,
		Opened:        c.breakers.into[wire.Open],
		HalfOpened:    c.breakers.into[wire.HalfOpen],
		Closed:        c.breakers.into[wire.Closed],
		OpenShare:     c.breakers.openShare(c.now),
		Early:         c.server.returns[wire.ReturnedEarly],
		OnTime:        c.server.returns[wire.ReturnedOnTime],
		Late:          c.server.returns[wire.ReturnedLate],
		Untold:        c.server.returns[wire.ReturnedUntold],
		Arrivals:      c.server.arrivals, Rejected: c.server.rejected, Reset: c.server.reset,
		ServerCancelled: c.server.cancelled,
		BusyShare:       c.server.busyShare(c.now), WastedShare: c.server.wastedShare(),
		Duplicates: c.server.duplicates,
		Repeated:   c.server.repeats.requests,
		Replayed:   c.server.replayed,
		Repeats:    slices.Clone(c.server.repeats.listed),
	}
	if c.now > 0 {
		s.Goodput = float64(s.Outcomes[wire.Succeeded]) / c.now.Seconds()
	}
	s.Sockets = c.sockets.view(c.now)
	s.Pages, s.PagesFailed = c.journeys.pages.times.percentiles(), c.journeys.pages.failed
	for i := range s.Latency {
		s.Latency[i] = c.client.latency[i].percentiles()
		q := &c.queues.classes[i]
		waits, oldest := c.queues.waits(q, c.now)
		s.Waits[i], s.Oldest[i], s.Starved[i] = waits.percentiles(), oldest, q.begun
		s.KeptBack[i], s.WaitEWMA[i] = q.kept, q.ewma
	}
	s.Overtaken, s.ServiceGap = c.queues.overtaken, c.queues.gap
	c.queues.lines.gaps(c.now, &s.ServiceGap)
	c.sumUp(&s)
	return s
}

// sumUp adds the statistics of all whole bins, those that are still open
// included. It works on a copy, since events may yet come that belong in them.
func (c *Collector) sumUp(s *Summary) {
	all := c.whole
	for number := max(0, c.history.cur-settleBins); number < c.history.cur; number++ {
		all.add(number, *c.history.bin(number))
	}
	s.Herd = all.herd()
	s.Herd.Period, s.Herd.R, s.Herd.Floor = c.synchrony.strongest(c.now)
	s.Herd.HintedWaveShare, s.Herd.Hinted = c.waves.share()
	s.Recovery = all.recovery.view(c.now)
}

func (c *Collector) statuses() map[uint16]int64 {
	all := make(map[uint16]int64)
	for status, n := range c.client.statuses {
		if n > 0 {
			all[uint16(status)] = n
		}
	}
	return all
}
