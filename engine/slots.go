package engine

import (
	"time"

	"herdscope/engine/breaker"
	"herdscope/engine/clock"
	"herdscope/engine/queue"
	"herdscope/engine/wire"
)

// join lets a request wait for a slot; settle will look whether there is one.
func (m *Machine) join(h int32) {
	m.begins(&m.requests[h])
	m.enqueue(h)
}

// enqueue is join for a request whose try has begun already.
func (m *Machine) enqueue(h int32) {
	r := &m.requests[h]
	m.reorder(r.Scope)
	r.place, r.since, r.announced = inQueue, m.now, false
	m.counts.Queued++
	m.line(r).Push(m.waiter(h))
	r.held = false
	m.patient(h, true)
	m.touch(r.Scope)
	m.await(h)
	if r.place == inQueue {
		m.fresh = append(m.fresh, h)
	}
}

// leaveQueue takes a request out of its queue and tells those who saw it wait.
func (m *Machine) leaveQueue(h int32) {
	r := &m.requests[h]
	m.line(r).Remove(h, r.Class)
	m.patient(h, false)
	m.counts.Queued--
	m.touch(r.Scope)
	r.place = nowhere
	if r.announced {
		e := m.event(wire.RequestDequeued, r)
		e.Delay, e.Kept = m.now.Sub(r.since), r.held
		m.report(e)
	}
}

// touch remembers that a scope's slots or queue changed.
func (m *Machine) touch(scope uint8) { m.touched |= 1 << scope }

// settle starts whatever may start, and then tells who has to wait. It is the
// last thing in every Step, so that no slot is ever left free by mistake.
func (m *Machine) settle() {
	m.connect()
	m.dispatchAll(m.touched)
	m.released = 0
	for _, h := range m.fresh {
		m.announce(h)
	}
	m.dispatchAll(m.released | m.freed) // by one without room in the queue
	m.untangle()
	for s := range m.scopes {
		if m.touched&(1<<s) != 0 {
			m.watchProtection(uint8(s))
			m.watchStarvation(uint8(s))
		}
	}
	m.fresh, m.touched = m.fresh[:0], 0
}

func (m *Machine) dispatchAll(scopes uint32) {
	for scopes != 0 {
		m.freed = 0
		m.connect()
		for s := range m.scopes {
			if scopes&(1<<s) != 0 {
				m.dispatch(uint8(s))
				m.dispatchLanes(uint8(s))
			}
		}
		scopes = m.freed // by nested requests that ended instead of being sent
	}
}

// dispatch gives slots away until there are none, or nobody may have one.
func (m *Machine) dispatch(s uint8) {
	m.reorder(s)
	m.watchPause(s)
	sc := &m.scopes[s]
	for !m.heldBack(s) {
		h, _, ok := sc.queue.Next(m.now, m.allowed(sc))
		if !ok {
			return
		}
		m.start(h)
	}
}

// allowed says which classes may start one more attempt.
func (m *Machine) allowed(sc *scope) queue.Allowed {
	a := m.shares(sc)
	a[wire.Background] = a[wire.Background] && !m.protects(sc)
	return a
}

// shares says for which classes there is a slot, beyond those kept for others;
// the class must not hold its most already.
func (m *Machine) shares(sc *scope) queue.Allowed {
	taken := sc.taken()
	return m.sharesOf(sc, &taken)
}

// taken is how many of a scope's own slots each class holds.
func (sc *scope) taken() [wire.NumClasses]int32 {
	taken := sc.running
	for c, n := range sc.kept {
		taken[c] += n
	}
	return taken
}

// sharesOf is shares if each class held as many slots as given.
func (m *Machine) sharesOf(sc *scope, taken *[wire.NumClasses]int32) (a queue.Allowed) {
	q, slots, own := &m.policy.Queue, m.slots(sc), m.hasOwn(sc)
	var running, kept int
	var lacking [wire.NumClasses]int
	for c := range q.Class {
		running += int(taken[c])
		if !own {
			lacking[c] = max(0, q.Class[c].Least-int(taken[c]))
		}
		kept += lacking[c]
	}
	for c := range q.Class {
		below := q.Class[c].Most == 0 || int(taken[c]) < q.Class[c].Most
		a[c] = below && running+kept-lacking[c] < slots
	}
	return a
}

