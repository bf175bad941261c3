package metrics

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/rng"
	"herdscope/engine/wire"
)

// traffic makes the events of a fleet and a server that are whole and in order,
// though nobody's policy: each step moves one request of one client on.
type traffic struct {
	seed    uint64
	step    time.Duration // mean time between steps
	now     clock.Instant
	draws   uint64
	clients []caller
	fault   bool
	observe func(wire.Event)
}

type caller struct {
	id      wire.AttemptID
	class   wire.Class
	place   callerPlace
	since   clock.Instant // of the present place
	began   clock.Instant
	breaker wire.BreakerState
	hungry  bool
}

type callerPlace uint8

const (
	idle callerPlace = iota
	queued
	inBacklog
	inService
	asleep
)

func newTraffic(seed uint64, clients int, step time.Duration, observe func(wire.Event)) *traffic {
	t := &traffic{seed: seed, step: step, observe: observe, clients: make([]caller, clients)}
	for i := range t.clients {
		t.clients[i].id.Client = wire.ClientID(i)
	}
	return t
}

// draw is a number below n.
func (t *traffic) draw(n uint64) uint64 {
	t.draws++
	return rng.At(t.seed, rng.Think, t.draws, 0, 0) % n
}

func (t *traffic) emit(c *caller, e wire.Event) {
	e.At, e.ID, e.Class = t.now, c.id, c.class
	e.Fault = wire.NoFault
	t.observe(e)
}

// run makes n steps.
func (t *traffic) run(n int) {
	for range n {
		t.now = t.now.Add(time.Duration(t.draw(2 * uint64(t.step))))
		c := &t.clients[t.draw(uint64(len(t.clients)))]
		t.move(c)
		if t.draw(20) == 0 {
			t.flip(c)
		}
		if t.draw(150) == 0 {
			t.toggleFault()
		}
	}
}

func (t *traffic) move(c *caller) {
	switch c.place {
	case idle:
		t.begin(c)
	case queued:
		t.emit(c, wire.Event{Kind: wire.RequestDequeued, Delay: t.now.Sub(c.since)})
		if t.draw(10) == 0 {
			t.done(c, wire.ExpiredInQueue)
			return
		}
		t.send(c)
	case inBacklog:
		t.emit(c, wire.Event{Kind: wire.ServerBegan, Delay: t.now.Sub(c.since)})
		c.place, c.since = inService, t.now
	case inService:
		t.answer(c)
	case asleep:
		if t.draw(8) == 0 {
			t.done(c, wire.TimedOut)
			return
		}
		t.queueOrSend(c)
	}
}

func (t *traffic) begin(c *caller) {
	c.id.Request++
	c.id.Try = 0
	c.class = wire.Class(t.draw(wire.NumClasses))
	c.began = t.now
	t.emit(c, wire.Event{Kind: wire.RequestBegan, Since: t.now.Add(-time.Duration(t.draw(1000)))})
	if t.draw(10) == 0 {
		t.done(c, wire.ShortCircuited)
		return
	}
	t.queueOrSend(c)
}

func (t *traffic) queueOrSend(c *caller) {
	if t.draw(2) == 0 {
		t.emit(c, wire.Event{Kind: wire.RequestQueued})
		c.place, c.since = queued, t.now
		return
	}
	t.send(c)
}

func (t *traffic) send(c *caller) {
	c.id.Try++
	t.emit(c, wire.Event{Kind: wire.AttemptSent})
	t.emit(c, wire.Event{Kind: wire.ServerArrived})
	if c.id.Try > 1 {
		t.emit(c, wire.Event{Kind: wire.ServerReturned, Delay: t.step * time.Duration(t.draw(3)-1)})
	}
	if t.draw(10) == 0 {
		t.emit(c, wire.Event{Kind: wire.ServerRejected, Status: 503})
		t.retry(c, 503)
		return
	}
	c.place, c.since = inBacklog, t.now
}

func (t *traffic) answer(c *caller) {
	worked := t.now.Sub(c.since)
	if t.draw(5) == 0 {
		t.emit(c, wire.Event{Kind: wire.ServerReset, Delay: worked, Wasted: c.place == inService})
		t.retry(c, 0)
		return
	}
	t.emit(c, wire.Event{Kind: wire.ServerDone, Delay: worked, Status: 200})
	t.emit(c, wire.Event{Kind: wire.AttemptEnded, Status: 200})
	t.done(c, wire.Succeeded)
}

func (t *traffic) retry(c *caller, status uint16) {
	t.emit(c, wire.Event{Kind: wire.AttemptEnded, Status: status})
	if c.id.Try >= 4 {
		t.done(c, wire.Failed)
		return
	}
	t.emit(c, wire.Event{Kind: wire.RetryScheduled})
	c.place, c.since = asleep, t.now
}

func (t *traffic) done(c *caller, o wire.Outcome) {
	t.emit(c, wire.Event{Kind: wire.RequestDone, Outcome: o, Delay: t.now.Sub(c.began)})
	c.place = idle
}

// flip changes the client's breaker and its hunger.
func (t *traffic) flip(c *caller) {
	to := wire.BreakerState(t.draw(wire.NumBreakerStates))
	if to != c.breaker {
		t.emit(c, wire.Event{Kind: wire.BreakerChanged, From: c.breaker, To: to})
		c.breaker = to
	}
	if c.hungry {
		t.emit(c, wire.Event{Kind: wire.StarvationEnded})
	} else {
		t.emit(c, wire.Event{Kind: wire.StarvationBegan})
	}
	c.hungry = !c.hungry
}

func (t *traffic) toggleFault() {
	kind := wire.FaultBegan
	if t.fault {
		kind = wire.FaultEnded
	}
	t.fault = !t.fault
	t.observe(wire.Event{Kind: kind, At: t.now, Until: clock.Never})
}
