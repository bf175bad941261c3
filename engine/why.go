package engine

import (
	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// Why is what the request of class c that has waited longest in a scope waits
// for, as of the last Step. Where several reasons hold it is the first of breaker,
// a pause of the scope, no slot at all, the most of its class, slots kept for other
// classes, window protection. It changes nothing.
//
// Nested requests that have a lane of their own are not looked at.
//
// A retry budget is none of them: what it refuses ends, and does not wait.
func (m *Machine) Why(scope uint8, c wire.Class) wire.Wait {
	sc := &m.scopes[scope]
	if _, _, waits := sc.queue.Head(c); !waits {
		return wire.WaitNone
	}
	most, taken, total := m.policy.Queue.Class[c].Most, sc.taken(), 0
	for _, n := range taken {
		total += int(n)
	}
	switch {
	case m.heldBack(scope):
		return wire.WaitBreaker
	case m.limit(sc) == Paused:
		return wire.WaitPaused
	case total >= m.slots(sc):
		return wire.WaitSlot
	case most > 0 && int(taken[c]) >= most:
		return wire.WaitMost
	case !m.shares(sc)[c]:
		return wire.WaitKept
	case c == wire.Background && m.protects(sc):
		return wire.WaitProtected
	}
	return wire.WaitTurn
}

// BreakerDetail is what is to be seen of a scope's breaker in use at now. It changes
// nothing.
func (m *Machine) BreakerDetail(now clock.Instant, scope uint8) wire.BreakerDetail {
	return m.breaker(scope).Detail(now, &m.policy.Breaker)
}
