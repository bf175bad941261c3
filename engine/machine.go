package engine

import (
	"time"

	"herdscope/engine/breaker"
	"herdscope/engine/budget"
	"herdscope/engine/clock"
	"herdscope/engine/limiter"
	"herdscope/engine/queue"
	"herdscope/engine/rng"
	"herdscope/engine/wire"
)

// Machine is one client. Make it with New; it must not be copied after that.
// It belongs to one goroutine at a time.
type Machine struct {
	id     wire.ClientID
	seed   uint64
	policy *Policy

	scopes   []scope
	requests []request
	ids      []wire.RequestID // of requests, 0 where the slot is free
	handles  handles          // by ID
	free     []int32
	joined   uint64 // number given to requests as they come, to break ties
	counts   Counts
	own      budget.Budget  // unless shared is set
	shared   *budget.Budget // one for the whole fleet
	common   *Breakers      // of the whole fleet; nil if there are none
	// promoteAfter is what the timers of those who wait reckon with.
	promoteAfter time.Duration
	dead         deadGroups
	// sockets has when each of those who wait for a connection began to.
	sockets clock.Index
	token   token
	lanes   []lane // of nested requests: those of level 1 in each scope, then of level 2

	// timers has a key for each breaker, for each class of each scope (its
	// starvation watch), for each scope (its window protection), and for each
	// request.
	timers clock.Index

	// For the length of one Step.
	now     clock.Instant
	out     []Effect
	fresh   []int32 // requests that joined a queue in this Step
	touched uint32  // scopes whose slots or queue changed, a bit each
	// released is the scopes that window protection let go of.
	released uint32
	// freed is the scopes where a parent, or what was nested in it, let go of a slot.
	freed   uint32
	changes []breaker.Change
}

// Counts is how many requests are where. They sum to the requests that have
// been submitted and have not ended.
type Counts struct {
	// Queued wait for a slot; Connecting have one and wait for a connection;
	// Running have an attempt on the wire; Sleeping are in backoff, or wait for
	// the token.
	Queued, Connecting, Running, Sleeping int
	// Sharing is those that share a flight with others, save one of each flight,
	// which is where the flight is. Nesting is those that have their reply and
	// keep their slot until their nested requests have ended.
	Sharing, Nesting int
}

// scope is one bucket of slots with its queue and breaker.
type scope struct {
	number  uint8
	queue   queue.Queue
	breaker breaker.Breaker
	limiter limiter.Limiter
	protection
	running [wire.NumClasses]int32
	kept    [wire.NumClasses]int32 // slots of parents whose reply is there
	// newest is the latest moment at which a request that was started had come;
	// one that came before it and still waits has been overtaken.
	newest   clock.Instant
	starving [wire.NumClasses]bool
	starved  [wire.NumClasses]clock.Instant // since when
	paused   bool                           // as was last reported
	pausedAt clock.Instant
}

// place is where a request is.
type place uint8

const (
	nowhere place = iota
	inQueue
	inSocket // has a slot, and waits for a connection
	onWire
	asleep
	renewing // waits for the token
	aboard   // a member of a flight
	nested   // has its reply, and waits for its nested requests
)

// request is one logical call while it lasts.
type request struct {
	Input                  // as submitted
	came     clock.Instant // when it was submitted
	since    clock.Instant // when its present stay in queue, wire or backoff began
	ranked   clock.Instant // when it was last given another class
	deadline clock.Instant
	until    clock.Instant // when the breaker that refused it may let others through
	number   uint64
	started  clock.Instant // when its attempt got its slot
	carry    time.Duration // what the backoff remembers of the retries before
	permit   breaker.Permit
	hold     budget.Hold
	inFlight int32         // attempts of the scope when this one was sent
	admitted clock.Instant // when the permit was given
	common   bool          // by the breaker that all share
	verdict  breaker.Call  // on the last attempt
	token    uint32        // version of the token that its attempt carries
	try      uint16
	pushedAt uint16 // what tries was when a pushback last decided its wait
	status   uint16
	cause    wire.Cause
	place    place
	// sent says that an attempt of it has been on the wire.
	sent bool
	// admittedTry says that the budget has let its next try pass already.
	admittedTry bool
	// announced says that observers know that it waits.
	announced bool
	// held says that window protection kept it from a slot.
	held bool
	// replayed says that it has met a 401, and is sent again for that.
	replayed bool
	// begun says, while it waits for the token, that the budget knows of its next try.
	begun bool
	flight
	nesting
}

