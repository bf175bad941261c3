package engine

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// setClass gives a request another class, wherever it is, without loss of age.
//
// One that waits goes to the line of the new class, to the place that it would
// have had there; with a slot, that counts as one of the new class, which may
// then hold more than its most until others have ended. Its deadline is that of
// the new class, counted from its submission as ever, so that it can pass by
// the change. A request that has ended, or never began, is no error.
//
// A nested request stays at least as important as its parent: it follows where
// that is raised, and is not lowered below it. A flight has the most important
// class of its members, so the class of one member may change with no other.
func (m *Machine) setClass(id wire.RequestID, class wire.Class) {
	h, ok := m.find(id)
	if !ok || class >= wire.NumClasses {
		return
	}
	m.reclass(h, class, wire.CauseNone)
	if r := &m.requests[h]; r.place == aboard {
		m.rank(r.of-1, wire.CauseNone)
	}
}

// reclass gives a request, or a flight, another class. It may end it, and what is
// nested in it. The flight of a member is left to rank.
func (m *Machine) reclass(h int32, class wire.Class, cause wire.Cause) {
	r := &m.requests[h]
	if r.parent > 0 {
		class = min(class, m.requests[r.parent-1].Class)
	}
	was := r.Class
	if was == class {
		return
	}
	m.touch(r.Scope)
	m.weigh(h, -1)
	r.Class = class
	m.weigh(h, 1)
	if !r.carrier { // its deadline is that of its members
		r.deadline = m.deadlineOf(r)
	}
	e := m.event(wire.ClassChanged, r)
	e.Was, e.Cause, e.Shared = was, cause, r.carrier
	if r.place == aboard {
		e.Leader = m.requests[r.of-1].Request
	}
	m.report(e)
	m.reclassed(h)
	m.raise(h, class)
}

// weigh adds a request n times to all that is counted by class.
func (m *Machine) weigh(h, n int32) {
	r := &m.requests[h]
	switch r.place {
	case inQueue:
		m.patient(h, n > 0)
	case inSocket, onWire:
		m.occupy(r, n)
	case nested:
		m.keep(r, n)
	}
	switch {
	case r.carrier: // its members are counted
	case n > 0:
		m.guard(r)
	default:
		m.unguard(r)
	}
}

// reclassed sees to the place and the timer of a request that has another class.
func (m *Machine) reclassed(h int32) {
	r := &m.requests[h]
	switch r.place {
	case inQueue:
		m.line(r).Reclass(m.now, h, r.Class, r.deadline)
		r.ranked = m.now
		m.await(h)
	case inSocket, onWire:
		m.setTimer(h, min(r.deadline, m.timeoutAt(r), m.overdueAt(r)))
	case asleep:
		if at, _ := m.timers.At(m.requestKey(h)); at >= r.deadline {
			m.finish(h, failure(r.cause))
		}
	case renewing, aboard, nested:
		m.setTimer(h, r.deadline)
	}
}

// raise makes what is nested in a request at least as important as that.
func (m *Machine) raise(h int32, class wire.Class) {
	if m.requests[h].kids == 0 {
		return
	}
	for k := range int32(len(m.requests)) {
		if r := &m.requests[k]; m.ids[k] != 0 && r.parent == h+1 && r.Class > class {
			m.reclass(k, class, wire.CauseNone)
		}
	}
}

// rank gives a flight the most important class of its members, and the deadline of
// the most patient one.
func (m *Machine) rank(f int32, cause wire.Cause) {
	m.extend(f)
	class := wire.Class(wire.NumClasses - 1)
	for h := m.requests[f].head; h != 0; h = m.requests[h-1].next {
		class = min(class, m.requests[h-1].Class)
	}
	m.reclass(f, class, cause)
}

// promote moves a request that has waited long enough up a class. Where that is a
// flight, all its members have waited, and move up.
func (m *Machine) promote(h int32) {
	c := &m.requests[h]
	if !c.carrier {
		m.reclass(h, c.Class-1, wire.CauseElapsed)
		return
	}
	for k := c.head; k != 0; k = m.requests[k-1].next {
		if r := &m.requests[k-1]; r.Class > wire.Critical {
			m.reclass(k-1, r.Class-1, wire.CauseElapsed)
		}
	}
	m.rank(h, wire.CauseElapsed)
}

// deadlineOf is when a request has to be done: by its class, or by the limit of
// all time, whichever is earlier.
func (m *Machine) deadlineOf(r *request) clock.Instant {
	deadline := clock.Never
	for _, limit := range [...]time.Duration{
		m.policy.Queue.Class[r.Class].Deadline, m.policy.Retry.Total,
	} {
		if limit > 0 {
			deadline = min(deadline, r.came.Add(limit))
		}
	}
	return deadline
}

// promoteAt is when a request that waits moves up a class; clock.Never if it does
// not.
func (m *Machine) promoteAt(r *request) clock.Instant {
	if after := m.policy.Queue.PromoteAfter; after > 0 && r.Class > wire.Critical {
		return max(r.since, r.ranked).Add(after)
	}
	return clock.Never
}

// retimePromotions sets the timers of all who wait anew if the time has changed
// after which they are promoted.
func (m *Machine) retimePromotions() {
	if m.promoteAfter == m.policy.Queue.PromoteAfter {
		return
	}
	m.promoteAfter = m.policy.Queue.PromoteAfter
	for h := range int32(len(m.requests)) {
		if m.requests[h].place == inQueue {
			m.await(h)
		}
	}
}

func promoteField() knob.Field[Policy] {
	return knob.At(knob.Spec{
		Name: "queue.promote_after", Kind: knob.Duration,
		Min: leastTime, Max: maxWait, Step: int64(time.Second), Zero: "off",
		Doc: "how long a request waits in a queue before it moves up a class, and so on; it keeps its age",
	}, func(p *Policy) *time.Duration { return &p.Queue.PromoteAfter })
}
