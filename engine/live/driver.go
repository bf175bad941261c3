package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/retryafter"
	"herdscope/engine/wire"
)

// The limits of a run's beginning and end, in wall time.
const (
	// readyLimit is how long the server may take to have the requests of the
	// start before the clock is started without it.
	readyLimit = 5 * time.Second
	// readyPoll is how often Config.Ready is asked.
	readyPoll = 2 * time.Millisecond
	// endLimit is how long the attempts that a run's end cuts off may take to
	// return. They return at once; the limit turns a bug into an error instead
	// of a hang.
	endLimit = 30 * time.Second
)

// ErrEnded is the error of Do when the run is over.
var ErrEnded = errors.New("the live run has ended")

// Fleet is what the driver needs of a fleet.
type Fleet interface {
	Step(now clock.Instant, in fleet.Input, out []engine.Effect) []engine.Effect
	Deadline() (clock.Instant, bool)
}

// Config is what a live run is made of.
type Config struct {
	// Fleet is owned by the goroutine in Run from then on.
	Fleet Fleet
	// Clock is the run clock. One that is still paused at 0 is started by Run.
	Clock *Clock
	// BaseURL is the server, as http://host:port.
	BaseURL string
	// Routes are the paths that an Attempt's Route is an index into.
	Routes []string
	// Clients is the size of the fleet, at least 1. It sizes the pool of idle
	// connections, and limits nothing.
	Clients int
	// Headers are request fields that the attempts of each class carry, as in
	// "X-Tenant: gold"; empty is none.
	Headers [wire.NumClasses]string
	// OwnConnections gives each client connections that no other client uses, as
	// faults that are about connections need. Otherwise they share one pool, which
	// takes fewer files.
	OwnConnections bool
	// Observe sees every event, in order, from the goroutine in Run. It must
	// not keep the run waiting. It may be nil.
	Observe func(wire.Event)
	// Ready says whether the server has all the requests that are held when the
	// run begins, sent in number. Run asks every few milliseconds before it
	// starts the clock, and for 5 s at most; nil is ready at once.
	Ready func(sent int) bool
}

// Driver is a live run. Its methods other than Run may be called from any
// goroutine, and do not wait.
type Driver struct {
	config   Config
	sender   *sender
	inbox    *inbox
	ran      atomic.Bool
	inFlight atomic.Int64
	env      environment

	// What follows belongs to the goroutine in Run.
	stepped clock.Instant // the latest instant at which the fleet was stepped
	effects []engine.Effect
	room    []message
	sent    map[wire.AttemptID]*attempt
	kept    []wire.Attempt // to be sent when the clock runs again
	ctx     context.Context
	workers sync.WaitGroup
	alarm   alarm
	warmup  warmup
}

// attempt is an attempt on the wire.
type attempt struct {
	wire.Attempt
	cancel context.CancelFunc
	sentAt clock.Instant
}

// New makes a live run. The error says what is wrong with the configuration.
func New(c Config) (*Driver, error) {
	switch {
	case c.Fleet == nil:
		return nil, errors.New("live: no fleet")
	case c.Clock == nil:
		return nil, errors.New("live: no clock")
	case c.Clients < 1:
		return nil, fmt.Errorf("live: %d clients: want at least 1", c.Clients)
	}
	s, err := newSender(c.BaseURL, c.Routes, c.Clients, c.Clock)
	if err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	s.headers = c.Headers
	if c.OwnConnections {
		s.keepApart()
	}
	if c.Observe == nil {
		c.Observe = func(wire.Event) {}
	}
	return &Driver{
		config: c,
		sender: s,
		inbox:  newInbox(c.Clock),
		sent:   make(map[wire.AttemptID]*attempt, c.Clients),
	}, nil
}

// Do feeds the fleet an input of a hand, at the instant of the call. It is safe
// before Run, which then begins with it. After the run it returns ErrEnded.
func (d *Driver) Do(in fleet.Input) error {
	if !d.inbox.post(message{in: in}) {
		return ErrEnded
	}
	return nil
}

// Look calls look in the goroutine that owns the fleet, between two steps, with
// the instant of the call. It must change nothing, nor keep the run waiting. It
// is safe before Run; after the run it returns ErrEnded.
func (d *Driver) Look(look func(now clock.Instant)) error {
	if !d.inbox.post(message{look: look}) {
		return ErrEnded
	}
	return nil
}

// InFlight is the number of attempts whose requests have not returned yet,
// aborted ones included.
func (d *Driver) InFlight() int { return int(d.inFlight.Load()) }

// Lag is how far this machine is behind what the run asks of it.
func (d *Driver) Lag() Lag { return d.env.lagAt(d.config.Clock.Now()) }

// Notice is what the environment does to the numbers of the run, in one line;
// empty if nothing.
func (d *Driver) Notice() string { return d.env.notice(d.config.Clock.Now()) }

// Run drives the fleet until ctx is done, and can be called once. It begins
// with a Tick at the clock's instant, sends the warm attempts of that, and then
// starts the clock. At the end it cuts off what is in flight, feeding nothing
// of it to the fleet, and returns when its goroutines have returned and its
// connections are closed. The end by ctx is no error.
func (d *Driver) Run(ctx context.Context) error {
	if d.ran.Swap(true) {
		return errors.New("live: run called twice")
	}
	ctx, cut := context.WithCancel(ctx)
	d.ctx = ctx
	d.alarm = newAlarm()
	d.step(d.config.Clock.Now(), fleet.Input{Kind: fleet.Tick})
	d.warmup = newWarmup(d.config.Clock, d.ready(len(d.sent)))
	for ctx.Err() == nil {
		d.turn()
	}
	cut()
	return d.end()
}