// start sends the next attempt of a waiting request, if its breaker lets it.
func (m *Machine) start(h int32) {
	r := &m.requests[h]
	sc := &m.scopes[r.Scope]
	waited := m.now.Sub(r.since)
	m.leaveQueue(h)
	if m.holds(r) {
		m.hold(h, true)
		return
	}
	if !r.admittedTry && !m.admits(r) {
		r.cause = wire.CauseBudget
		m.finish(h, wire.Shed)
		return
	}
	if !m.askBreaker(r) {
		m.refuse(h)
		return
	}
	r.since, r.started = m.now, m.now
	r.try++
	r.status, r.cause, r.admittedTry = 0, wire.CauseNone, false
	m.occupy(r, 1)
	if r.lane == 0 {
		sc.newest = max(sc.newest, r.came)
	}
	m.setTimer(h, min(r.deadline, m.timeoutAt(r), m.overdueAt(r)))
	if m.sockets.Len() > 0 || !m.connects() {
		m.awaitSocket(h, waited)
		return
	}
	m.send(h, waited)
}

// send puts an attempt that has its slot, and now its connection, on the wire; it
// has just left the queue after waited, or had left it before and comes with 0.
func (m *Machine) send(h int32, waited time.Duration) {
	r := &m.requests[h]
	r.place, r.since, r.sent, r.token = onWire, m.now, true, m.token.version
	m.counts.Running++
	r.inFlight = int32(m.Running(r.Scope))

	m.out = append(m.out, Effect{Kind: Send, Attempt: m.attempt(r)})
	e := m.event(wire.AttemptSent, r)
	e.Probe, e.Delay, e.Shared = r.permit.Probe, waited, r.common
	m.report(e)
}

func (m *Machine) timeoutAt(r *request) clock.Instant {
	if r.Timeout <= 0 {
		return clock.Never
	}
	return r.started.Add(r.Timeout)
}

// attempt is the present try of a request, as it goes on the wire.
func (m *Machine) attempt(r *request) wire.Attempt {
	return wire.Attempt{
		ID:    wire.AttemptID{Client: m.id, Request: r.Request, Try: r.try},
		Class: r.Class, Method: r.Method, Route: r.Route, Scope: r.Scope,
		Probe: r.permit.Probe, Warm: r.Warm && r.try == 1, Key: r.Key,
		Repeats: r.Repeats,
	}
}

// endAttempt frees the slot of the attempt on the wire and tells the breaker.
func (m *Machine) endAttempt(h int32, cause wire.Cause, call breaker.Call) {
	m.counts.Running--
	m.freeSlot(h, cause)
	r := &m.requests[h]
	m.spent(r)
	m.sample(r, &m.scopes[r.Scope])

	e := m.event(wire.AttemptEnded, r)
	e.Warm = r.Warm && r.try == 1
	e.Delay, e.Cause, e.Status, e.Probe = m.now.Sub(r.since), cause, r.status, r.permit.Probe
	m.report(e)
	m.attemptDone(r, call)
}

// freeSlot takes the slot from the attempt of a request, which ends for that
// cause.
func (m *Machine) freeSlot(h int32, cause wire.Cause) {
	r := &m.requests[h]
	m.occupy(r, -1)
	m.touch(r.Scope)
	m.timers.Clear(m.requestKey(h))
	r.place, r.cause = nowhere, cause
}

// abort ends the attempt of a request from this side.
func (m *Machine) abort(h int32, cause wire.Cause, result breaker.Result) {
	if m.requests[h].place == inSocket {
		m.neverSent(h, cause, result)
		return
	}
	m.out = append(m.out, Effect{Kind: Abort, Attempt: m.attempt(&m.requests[h])})
	m.endAttempt(h, cause, breaker.Call{Result: result})
}

// announce tells that a request has to wait, or sheds it if there is no room.
func (m *Machine) announce(h int32) {
	r := &m.requests[h]
	if r.place != inQueue || r.announced {
		return
	}
	sc := &m.scopes[r.Scope]
	if !r.Refresh && m.line(r).Len() > m.room(sc) {
		m.leaveQueue(h)
		r.cause = wire.CauseFull
		m.finish(h, wire.Shed)
		return
	}
	r.announced = true
	m.report(m.event(wire.RequestQueued, r))
}
