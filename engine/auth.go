package engine

import (
	"herdscope/engine/breaker"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// Auth is what becomes of a 401.
type Auth struct {
	// Refresh answers the first 401 of a request with one refresh of the
	// client's token. While it lasts no other attempt of the client goes out.
	// After it, every request that has waited is sent, and what had met a 401 is
	// replayed once, beyond Retry.Attempts. If it fails, all that have waited
	// fail with it. A 401 is then never retried otherwise, whatever
	// Retry.Statuses says; off, it is an error like others.
	Refresh bool
	// Shared is one token for all clients of a fleet: of those that meet a 401
	// one refreshes it, and the others wait for that and go on with what it got. A
	// machine by itself has nobody to share with.
	Shared bool
}

// token is a client's token, and who waits for a new one.
type token struct {
	version    uint32 // counts the refreshes that succeeded
	refreshing bool
	held       []int32 // those who wait, in the order in which they came to
}

// holds says whether a request must wait for the token before it is sent.
func (m *Machine) holds(r *request) bool { return m.token.refreshing && !r.Refresh }

// replays says whether a request whose attempt has failed is sent again with a
// new token. Its own word against retries comes first.
func (m *Machine) replays(r *request) bool {
	return m.policy.Auth.Refresh && r.cause == wire.CauseStatus && r.status == 401 &&
		!r.Refresh && !r.replayed && r.Retry != RetryNever
}

// replay lets a request that has met a 401 wait for a new token, and asks for
// one if nobody has. One that was sent with a token that has been replaced since
// goes out again at once.
func (m *Machine) replay(h int32) {
	r := &m.requests[h]
	r.replayed = true
	m.hold(h, false)
	switch {
	case m.token.refreshing:
	case r.token != m.token.version:
		m.release()
	default:
		m.token.refreshing = true
		m.out = append(m.out, Effect{Kind: Refresh, Attempt: m.attempt(r)})
		m.holdSockets()
	}
}

// hold lets a request that is in no queue and has no attempt under way wait for
// the token; begun says that the budget knows of the try that it waits for. A
// permit of the breaker is given back, which the refresh may need.
func (m *Machine) hold(h int32, begun bool) {
	r := &m.requests[h]
	if r.permit.Held() {
		m.tellBreaker(r, breaker.Call{Result: breaker.Neutral})
	}
	r.place, r.since, r.begun = renewing, m.now, begun
	m.counts.Sleeping++
	m.token.held = append(m.token.held, h)
	m.setTimer(h, r.deadline)
	m.report(m.event(wire.RequestHeld, r))
}

// unhold takes a request that ends out of those who wait.
func (m *Machine) unhold(h int32) {
	for i, other := range m.token.held {
		if other == h {
			m.token.held = append(m.token.held[:i], m.token.held[i+1:]...)
			return
		}
	}
}

// refreshDone sees to those who wait for the token, if the request that has ended
// was to get it.
func (m *Machine) refreshDone(h int32, outcome wire.Outcome) {
	if m.requests[h].Refresh {
		m.refreshed(outcome == wire.Succeeded)
	}
}

// refreshed is the end of a refresh: all who have waited go on, or fail.
func (m *Machine) refreshed(ok bool) {
	if !m.token.refreshing {
		return
	}
	m.token.refreshing = false
	if ok {
		m.token.version++
		m.release()
		return
	}
	for len(m.token.held) > 0 {
		h := m.token.held[0]
		m.requests[h].cause = wire.CauseAuth
		m.finish(h, wire.Failed)
	}
}

// release lets all who have waited for the token join their queues.
func (m *Machine) release() {
	for _, h := range m.token.held {
		m.counts.Sleeping--
		if m.requests[h].begun {
			m.enqueue(h)
		} else {
			m.join(h)
		}
	}
	m.token.held = m.token.held[:0]
}

func authFields() []knob.Field[Policy] {
	return []knob.Field[Policy]{
		knob.AtBool(knob.Spec{
			Name: "auth.refresh", Kind: knob.Switch,
			Doc: "a 401 makes the client refresh its token once, while all else waits, and replay",
		}, func(p *Policy) *bool { return &p.Auth.Refresh }),
		knob.AtBool(knob.Spec{
			Name: "auth.shared", Kind: knob.Switch,
			Doc: "one token for the whole fleet: one client refreshes it, the others wait for that",
		}, func(p *Policy) *bool { return &p.Auth.Shared }),
	}
}
