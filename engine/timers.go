package engine

import (
	"herdscope/engine/breaker"
	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// The keys of the timers: breakers first, then the starvation watches, then
// the holds of window protection, then the requests.

func (m *Machine) breakerKey(s uint8) int32 { return int32(s) }

func (m *Machine) starvationKey(s uint8, c wire.Class) int32 {
	return int32(len(m.scopes)) + int32(s)*wire.NumClasses + int32(c)
}

func (m *Machine) protectionKey(s uint8) int32 {
	return int32(len(m.scopes))*(1+wire.NumClasses) + int32(s)
}

func (m *Machine) requestKey(h int32) int32 { return int32(len(m.scopes))*(2+wire.NumClasses) + h }

// setTimer gives a request its one timer.
func (m *Machine) setTimer(h int32, at clock.Instant) {
	if at == clock.Never {
		m.timers.Clear(m.requestKey(h))
		return
	}
	m.timers.Set(m.requestKey(h), at)
}

// fire acts on every timer that is due.
func (m *Machine) fire() {
	scopes := int32(len(m.scopes))
	for {
		key, at, ok := m.timers.Min()
		if !ok || at > m.now {
			return
		}
		m.timers.Clear(key)
		switch {
		case key < scopes:
			m.tickBreaker(uint8(key))
			m.touch(uint8(key)) // a lease that is over is no transition
		case key < scopes*(1+wire.NumClasses):
			m.touch(uint8((key - scopes) / wire.NumClasses))
		case key < scopes*(2+wire.NumClasses):
			m.touch(uint8(key - scopes*(1+wire.NumClasses)))
		default:
			m.due(key - scopes*(2+wire.NumClasses))
		}
	}
}

// due acts on a request whose timer has come.
func (m *Machine) due(h int32) {
	r := &m.requests[h]
	switch r.place {
	case asleep:
		m.counts.Sleeping--
		m.join(h)
	case inQueue:
		m.await(h)
	case renewing, nested:
		r.cause = wire.CauseDeadline
		m.finish(h, m.late(r))
	case aboard:
		m.miss(h)
	case inSocket, onWire:
		switch {
		case r.deadline <= m.now:
			m.abort(h, wire.CauseDeadline, breaker.Neutral)
			m.finish(h, m.late(r))
		case m.timeoutAt(r) <= m.now:
			m.abort(h, wire.CauseTimeout, breaker.Failure)
			m.retryOrGiveUp(h, Input{})
		default:
			m.overdue(h)
		}
	}
}

// late is the outcome of a request whose deadline has passed.
func (m *Machine) late(r *request) wire.Outcome {
	if !r.sent {
		return wire.ExpiredInQueue
	}
	return wire.TimedOut
}

// watchStarvation looks at the head of each class's queue: it starves if it has
// waited longer than its class may and a later request was started meanwhile.
func (m *Machine) watchStarvation(s uint8) {
	sc := &m.scopes[s]
	for c := range wire.Class(wire.NumClasses) {
		limit := m.policy.Queue.Class[c].StarvedAfter
		h, came, waits := sc.queue.Head(c)
		key := m.starvationKey(s, c)
		if !waits || limit <= 0 {
			m.timers.Clear(key)
			m.setStarving(s, c, 0, false)
			continue
		}
		r := &m.requests[h]
		long := m.now.Sub(r.since) >= limit
		m.setStarving(s, c, h, long && sc.newest > came)
		if long {
			m.timers.Clear(key)
		} else {
			m.timers.Set(key, r.since.Add(limit))
		}
	}
}

// setStarving records, and reports, whether a class starves.
func (m *Machine) setStarving(s uint8, c wire.Class, h int32, starving bool) {
	sc := &m.scopes[s]
	if sc.starving[c] == starving {
		return
	}
	sc.starving[c] = starving
	e := wire.Event{At: m.now, Class: c, Scope: s, ID: wire.AttemptID{Client: m.id}}
	if starving {
		e.Kind, e.Delay = wire.StarvationBegan, m.now.Sub(m.requests[h].since)
		sc.starved[c] = m.now
	} else {
		e.Kind, e.Delay = wire.StarvationEnded, m.now.Sub(sc.starved[c])
	}
	m.report(e)
}
