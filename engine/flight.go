package engine

import (
	"time"

	"herdscope/engine/breaker"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// Dedup is when identical requests share one flight: the first of them queues, is
// sent and retried, those that come later join it, and all end as it ends. Which
// requests are identical says Input.Same.
//
// A flight is not bound to the one that began it. Whoever is cancelled or misses
// a deadline leaves alone, the first one too, and the flight goes on for the
// others; it is given up with the last of them. It has the most important class of
// those who are in it now. A failure is shared like a success, and nothing is kept:
// who comes after the end begins a flight anew.
type Dedup struct {
	// Window is how long after its first request came a flight takes others in;
	// 0 is off. At the very end of it the next flight begins.
	Window time.Duration
	// Methods is which methods share.
	Methods DedupMethods
	// Cancel is what becomes of a flight whose first request is cancelled.
	Cancel DedupCancel
}

// DedupMethods is which methods share flights.
type DedupMethods uint8

// The sets of methods that share.
const (
	// DedupUnsafe is those that change something: PUT, DELETE, POST and PATCH.
	DedupUnsafe DedupMethods = iota
	// DedupAll is every method.
	DedupAll
)

// DedupCancel is what becomes of a flight whose first request is cancelled.
type DedupCancel uint8

// The rules.
const (
	// CancelLast ends a flight when nobody is left in it.
	CancelLast DedupCancel = iota
	// CancelFirst ends it with its first request, and cancels all who have joined,
	// as libraries do that bind a flight to the context of its first caller. It is
	// here to be compared with.
	CancelFirst
)

// flight is what a request has to do with flights. A flight that somebody has
// joined is a request of its own, without a caller: it has the queue place or the
// slot, the timer of the attempt and the number of the first one. Its members,
// the first included, wait for it, each with a deadline and an end of its own.
type flight struct {
	carrier bool  // this is the flight itself
	members int32 // of a carrier
	head    int32 // of a carrier: its first member, a handle plus one
	lead    int32 // of a carrier: the one that began it, as head; 0 if that has left
	next    int32 // of a member: who joined after it, a handle plus one
	of      int32 // of a member: its carrier, a handle plus one
	// committed says that it takes nobody in any more.
	committed bool
	// left says, at the end of a member, that others were in the flight still.
	left bool
}

// sharing says whether the policy lets a request share a flight, one of its own
// included. What holds a slot for nested requests does not, nor do those.
func (m *Machine) sharing(r *request) bool {
	d := &m.policy.Dedup
	return d.Window > 0 && r.Same != 0 && !r.Refresh && r.Parent == 0 && r.Children == 0 &&
		(d.Methods == DedupAll || !r.Method.Safe())
}

// board lets a request that has come join the flight of an identical one; false
// if there is none.
func (m *Machine) board(h int32) bool {
	if !m.sharing(&m.requests[h]) {
		return false
	}
	f, ok := m.boarding(h)
	if !ok {
		return false
	}
	if !m.requests[f].carrier {
		m.launch(f)
	}
	e := m.event(wire.RequestJoined, &m.requests[h])
	e.Leader = m.requests[f].Request
	m.report(e)
	m.counts.Sharing++
	m.link(f, h)
	return true
}

// boarding is the flight that the request h may join: one in the same scope, and
// of a class that is not less important, since it would wait for that. Of two,
// the later one is the one to join.
func (m *Machine) boarding(h int32) (found int32, ok bool) {
	r := &m.requests[h]
	for f := range m.requests {
		c := &m.requests[f]
		if m.ids[f] == 0 || int32(f) == h || c.Same != r.Same || c.place == aboard || !m.takes(c) ||
			c.Scope != r.Scope || c.Class > r.Class {
			continue
		}
		if !ok || c.number > m.requests[found].number {
			found, ok = int32(f), true
		}
	}
	return found, ok
}

// takes says whether a flight takes others in now.
func (m *Machine) takes(c *request) bool {
	return !c.committed && c.place != nowhere && m.sharing(c) &&
		m.now < c.came.Add(m.policy.Dedup.Window)
}

// launch makes a flight of the request f: f goes on as the carrier, and its
// caller becomes the first member.
func (m *Machine) launch(f int32) {
	h := m.slot()
	c := &m.requests[f]
	m.requests[h] = request{
		Input: c.Input, came: c.came, number: c.number, deadline: c.deadline,
	}
	m.ids[h] = c.Request
	c.carrier, c.lead = true, h+1
	m.link(f, h)
}

// link makes h the latest member of the flight f.
func (m *Machine) link(f, h int32) {
	c, r := &m.requests[f], &m.requests[h]
	at := &c.head
	for *at != 0 {
		at = &m.requests[*at-1].next
	}
	*at = h + 1
	c.members++
	r.of, r.place, r.since = f+1, aboard, m.now
	m.setTimer(h, r.deadline)
	m.extend(f)
}

// unlink takes the member h out of its flight f. What the flight has come to so
// far is what has become of the member.
func (m *Machine) unlink(f, h int32) {
	c, r := &m.requests[f], &m.requests[h]
	at := &c.head
	for *at != h+1 {
		at = &m.requests[*at-1].next
	}
	*at = r.next
	c.members--
	if c.lead == h+1 {
		c.lead = 0
	}
	r.of, r.next, r.place = 0, 0, nowhere
	r.try, r.sent, r.status, r.cause, r.until = c.try, c.sent, c.status, c.cause, c.until
	r.left = c.members > 0
	if r.left {
		m.counts.Sharing--
	}
}

// extend lets a flight last as long as the most patient of its members.
func (m *Machine) extend(f int32) {
	c := &m.requests[f]
	c.deadline = 0
	for h := c.head; h != 0; h = m.requests[h-1].next {
		c.deadline = max(c.deadline, m.requests[h-1].deadline)
	}
	switch c.place {
	case inQueue:
		m.line(c).Defer(f, c.deadline)
		m.setTimer(f, max(m.now, min(c.deadline, m.line(c).Expires(f), m.promoteAt(c))))
	case inSocket, onWire:
		m.setTimer(f, min(c.deadline, m.timeoutAt(c), m.overdueAt(c)))
	case renewing:
		m.setTimer(f, c.deadline)
	}
}

// quit gives up a member: alone, unless it is the last one, or the rule is that
// all go with the first.
func (m *Machine) quit(h int32) {
	f := m.requests[h].of - 1
	c := &m.requests[f]
	if c.members == 1 || c.lead == h+1 && m.policy.Dedup.Cancel == CancelFirst {
		m.giveUp(f)
		return
	}
	m.unlink(f, h)
	m.requests[h].cause = wire.CauseCancel
	m.finish(h, wire.Cancelled)
	m.rank(f, wire.CauseNone)
}

// miss ends a member whose deadline has come, and the flight with the last one.
func (m *Machine) miss(h int32) {
	f := m.requests[h].of - 1
	if m.requests[f].members == 1 {
		m.expire(f)
		return
	}
	m.unlink(f, h)
	r := &m.requests[h]
	r.cause = wire.CauseDeadline
	m.finish(h, m.late(r))
	m.rank(f, wire.CauseNone)
}

// expire ends a flight whose last member's deadline has come.
func (m *Machine) expire(f int32) {
	switch m.requests[f].place {
	case inQueue:
		m.leaveQueue(f)
	case inSocket, onWire:
		m.abort(f, wire.CauseDeadline, breaker.Neutral)
	}
	c := &m.requests[f]
	c.cause = wire.CauseDeadline
	m.finish(f, m.late(c))
}

// disband ends all members of a flight with its outcome, the first one first.
func (m *Machine) disband(f int32, outcome wire.Outcome) {
	for m.requests[f].members > 0 {
		h := m.requests[f].head - 1
		m.unlink(f, h)
		m.finish(h, outcome)
	}
}

func dedupFields() []knob.Field[Policy] {
	return []knob.Field[Policy]{
		knob.At(knob.Spec{
			Name: "dedup.window", Kind: knob.Duration, Zero: "off",
			Min: leastTime, Max: maxWait, Step: int64(100 * time.Millisecond),
			Doc: "how long after the first of them identical requests of a client join its flight",
		}, func(p *Policy) *time.Duration { return &p.Dedup.Window }),
		knob.At(knob.Spec{
			Name: "dedup.methods", Kind: knob.Choice, Choices: []string{"unsafe", "all"},
			Doc: "which methods share flights: those that change something, or all",
		}, func(p *Policy) *DedupMethods { return &p.Dedup.Methods }),
		knob.At(knob.Spec{
			Name: "dedup.cancel", Kind: knob.Choice, Choices: []string{"last", "first"},
			Doc: "a flight is given up when the last of its requests is cancelled, or with the first",
		}, func(p *Policy) *DedupCancel { return &p.Dedup.Cancel }),
	}
}
