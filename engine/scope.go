package engine

import (
	"math"
	"strconv"

	"herdscope/engine/knob"
	"herdscope/engine/limiter"
	"herdscope/engine/wire"
)

// What a limit can be beside a number of slots from 1 on.
const (
	// Paused gives nobody a slot. What is in flight goes on to its end, and
	// deadlines run. Knobs write it as 0.
	Paused = -1
	// Unlimited gives everybody a slot.
	Unlimited = -2
)

// ScopeQueue is what one scope has of its own, such as a limit of 1 for long
// jobs beside a scope that has 6 slots.
type ScopeQueue struct {
	// Limit is how many attempts the scope may have in flight: a number, Paused
	// or Unlimited; 0 leaves it to Queue.Limit and the limiter. Those two, a
	// pause included, do not bear on a scope with a limit of its own, and it
	// keeps none of its slots for a class, whatever ClassQueue.Least says.
	Limit int
	// Capacity is how many requests may wait in the scope, or Unlimited; 0 leaves
	// it to Queue.Capacity.
	Capacity int
}

// limit is how many attempts a scope may have in flight now: a number, Paused or
// Unlimited.
func (m *Machine) limit(sc *scope) int {
	q := &m.policy.Queue
	switch own := q.Scope[sc.number].Limit; {
	case own != 0:
		return own
	case q.Limit == Paused:
		return Paused
	case m.moves(sc):
		return sc.limiter.Limit(&m.policy.Limiter)
	case q.Limit == 0:
		return Unlimited
	}
	return q.Limit
}

// Limit is how many attempts a scope may have in flight now: a number, Paused or
// Unlimited.
func (m *Machine) Limit(scope uint8) int { return m.limit(&m.scopes[scope]) }

// moves says whether a limiter sets the limit of a scope, unless it is paused.
func (m *Machine) moves(sc *scope) bool {
	return m.policy.Limiter.Kind != limiter.Fixed && !m.hasOwn(sc)
}

func (m *Machine) hasOwn(sc *scope) bool { return m.policy.Queue.Scope[sc.number].Limit != 0 }

// slots is how many attempts a scope may have in flight now, as a number.
func (m *Machine) slots(sc *scope) int {
	switch limit := m.limit(sc); limit {
	case Paused:
		return 0
	case Unlimited:
		return math.MaxInt
	default:
		return limit
	}
}

// room is how many requests may wait in a scope.
func (m *Machine) room(sc *scope) int {
	room := m.policy.Queue.Scope[sc.number].Capacity
	if room == 0 {
		room = m.policy.Queue.Capacity
	}
	if room <= 0 { // Unlimited, or unset
		return math.MaxInt
	}
	return room
}

// watchPause reports that a scope has been paused, or is so no more.
func (m *Machine) watchPause(s uint8) {
	sc := &m.scopes[s]
	paused := m.limit(sc) == Paused
	if sc.paused == paused {
		return
	}
	sc.paused = paused
	e := wire.Event{At: m.now, Scope: s, ID: wire.AttemptID{Client: m.id}}
	if paused {
		e.Kind, e.Limit = wire.ScopePaused, int32(m.Running(s))
		sc.pausedAt = m.now
	} else {
		e.Kind, e.Delay = wire.ScopeResumed, m.now.Sub(sc.pausedAt)
	}
	m.report(e)
}

// pause is the word for Paused: the 0 that people write.
var pause = knob.Word{Name: "0", Value: Paused, Means: "to pause"}

// limitField shows both ways of saying that there is no limit as one.
func limitField() knob.Field[Policy] {
	return knob.Field[Policy]{
		Spec: knob.Spec{
			Name: "queue.limit", Kind: knob.Int, Unit: "slots",
			Min: 1, Max: maxSlots, Step: 1, Zero: "unlimited", Words: []knob.Word{pause},
			Doc: "how many attempts a client may have in flight in one scope; " +
				"0 pauses: what is in flight ends, nothing starts",
		},
		Get: func(p *Policy) int64 {
			if p.Queue.Limit == Unlimited {
				return 0
			}
			return int64(p.Queue.Limit)
		},
		Set: func(p *Policy, v int64) { p.Queue.Limit = int(v) },
	}
}

// ScopePrefix begins the names of the knobs of single scopes, which have the
// number of the scope where people write its name: scopes.1.limit.
const ScopePrefix = "scopes."

func scopeFields(scope int) []knob.Field[Policy] {
	prefix := ScopePrefix + strconv.Itoa(scope) + "."
	unlimited := knob.Word{Name: "unlimited", Value: Unlimited}
	return []knob.Field[Policy]{
		knob.At(knob.Spec{
			Name: prefix + "limit", Kind: knob.Int, Unit: "slots",
			Min: 1, Max: maxSlots, Step: 1, Zero: "default", Words: []knob.Word{pause, unlimited},
			Doc: "how many attempts a client may have in flight in this scope; " +
				"default is as queue.limit or the limiter says",
		}, func(p *Policy) *int { return &p.Queue.Scope[scope].Limit }),
		knob.At(knob.Spec{
			Name: prefix + "capacity", Kind: knob.Int, Unit: "requests",
			Min: 1, Max: maxSlots, Zero: "default", Words: []knob.Word{unlimited},
			Doc: "how many requests of a client may wait in this scope; default is queue.capacity",
		}, func(p *Policy) *int { return &p.Queue.Scope[scope].Capacity }),
	}
}