// ready asks Config.Ready about the attempts that the first Tick sent.
func (d *Driver) ready(sent int) func() bool {
	return func() bool { return d.config.Ready == nil || d.config.Ready(sent) }
}

// turn does all that is due, and then waits for more. It looks at the clock's
// going first, so that a change after any of its steps ends the wait.
func (d *Driver) turn() {
	_, _, changed := d.config.Clock.Wait(0)
	d.warmup.check(&d.env)
	d.release()
	d.feed()
	d.tick()
	if d.alarm.arm(d.config.Clock, d.config.Fleet) {
		return
	}
	select {
	case <-d.inbox.wake:
	case <-d.alarm.timer.C:
		d.alarm.rung()
	case <-changed:
	case <-d.warmup.poll:
	case <-d.ctx.Done():
	}
}

// feed steps the fleet with everything in the inbox.
func (d *Driver) feed() {
	d.room = d.inbox.take(d.room)
	for i := range d.room {
		d.deliver(&d.room[i])
	}
	clear(d.room)
}

func (d *Driver) deliver(m *message) {
	if m.look != nil {
		m.look(m.at)
		return
	}
	a := m.attempt
	if a == nil {
		d.step(m.at, m.in)
		return
	}
	delete(d.sent, a.ID)
	d.inFlight.Add(-1)
	d.env.note(m.at, Lag{Send: m.result.connectedAt.Sub(a.sentAt)}, m.result.limit)
	if m.result.aborted {
		return
	}
	reply, epoch := m.result.reply, d.config.Clock.EpochUnixNanos()
	d.step(m.at, fleet.Input{
		Kind:      fleet.Answered,
		ID:        a.ID,
		Reply:     reply,
		NotBefore: retryafter.Resolve(reply.Hint, m.at, epoch),
		Lead:      lead(m.result.date, m.at, epoch),
	})
}

// tick passes time if the fleet's deadline has come.
func (d *Driver) tick() {
	due, ok := d.config.Fleet.Deadline()
	wait, running, _ := d.config.Clock.Wait(due)
	if !ok || !running || wait > 0 {
		return
	}
	now := d.config.Clock.Now()
	d.env.note(now, Lag{Step: now.Sub(max(due, d.stepped))}, nil)
	d.step(now, fleet.Input{Kind: fleet.Tick})
}

// step feeds the fleet one input. A reply's stamp may lie before a Tick that
// was given while it waited in the inbox; time does not go back for it.
func (d *Driver) step(at clock.Instant, in fleet.Input) {
	d.stepped = max(d.stepped, at)
	d.effects = d.config.Fleet.Step(d.stepped, in, d.effects[:0])
	for i := range d.effects {
		d.apply(&d.effects[i])
	}
}

func (d *Driver) apply(e *engine.Effect) {
	switch e.Kind {
	case engine.Send:
		d.send(e.Attempt)
	case engine.Abort:
		d.abort(e.Attempt.ID)
	case engine.Report:
		d.config.Observe(e.Event)
	}
}

// send starts an attempt, or keeps it until the clock runs. A warm one was
// under way before the run began and does not wait for that.
func (d *Driver) send(w wire.Attempt) {
	if d.config.Clock.Paused() && !w.Warm {
		d.kept = append(d.kept, w)
		return
	}
	d.start(w)
}

func (d *Driver) start(w wire.Attempt) {
	ctx, cancel := context.WithCancel(d.ctx)
	a := &attempt{Attempt: w, cancel: cancel, sentAt: d.config.Clock.Now()}
	d.sent[w.ID] = a
	d.inFlight.Add(1)
	d.workers.Add(1)
	go func() {
		defer d.workers.Done()
		defer cancel()
		d.inbox.post(message{attempt: a, result: d.sender.do(ctx, w)})
	}()
}

func (d *Driver) abort(id wire.AttemptID) {
	if a := d.sent[id]; a != nil {
		a.cancel()
		return
	}
	for i := range d.kept {
		if d.kept[i].ID == id {
			d.kept = append(d.kept[:i], d.kept[i+1:]...)
			return
		}
	}
}

// release sends what a pause kept.
func (d *Driver) release() {
	if len(d.kept) == 0 || d.config.Clock.Paused() {
		return
	}
	for _, w := range d.kept {
		d.start(w)
	}
	d.kept = d.kept[:0]
}

// end waits for the attempts that were cut off, and leaves nothing behind.
func (d *Driver) end() error {
	d.inbox.close()
	d.alarm.timer.Stop()
	d.warmup.stop()
	gone := make(chan struct{})
	go func() {
		d.workers.Wait()
		close(gone)
	}()
	limit := time.NewTimer(endLimit)
	defer limit.Stop()
	defer d.sender.close()
	select {
	case <-gone:
		d.inFlight.Store(0)
		return nil
	case <-limit.C:
		return fmt.Errorf("live: end of run: attempts still in flight after %v", endLimit)
	}
}
