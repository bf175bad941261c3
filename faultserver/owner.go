package faultserver

import (
	"cmp"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

// owner is the one goroutine that steps the model.
type owner struct {
	model   *fault.Server
	clock   Clock
	observe func(wire.Event)
	// nameOf is what a foreign client is known by.
	nameOf func(wire.ClientID) string

	// calls brings arrivals and leavers in one order, since nobody can leave
	// before having arrived.
	calls    chan call
	asked    chan func(*owner)
	stopping chan struct{}
	stopped  chan struct{}

	// broken is why the owner stopped by itself: the model or an observer
	// panicked. It is set before stopped is closed.
	broken error

	// visits is the attempts that wait for an answer.
	visits  map[wire.AttemptID]*visit
	effects []wire.ServerEffect
	tally   tally
	// start is the settings at the start; onEdit hears of those that the admin
	// API changes.
	start fault.Config
	// idleLimits is the faults that close idle connections; idled is told when
	// they have changed. refuse closes the listener, or opens it.
	idleLimits atomic.Pointer[[]idleLimit]
	idled      func()
	refuse     func(bool)
	onEdit     func(Edit)

	// timer is set for the moment armed, clock.Never if it is not set. changed
	// says that the clock stops or starts, which makes armed out of date.
	timer   *time.Timer
	armed   clock.Instant
	changed <-chan struct{}
}

// visit is an attempt that waits for its answer. The channel has room for the
// one answer there is, so that the owner never waits for a handler.
type visit struct {
	answer chan answered
}

// answered is a reply, and the fault that has made it; empty if none has.
type answered struct {
	wire.Reply
	fault string
	// text is what the fault says in place of the status's own text.
	text string
	// date is the Unix time by the model's own clock.
	date int64
}

// call is the arrival of an attempt, or its client's leaving.
type call struct {
	at      clock.Instant
	attempt wire.Attempt
	visit   *visit
	leaves  bool
	// request is what the arrival says; its header is not changed any more.
	request *http.Request
	// idled says that a connection which the attempt's client used last has been
	// closed for fault, and refused that the attempt found no listener.
	idled, refused bool
	fault          uint8
}

// repeated is the answer to an attempt whose ID is that of one in flight: it
// cannot be told apart, and so the model does not see it.
var repeated = wire.Reply{Kind: wire.ReplyResponse, Status: http.StatusConflict}

// waiting is how many calls may wait for the owner before handlers do.
const waiting = 1024

func newOwner(c Config) *owner {
	observe := c.Observer
	if observe == nil {
		observe = func(wire.Event) {}
	}
	o := &owner{
		model:    c.Model,
		clock:    c.Clock,
		observe:  observe,
		calls:    make(chan call, waiting),
		asked:    make(chan func(*owner)),
		stopping: make(chan struct{}),
		stopped:  make(chan struct{}),
		visits:   make(map[wire.AttemptID]*visit),
		start:    c.Model.Config(),
		onEdit:   c.OnEdit,
		timer:    time.NewTimer(time.Hour),
		armed:    clock.Never,
	}
	o.timer.Stop()
	return o
}

// run steps the model until stop. Of all that waits to be taken in, what hands
// do comes first.
func (o *owner) run() {
	defer close(o.stopped)
	defer o.timer.Stop()
	defer func() {
		if p := recover(); p != nil {
			o.broken = fmt.Errorf("server model panicked: %v\n%s", p, debug.Stack())
		}
	}()
	for {
		o.arm()
		select {
		case <-o.stopping:
			return
		case do := <-o.asked:
			do(o)
		case c := <-o.calls:
			o.take(c)
		case <-o.timer.C:
			o.armed = clock.Never
			o.step(o.clock.Now(), wire.ServerInput{})
		case <-o.changed:
			o.armed, o.changed = clock.Never, nil
		}
		o.drain()
	}
}

// drain takes in all that is waiting, before the timer is looked at again.
func (o *owner) drain() {
	for {
		select {
		case do := <-o.asked:
			do(o)
			continue
		default:
		}
		select {
		case c := <-o.calls:
			o.take(c)
		default:
			return
		}
	}
}

// arm sets the timer for the model's deadline, if that is another than it is
// set for.
func (o *owner) arm() {
	at, _ := o.model.Deadline()
	if at == o.armed {
		return
	}
	o.armed, o.changed = at, nil
	o.timer.Stop()
	if at == clock.Never {
		return
	}
	wait, running, changed := o.clock.Wait(at)
	o.changed = changed
	if running || wait <= 0 {
		o.timer.Reset(wait)
	}
}

func (o *owner) take(c call) {
	switch {
	case c.idled:
		o.step(c.at, wire.ServerInput{Kind: wire.ServerIdled, Attempt: c.attempt, Fault: c.fault})
		return
	case c.refused:
		o.step(c.at, wire.ServerInput{Kind: wire.ServerTurnedAway, Attempt: c.attempt})
		return
	}
	current := o.visits[c.attempt.ID]
	in := wire.ServerInput{Kind: wire.ServerArrive, Attempt: c.attempt}
	switch {
	case c.leaves && current != c.visit:
		return // it has been answered meanwhile
	case c.leaves:
		delete(o.visits, c.attempt.ID)
		in.Kind = wire.ServerLeave
		o.tally.left++
	case current != nil:
		c.visit.answer <- answered{Reply: repeated, date: o.date()}
		return
	default:
		o.visits[c.attempt.ID] = c.visit
		in.Attempt.Meets, in.Attempt.Read = o.meets(c.request), true
	}
	o.step(c.at, in)
}

// step feeds the model and does what it asks for. Arrivals are stamped by many
// handlers, so that one may come after a later one: the model then takes the
// later time for both.
func (o *owner) step(now clock.Instant, in wire.ServerInput) {
	o.carryOut(o.model.Step(now, in, o.effects[:0]))
}

// carryOut does what the model asks for.
func (o *owner) carryOut(effects []wire.ServerEffect) {
	o.effects = effects
	for i := range effects {
		switch e := &effects[i]; e.Kind {
		case wire.ServerReply:
			v := o.visits[e.ID]
			delete(o.visits, e.ID)
			o.tally.replied(e.Reply)
			v.answer <- answered{e.Reply, o.culprit(effects[i:]), o.textOf(e.Reply), o.date()}
		case wire.ServerEvent:
			o.tally.observe(&e.Event)
			o.observe(e.Event)
			if k := e.Event.Kind; k == wire.FaultBegan || k == wire.FaultEnded {
				o.reviewIdle()
			}
		case wire.ServerRefuse:
			o.refuse(true)
		case wire.ServerListen:
			o.refuse(false)
		}
	}
}

func (o *owner) date() int64 { return o.model.Date(o.model.Now()) }

// culprit is the name of the fault behind the reply that is the first of the
// effects: the event that reports it comes right after it.
func (o *owner) culprit(effects []wire.ServerEffect) string {
	if len(effects) < 2 || effects[1].Kind != wire.ServerEvent || effects[1].Event.ID != effects[0].ID {
		return ""
	}
	if i := int(effects[1].Event.Fault); o.model.HasFault(i) {
		return o.model.Faults()[i].Name
	}
	return ""
}

// call hands over a call; once the owner stops, nobody takes it.
func (o *owner) call(c call) {
	select {
	case o.calls <- c:
	case <-o.stopping:
	case <-o.stopped:
	}
}

// ask has the owner do something and waits until it is done; ErrClosed if the
// owner has stopped.
func (o *owner) ask(do func(*owner)) error {
	done := make(chan struct{})
	select {
	case o.asked <- func(o *owner) { do(o); close(done) }:
	case <-o.stopping:
		return ErrClosed
	case <-o.stopped:
		return cmp.Or(o.broken, ErrClosed)
	}
	select {
	case <-done:
		return nil
	case <-o.stopped:
		return cmp.Or(o.broken, ErrClosed)
	}
}

// failure is why the owner stopped by itself; nil if it did not.
func (o *owner) failure() error {
	select {
	case <-o.stopped:
		return o.broken
	default:
		return nil
	}
}

func (o *owner) stop() {
	close(o.stopping)
	<-o.stopped
}
