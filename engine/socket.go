package engine

import (
	"time"

	"herdscope/engine/breaker"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// Transport is what lies below the scheduler.
type Transport struct {
	// Conns is how many connections a client has for all its scopes together, as
	// the 6 that a browser has for a host; 0 is any number. An attempt that has a
	// slot and finds no connection waits for one, first come, first served,
	// whatever its class.
	Conns int
}

// The way of an attempt where Transport.Conns is set, by the place of its
// request:
//
//	inQueue   a slot, the budget and the breaker let it begin: it gets its number
//	          (Try), its timeout runs from here, and it is
//	  onWire      if there is a connection and nobody waits for one; else
//	  inSocket    told by SocketQueued
//	inSocket  it waits and holds its slot, its permit and its number, but nothing
//	          has been sent: a reply that names it is late, as one to a try that
//	          is over. It leaves, told by SocketDequeued,
//	  onWire      with a connection: Send, and AttemptSent
//	  asleep, or ended   by its timeout, which the breaker and the budget are told
//	              of as of any other, since the caller has waited in vain; the
//	              limiter is not, which learns from what was sent
//	  ended       by its deadline or a cancel
//	  renewing    when a refresh of the token begins, since the refresh may need
//	              the slot; the number is then given back, and used again
//	onWire    as without Conns. Its end frees the slot and the connection.
//
// So each request is in one of Counts, slots are held by those in inSocket and
// onWire, and connections by those in onWire. A request of which no attempt was
// ever sent expires in the queue when its deadline comes, whatever its number.

// connects says whether there is a connection for one more attempt.
func (m *Machine) connects() bool {
	conns := m.policy.Transport.Conns
	return conns == 0 || m.counts.Running < conns
}

// connect gives the connections that are free to those who wait for one.
func (m *Machine) connect() {
	for m.sockets.Len() > 0 && m.connects() {
		h, _, _ := m.sockets.Min()
		m.leaveSocket(h, wire.CauseNone)
		m.send(h, 0)
	}
}

// awaitSocket lets an attempt that has got its slot after waited wait for a
// connection.
func (m *Machine) awaitSocket(h int32, waited time.Duration) {
	r := &m.requests[h]
	r.place = inSocket
	m.counts.Connecting++
	m.sockets.Set(h, m.now)
	e := m.event(wire.SocketQueued, r)
	e.Delay, e.Probe, e.Shared = waited, r.permit.Probe, r.common
	m.report(e)
}

// leaveSocket ends the wait of an attempt for a connection; the cause is none if
// it has got one.
func (m *Machine) leaveSocket(h int32, cause wire.Cause) {
	r := &m.requests[h]
	m.sockets.Clear(h)
	m.counts.Connecting--
	e := m.event(wire.SocketDequeued, r)
	e.Delay, e.Cause = m.now.Sub(r.since), cause
	m.report(e)
}

// neverSent ends an attempt that waits for a connection.
func (m *Machine) neverSent(h int32, cause wire.Cause, result breaker.Result) {
	m.leaveSocket(h, cause)
	m.freeSlot(h, cause)
	r := &m.requests[h]
	m.spent(r)
	m.attemptDone(r, breaker.Call{Result: result})
}

// holdSockets lets those who wait for a connection wait for the token instead,
// and gives their slots away.
func (m *Machine) holdSockets() {
	for h := range int32(len(m.requests)) {
		r := &m.requests[h]
		if r.place != inSocket || r.Refresh {
			continue
		}
		m.leaveSocket(h, wire.CauseAuth)
		m.freeSlot(h, wire.CauseNone)
		if r.permit.Held() {
			m.tellBreaker(r, breaker.Call{Result: breaker.Neutral})
		}
		r.try--
		r.admittedTry = true
		m.hold(h, true)
	}
}

func transportFields() []knob.Field[Policy] {
	return []knob.Field[Policy]{
		knob.At(knob.Spec{
			Name: "transport.conns", Kind: knob.Int, Unit: "connections",
			Min: 1, Max: maxSlots, Step: 1, Zero: "unlimited",
			Doc: "how many attempts of a client can be on the wire in all scopes; others wait " +
				"with their slot, and their timeout runs",
		}, func(p *Policy) *int { return &p.Transport.Conns }),
	}
}
