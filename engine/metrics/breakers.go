package metrics

import (
	"slices"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// breakers is the state of the breakers of all clients.
type breakers struct {
	on     bool
	scopes int
	states []wire.BreakerState // by client and scope
	counts [wire.NumBreakerStates]int64
	into   [wire.NumBreakerStates]int64 // transitions
	open   integral                     // breakers open or eligible
	last   [LastChanges]wire.Event
	seen   int // transitions in last so far
}

func newBreakers(c Config) breakers {
	b := breakers{on: c.BreakersOn, scopes: max(1, c.Scopes)}
	b.states = make([]wire.BreakerState, c.Clients*b.scopes)
	b.counts[wire.Closed] = b.total()
	return b
}

func (b *breakers) total() int64 { return int64(len(b.states)) }

func (c *Collector) breakerChanged(e *wire.Event) {
	if !c.breakers.change(e) {
		return
	}
	if e.To == wire.Open {
		c.aside[c.number(e.At)%int64(len(c.aside))].opened++
	}
}

// change takes in a transition; false if there is no such breaker or state.
func (b *breakers) change(e *wire.Event) bool {
	i := int(e.ID.Client)*b.scopes + int(e.Scope)
	if int(e.Scope) >= b.scopes || i >= len(b.states) || int(e.To) >= wire.NumBreakerStates {
		return false
	}
	b.on = true
	b.counts[b.states[i]]--
	b.counts[e.To]++
	b.states[i] = e.To
	b.into[e.To]++
	b.open.set(e.At, b.counts[wire.Open]+b.counts[wire.Eligible]+b.counts[wire.ForcedOpen])
	b.last[b.seen%LastChanges] = *e
	b.seen++
	return true
}

// openShare is the share of all breaker time spent open or eligible.
func (b *breakers) openShare(now clock.Instant) float64 {
	return share(b.open.upTo(now), float64(b.total())*float64(now))
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

// worst finds the worst state of the breakers of each row's clients.
func (b *breakers) worst(rows []wire.BreakerState, clients int) {
	if b.counts[wire.Closed] == b.total() {
		return
	}
	for i, state := range b.states {
		row := &rows[rowOf(i/b.scopes, clients, len(rows))]
		if state != *row && slices.Index(badness[:], state) > slices.Index(badness[:], *row) {
			*row = state
		}
	}
}
