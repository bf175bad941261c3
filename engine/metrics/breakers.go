package metrics

import (
	"slices"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// breakers is the state of the breakers of all clients, and of those that they
// share. Only the ones in use are shown.
type breakers struct {
	on     bool
	shared bool // the shared ones are in use
	scopes int
	own    pool                         // by client and scope
	common pool                         // by scope
	into   [wire.NumBreakerStates]int64 // transitions
	open   integral                     // breakers in use that are open or eligible
	all    integral                     // breakers in use
	last   [LastChanges]wire.Event
	seen   int // transitions in last so far
}

func newBreakers(c Config) breakers {
	b := breakers{on: c.BreakersOn, shared: c.BreakersShared, scopes: max(1, c.Scopes)}
	b.own, b.common = newPool(c.Clients*b.scopes), newPool(b.scopes)
	b.all.level = b.total()
	return b
}

// pool is breakers by number, and how many of them are in each state.
type pool struct {
	states []wire.BreakerState
	counts [wire.NumBreakerStates]int64
}

func newPool(n int) pool {
	p := pool{states: make([]wire.BreakerState, n)}
	p.counts[wire.Closed] = int64(n)
	return p
}

func (p *pool) change(i int, to wire.BreakerState) {
	p.counts[p.states[i]]--
	p.counts[to]++
	p.states[i] = to
}

// shut is how many of them let nothing through.
func (p *pool) shut() int64 {
	return p.counts[wire.Open] + p.counts[wire.Eligible] + p.counts[wire.ForcedOpen]
}

// used is the breakers in use.
func (b *breakers) used() *pool {
	if b.shared {
		return &b.common
	}
	return &b.own
}

func (b *breakers) total() int64 { return int64(len(b.used().states)) }

// share says from when on the shared breakers are in use, or those of each client.
func (b *breakers) share(at clock.Instant, shared bool) {
	if b.shared == shared {
		return
	}
	b.shared = shared
	b.open.set(at, b.used().shut())
	b.all.set(at, b.total())
}

func (c *Collector) breakerChanged(e *wire.Event) {
	if !c.breakers.change(e) {
		return
	}
	c.lanes.change(e)
	switch e.To {
	case wire.HalfOpen:
		c.bin(e.At).HalfOpened++
	case wire.Open:
		c.aside[c.number(e.At)%int64(len(c.aside))].opened++
	}
}

// change takes in a transition; false if there is no such breaker or state.
func (b *breakers) change(e *wire.Event) bool {
	p, i := &b.own, int(e.ID.Client)*b.scopes+int(e.Scope)
	if e.Shared {
		p, i = &b.common, int(e.Scope)
	}
	if int(e.Scope) >= b.scopes || i >= len(p.states) || int(e.To) >= wire.NumBreakerStates {
		return false
	}
	b.on = true
	p.change(i, e.To)
	b.into[e.To]++
	b.open.set(e.At, b.used().shut())
	b.last[b.seen%LastChanges] = *e
	b.seen++
	return true
}

// openShare is the share of all breaker time spent open or eligible.
func (b *breakers) openShare(now clock.Instant) float64 {
	return share(b.open.upTo(now), b.all.upTo(now))
}

// latest is the last transitions, oldest first.
func (b *breakers) latest() []wire.Event {
	n := min(b.seen, LastChanges)
	out := make([]wire.Event, n)
	for i := range out {
		out[i] = b.last[(b.seen-n+i)%LastChanges]
	}
	return out
}

// integral is the sum of a level over time.
type integral struct {
	level int64
	since clock.Instant
	sum   float64 // level times nanoseconds, up to since
}

// set changes the level at a moment; one that has passed counts as the latest.
func (g *integral) set(at clock.Instant, level int64) {
	if at > g.since {
		g.sum = g.upTo(at)
		g.since = at
	}
	g.level = level
}

// upTo is the sum up to now.
func (g *integral) upTo(now clock.Instant) float64 {
	return g.sum + float64(g.level)*float64(max(0, now-g.since))
}

// share is part of all, between 0 and 1; 0 if there is nothing.
func share(part, all float64) float64 {
	if all <= 0 {
		return 0
	}
	return min(max(part/all, 0), 1)
}

// badness is the order of the breaker states, worst last.
var badness = [...]wire.BreakerState{
	wire.Closed, wire.MetricsOnly, wire.Disabled, wire.HalfOpen, wire.Eligible, wire.Open,
	wire.ForcedOpen,
}

// worst finds the worst state of the breakers of each row's clients: the same for
// all of them if they share theirs.
func (b *breakers) worst(rows []wire.BreakerState, clients int) {
	used := b.used()
	if used.counts[wire.Closed] == b.total() {
		return
	}
	if b.shared {
		for i := range rows {
			for _, state := range used.states {
				rows[i] = worse(rows[i], state)
			}
		}
		return
	}
	for i, state := range used.states {
		row := &rows[rowOf(i/b.scopes, clients, len(rows))]
		*row = worse(*row, state)
	}
}

// worse is the worse of two states.
func worse(a, b wire.BreakerState) wire.BreakerState {
	if a != b && slices.Index(badness[:], b) > slices.Index(badness[:], a) {
		return b
	}
	return a
}
