package engine

import (
	"time"

	"herdscope/engine/rng"
	"herdscope/engine/wire"
)

// retryOrGiveUp decides what becomes of a request whose attempt has failed for
// the reason in its cause; in holds the reply, if there was one.
func (m *Machine) retryOrGiveUp(h int32, in Input) {
	r := &m.requests[h]
	if !m.mayRetry(r) || m.stopped(r, in) || m.refuses(r, in) {
		m.finish(h, failure(r.cause))
		return
	}
	wait := m.wait(r, in)
	until := m.now.Add(wait.delay)
	if until >= r.deadline || !m.affords(r) {
		m.finish(h, failure(r.cause))
		return
	}
	e := m.event(wire.RetryScheduled, r)
	e.Delay, e.Ceiling, e.Until, e.Hinted = wait.delay, wait.ceiling, until, wait.hinted
	e.Hint, e.Cause, e.Status = wait.hint, r.cause, r.status
	m.report(e)
	r.place, r.since = asleep, m.now
	m.counts.Sleeping++
	m.setTimer(h, until)
}

// failure is the outcome of a request that is given up after an attempt which
// ended for that cause.
func failure(cause wire.Cause) wire.Outcome {
	if cause == wire.CauseTimeout {
		return wire.TimedOut
	}
	return wire.Failed
}

// mayRetry says whether there is one more try for the request: its own word
// comes first, then the policy.
func (m *Machine) mayRetry(r *request) bool {
	p := &m.policy.Retry
	if r.Retry == RetryNever || r.Retry != RetryAllowed && !p.Methods.Has(r.Method, r.Key != 0) {
		return false
	}
	if r.tries() >= p.Attempts || r.Refresh {
		return false
	}
	switch r.cause {
	case wire.CauseStatus:
		return !(r.status == 401 && m.policy.Auth.Refresh) && p.Statuses.Has(r.status)
	case wire.CauseTimeout:
		return p.Timeouts
	}
	return p.Network
}

// tries is how many attempts of a request count against Retry.Attempts.
func (r *request) tries() int {
	if r.replayed {
		return int(r.try) - 1
	}
	return int(r.try)
}

// wait is how long a retry waits, out of how much it could have been, and what
// a Retry-After had to do with it.
type wait struct {
	delay, ceiling time.Duration
	hinted         bool
	hint           wire.HintUse
}

// wait draws the wait before the next attempt of r. A pushback that the policy
// obeys comes first. A Retry-After in the future
// decides, never earlier than it asks unless it is above the maximum; one that
// has passed leaves the wait to the backoff.
func (m *Machine) wait(r *request, in Input) wait {
	if m.policy.Retry.pushes(in.Reply) {
		return m.pushedBack(r, in)
	}
	asked, use := m.asked(in)
	if asked > 0 {
		return m.hinted(r, asked, use)
	}
	w := m.policy.Retry.Backoff.Delay(r.tries()-int(r.pushedAt), r.carry, m.draw(rng.Backoff, r))
	r.carry = w.Carry
	return wait{delay: w.Delay, ceiling: w.Ceiling, hint: use}
}

// share is a part of d given in thousandths; d is at most what time.Duration
// can hold, so the division comes first where the product would not fit.
func share(d time.Duration, thousandths int64) time.Duration {
	if d > time.Duration(1)<<52 {
		return d / 1000 * time.Duration(thousandths)
	}
	return d * time.Duration(thousandths) / 1000
}

func (m *Machine) draw(label rng.Label, r *request) uint64 {
	return rng.At(m.seed, label, uint64(m.id), uint64(r.Request), uint64(r.try))
}