// New makes the client id with the given number of scopes, 1 to
// wire.MaxScopes. It reads the policy at every decision and never changes it.
func New(id wire.ClientID, seed uint64, scopes int, policy *Policy) Machine {
	m := Machine{id: id, seed: seed, policy: policy, scopes: make([]scope, scopes)}
	for i := range m.scopes {
		m.scopes[i].number, m.scopes[i].newest = uint8(i), wire.Held
		key := rng.At(seed, rng.BreakerOpen, uint64(id), uint64(i), 0)
		m.scopes[i].breaker = breaker.New(key)
	}
	return m
}

// Counts is how many requests are where now.
func (m *Machine) Counts() Counts { return m.counts }

// Running is how many attempts of a scope have a slot: those in flight, and those
// that wait for a connection.
func (m *Machine) Running(scope uint8) int {
	n := int32(0)
	for _, r := range m.scopes[scope].running {
		n += r
	}
	return int(n + m.inLanes(scope))
}

// Breaker is the state of a scope's breaker.
func (m *Machine) Breaker(scope uint8) wire.BreakerState {
	return m.breaker(scope).State()
}

// Deadline is when the machine next needs a Tick; false if never. It may change
// with every Step, and with a change of the policy.
func (m *Machine) Deadline() (clock.Instant, bool) {
	_, at, ok := m.timers.Min()
	return at, ok
}

// Step feeds one input at now and appends to out, in order, what the machine
// asks of the world. Timers that are due act first, so that of a deadline and a
// reply at the same instant the deadline wins. now must not go back.
func (m *Machine) Step(now clock.Instant, in Input, out []Effect) []Effect {
	m.now, m.out = now, out
	m.fire()
	switch in.Kind {
	case Submit:
		m.submit(in)
	case Answered:
		m.answered(in)
	case Cancel:
		m.cancel(in.Request)
	case Changed:
		m.changed()
	case Commit:
		m.commit(in.ID)
	case Refreshed:
		m.refreshed(in.Good)
	case CancelGroup:
		m.cancelGroup(in.Group)
	case SetClass:
		m.setClass(in.Request, in.Class)
	case Wake:
		m.touch(in.Scope)
	}
	m.settle()
	out, m.out = m.out, nil
	return out
}

// submit takes a request in and lets it join its queue.
func (m *Machine) submit(in Input) {
	h := m.slot()
	m.joined++
	r := &m.requests[h]
	*r = request{Input: in, came: m.now, number: m.joined}
	expected := m.adopt(h)
	r.deadline = m.deadlineOf(r)
	m.ids[h] = in.Request
	m.handles.put(m.ids, h)
	e := m.event(wire.RequestBegan, r)
	e.Since = in.Since
	m.report(e)
	m.guard(r)
	if !expected || m.dead.has(in.Group) {
		m.giveUp(h)
		return
	}
	if !m.board(h) {
		m.join(h)
	}
}

// slot finds room for one more request.
func (m *Machine) slot() int32 {
	if n := len(m.free); n > 0 {
		h := m.free[n-1]
		m.free = m.free[:n-1]
		return h
	}
	m.requests = append(m.requests, request{})
	m.ids = append(m.ids, 0)
	return int32(len(m.requests) - 1)
}

// find is the handle of a request by its ID; that of the first of a flight is not
// the flight.
func (m *Machine) find(id wire.RequestID) (int32, bool) {
	h, ok := m.handles.find(m.ids, id)
	if !ok || !m.requests[h].carrier {
		return h, ok
	}
	lead := m.requests[h].lead
	return lead - 1, lead != 0
}

// flying is the handle of the request whose attempt on the wire has that ID.
func (m *Machine) flying(id wire.AttemptID) (int32, bool) {
	h, ok := m.handles.find(m.ids, id.Request)
	return h, ok && m.requests[h].place == onWire && m.requests[h].try == id.Try
}

// commit refuses retries after the attempt on the wire. One that has ended is
// no error.
func (m *Machine) commit(id wire.AttemptID) {
	if h, ok := m.flying(id); ok {
		m.requests[h].Retry = RetryNever
		m.requests[h].committed = true
	}
}

// MayRetry says whether the policy would have one more try if the attempt id
// were answered with the reply. Where it says no, an answer ends the request;
// where it says yes, a deadline may still be in the way. It changes nothing.
func (m *Machine) MayRetry(id wire.AttemptID, reply wire.Reply) bool {
	h, ok := m.flying(id)
	if !ok {
		return false
	}
	r := m.requests[h]
	r.status, r.cause = reply.Status, replyCause(reply)
	failed := r.cause != wire.CauseStatus || r.status >= 400
	return failed && (m.replays(&r) || m.mayRetry(&r) && !m.policy.Retry.stops(reply))
}

