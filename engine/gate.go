package engine

import (
	"time"

	"herdscope/engine/breaker"
	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// BreakerRemaining is how long a scope's breaker will let nothing through from
// now: 0 if it does, or may; the longest Duration if it is forced open.
func (m *Machine) BreakerRemaining(now clock.Instant, scope uint8) time.Duration {
	return m.breaker(scope).Remaining(now)
}

// heldBack says whether a scope's requests have to wait for its breaker. Where
// each request asks only once they cannot: a probe's own retry would wait for
// the probe.
func (m *Machine) heldBack(s uint8) bool {
	b := &m.policy.Breaker
	return b.WhenOpen == breaker.Wait && b.Placement == breaker.PerAttempt &&
		m.breaker(s).Refuses(b)
}

// askBreaker asks the breaker for the next attempt of r, unless r has asked before
// for all its attempts.
func (m *Machine) askBreaker(r *request) bool {
	switch {
	case !r.permit.Held():
	case m.policy.Breaker.Placement == breaker.PerRequest:
		return true
	default: // the placement was changed since
		m.tellBreaker(r, r.verdict)
	}
	permit, ok, changes := m.breaker(r.Scope).Allow(m.now, &m.policy.Breaker, m.changes[:0])
	m.changes = changes
	r.permit, r.admitted, r.common = permit, m.now, m.sharesBreakers()
	m.breakerChanged(r.Scope)
	return ok
}

// refuse ends a request that the breaker refuses, and says until when others
// will be refused too.
func (m *Machine) refuse(h int32) {
	r := &m.requests[h]
	r.until = m.now.Add(m.BreakerRemaining(m.now, r.Scope))
	m.end(h, wire.ShortCircuited)
	m.refreshDone(h, wire.ShortCircuited)
}

// overdueAt is when an attempt on the wire counts as slow without having ended.
func (m *Machine) overdueAt(r *request) clock.Instant {
	after, ok := m.policy.Breaker.OverdueAfter()
	if !ok || !r.permit.Held() || r.permit.Overdue() {
		return clock.Never
	}
	return r.admitted.Add(after)
}

// overdue tells the breaker of an attempt on the wire that is slow already.
func (m *Machine) overdue(h int32) {
	r := &m.requests[h]
	if r.common != m.sharesBreakers() {
		m.setTimer(h, min(r.deadline, m.timeoutAt(r)))
		return
	}
	m.changes = m.breaker(r.Scope).Overdue(
		m.now, &m.policy.Breaker, &r.permit, m.changes[:0])
	if r.permit.Probe && r.permit.Overdue() {
		m.probeDone(r, wire.CauseSlowRate, false)
	}
	m.breakerChanged(r.Scope)
	m.setTimer(h, min(r.deadline, m.timeoutAt(r)))
}

// attemptDone keeps the result of an attempt for the breaker, and tells it at
// once unless the breaker wants only one result of each request.
func (m *Machine) attemptDone(r *request, call breaker.Call) {
	r.verdict = call
	if m.policy.Breaker.Placement == breaker.PerAttempt {
		m.tellBreaker(r, call)
	}
}

// requestDone tells the breaker how a request ended, if it still has to be told.
// What ended here, without the server's doing, is neutral.
func (m *Machine) requestDone(r *request, outcome wire.Outcome) {
	if !r.permit.Held() {
		return
	}
	switch outcome {
	case wire.Succeeded, wire.Failed, wire.TimedOut:
		m.tellBreaker(r, r.verdict)
	default:
		m.tellBreaker(r, breaker.Call{Result: breaker.Neutral})
	}
}

// tellBreaker reports the result of what the permit of r was given for. A breaker
// that has been taken out of use since has no more need of it.
func (m *Machine) tellBreaker(r *request, call breaker.Call) {
	call.Took = m.now.Sub(r.admitted)
	if r.permit.Probe && !r.permit.Overdue() {
		m.probeDone(r, r.cause, m.policy.Breaker.Good(call))
	}
	if r.common != m.sharesBreakers() {
		r.permit = breaker.Permit{}
		return
	}
	m.changes = m.breaker(r.Scope).Report(
		m.now, &m.policy.Breaker, &r.permit, call, m.changes[:0])
	m.breakerChanged(r.Scope)
}

// probeDone tells how a probe ended.
func (m *Machine) probeDone(r *request, cause wire.Cause, good bool) {
	e := m.event(wire.ProbeDone, r)
	e.Warm = r.Warm && r.try == 1
	e.Delay, e.Cause, e.Status = m.now.Sub(r.admitted), cause, r.status
	e.Probe, e.Good, e.Shared = true, good, r.common
	m.report(e)
}

// tickBreaker brings a scope's own breaker up to now and to the present policy. It
// is out of use while the machine uses that of all.
func (m *Machine) tickBreaker(s uint8) {
	own := &m.scopes[s].breaker
	if m.sharesBreakers() {
		m.changes = own.Retire(m.now, m.changes[:0])
	} else {
		m.changes = own.Tick(m.now, &m.policy.Breaker, m.changes[:0])
	}
	m.reportChanges(s, false)
	m.timeBreaker(s)
}

// breakerChanged reports the transitions in m.changes of the breaker in use, and
// sets its timer anew, if it is the machine's.
func (m *Machine) breakerChanged(s uint8) {
	shared := m.sharesBreakers()
	m.reportChanges(s, shared)
	if !shared {
		m.timeBreaker(s)
	}
}

// reportChanges reports the transitions in m.changes.
func (m *Machine) reportChanges(s uint8, shared bool) {
	for _, c := range m.changes {
		e := changeEvent(c, s)
		e.ID.Client, e.Shared = m.id, shared
		m.report(e)
		m.touch(s)
	}
	m.changes = m.changes[:0]
}

// timeBreaker sets the timer of a scope's own breaker anew.
func (m *Machine) timeBreaker(s uint8) {
	if at, ok := m.scopes[s].breaker.Deadline(); ok {
		m.timers.Set(m.breakerKey(s), at)
	} else {
		m.timers.Clear(m.breakerKey(s))
	}
}

// verdict is what a reply tells the breaker: server errors and lost connections
// are failures; a refusal of the caller's own doing, such as 404 or 429, says
// nothing about the server's health.
func verdict(in Input) breaker.Call {
	call := breaker.Call{Result: breaker.Success}
	switch status := in.Reply.Status; {
	case replyCause(in.Reply) != wire.CauseStatus || status >= 500:
		call.Result = breaker.Failure
	case status >= 400:
		call.Result = breaker.Neutral
	}
	if in.asks() {
		call.NotBefore = in.NotBefore
	}
	return call
}