// replyCause is why an attempt ends that has that reply.
func replyCause(reply wire.Reply) wire.Cause {
	switch reply.Kind {
	case wire.ReplyReset:
		return wire.CauseReset
	case wire.ReplyRefused:
		return wire.CauseRefused
	}
	return wire.CauseStatus
}

// answered takes a reply to an attempt.
func (m *Machine) answered(in Input) {
	h, ok := m.flying(in.ID)
	if !ok {
		m.report(wire.Event{
			Kind: wire.AttemptLate, At: m.now, ID: in.ID, Status: in.Reply.Status,
			Class: in.Class, Scope: in.Scope,
		})
		return
	}
	r := &m.requests[h]
	in.NotBefore = m.policy.Retry.notBefore(&in)
	if in.Retry == RetryNever {
		r.Retry = RetryNever
	}
	r.status = in.Reply.Status
	m.endAttempt(h, replyCause(in.Reply), verdict(in))
	if r.cause == wire.CauseStatus && r.status < 400 {
		m.succeed(h)
		return
	}
	if m.replays(r) {
		m.replay(h)
		return
	}
	m.retryOrGiveUp(h, in)
}

// cancel gives a request up, wherever it is. One that has ended is no error.
func (m *Machine) cancel(id wire.RequestID) {
	if h, ok := m.find(id); ok {
		m.giveUp(h)
	}
}

// giveUp ends a request as cancelled, wherever it is.
func (m *Machine) giveUp(h int32) {
	switch r := &m.requests[h]; r.place {
	case inQueue:
		m.leaveQueue(h)
	case inSocket, onWire:
		m.abort(h, wire.CauseCancel, breaker.Neutral)
	case aboard:
		m.quit(h)
		return
	}
	m.requests[h].cause = wire.CauseCancel
	m.finish(h, wire.Cancelled)
}

// changed looks at everything that a new policy may have set free.
func (m *Machine) changed() {
	m.retimePromotions()
	for s := range m.scopes {
		m.touch(uint8(s))
		m.tickBreaker(uint8(s))
	}
}

// finish ends a request with its outcome, and sees to those who waited for it.
// Its queue or slot must have been left before; backoff is left here.
func (m *Machine) finish(h int32, outcome wire.Outcome) {
	m.end(h, outcome)
	m.refreshDone(h, outcome)
}

// end is finish without what follows for others.
func (m *Machine) end(h int32, outcome wire.Outcome) {
	r := &m.requests[h]
	switch r.place {
	case asleep:
		m.counts.Sleeping--
	case renewing:
		m.counts.Sleeping--
		m.unhold(h)
	case nested:
		m.letGo(r)
	}
	m.timers.Clear(m.requestKey(h))
	m.requestDone(r, outcome)
	m.Budget().Drop(&r.hold)
	if r.carrier {
		m.disband(h, outcome)
	} else {
		outcome = m.reportEnd(r, outcome)
	}
	r.place = nowhere
	m.handles.take(m.ids, h)
	m.ids[h] = 0
	m.free = append(m.free, h)
	m.family(h, outcome)
}

// reportEnd tells how a request has ended, and returns that.
func (m *Machine) reportEnd(r *request, outcome wire.Outcome) wire.Outcome {
	if m.policy.Fallback.has(r, outcome) {
		outcome = wire.Degraded
	}
	e := m.event(wire.RequestDone, r)
	e.Since, e.Delay = r.Since, m.now.Sub(r.Since)
	e.Outcome, e.Cause, e.Status, e.Until = outcome, r.cause, r.status, r.until
	e.Shared, e.Nesting = r.left, r.place == nested
	m.report(e)
	m.unguard(r)
	return outcome
}

// event is an event about a request, with what all of them have.
func (m *Machine) event(kind wire.EventKind, r *request) wire.Event {
	return wire.Event{
		Kind: kind, At: m.now, Class: r.Class, Method: r.Method, Scope: r.Scope, Warm: r.Warm,
		Group: r.Group, Parent: r.Parent, Repeats: r.Repeats,
		Refresh: r.Refresh,
		ID:      wire.AttemptID{Client: m.id, Request: r.Request, Try: r.try},
	}
}

func (m *Machine) report(e wire.Event) {
	m.out = append(m.out, Effect{Kind: Report, Event: e})
}
