package engine

import (
	"herdscope/engine/knob"
	"herdscope/engine/queue"
	"herdscope/engine/wire"
)

// NestedRule is which slots nested requests take: those that are submitted with a
// Parent, which keeps its own slot until they have ended.
type NestedRule uint8

// The rules.
const (
	// NestedLane gives nested requests slots and a queue of their own in each
	// scope, and each level of nesting its own, so that none waits for what its
	// parent, or anybody's, holds.
	NestedLane NestedRule = iota
	// NestedShared lets them queue with all others of their scope. If every slot
	// that one could get is held by parents whose own nested requests wait like
	// it, none of them can ever go on. Such a deadlock is named in the Step in
	// which it arises, and broken: the nested request that came last of those
	// that wait in it ends as failed, for the cause nested_deadlock.
	NestedShared
)

// MaxNesting is how many levels of nested requests have lanes of their own. What
// is deeper shares the last one.
const MaxNesting = 8

// lane is the slots and the queue of the nested requests of one level in a scope.
// The limits of classes and window protection have no part in it.
type lane struct {
	queue   queue.Queue
	running int32
	kept    int32 // slots of parents whose reply is there
	stuck   int32 // of those, for the length of knot, the ones that cannot end
}

// nesting is what a request has to do with nested ones.
type nesting struct {
	parent int32 // a handle plus one; 0 is none
	level  uint8 // how many requests it is inside of
	lane   int32 // an index into the lanes plus one; 0 is the scope's own slots
	owed   int32 // nested ones that are still to be submitted
	kids   int32 // nested ones that have not ended
	failed bool  // some nested one did not succeed
	// stuck and stuckKids say, for the length of knot, that it cannot go on, and
	// how many of its nested ones cannot.
	stuck     bool
	stuckKids int32
}

// adopt gives a request that has come its parent, if it names one; false if there
// is none, or one that expects no more. It is of a class that is not less
// important than the parent's, whose slot it keeps busy.
func (m *Machine) adopt(h int32) bool {
	r := &m.requests[h]
	r.owed = int32(r.Children)
	if r.Parent == 0 {
		return true
	}
	p, ok := m.find(r.Parent)
	if !ok || m.requests[p].owed == 0 {
		return false
	}
	parent := &m.requests[p]
	parent.owed--
	parent.kids++
	r.parent, r.level = p+1, min(parent.level+1, MaxNesting)
	r.Class = min(r.Class, parent.Class)
	if m.policy.Queue.Nested == NestedLane {
		r.lane = m.laneOf(r)
	}
	return true
}

// laneOf is the lane of a nested request, an index plus one.
func (m *Machine) laneOf(r *request) int32 {
	i := int(r.level-1)*len(m.scopes) + int(r.Scope)
	for i >= len(m.lanes) {
		m.lanes = append(m.lanes, lane{})
	}
	return int32(i) + 1
}

// line is the queue that a request waits in.
func (m *Machine) line(r *request) *queue.Queue {
	if r.lane > 0 {
		return &m.lanes[r.lane-1].queue
	}
	return &m.scopes[r.Scope].queue
}

// occupy takes n slots for attempts of a request; a negative n gives them back.
func (m *Machine) occupy(r *request, n int32) {
	if r.lane > 0 {
		m.lanes[r.lane-1].running += n
		return
	}
	m.scopes[r.Scope].running[r.Class] += n
}

// keep takes n slots for a parent whose reply is there.
func (m *Machine) keep(r *request, n int32) {
	m.counts.Nesting += int(n)
	m.touch(r.Scope)
	if r.lane > 0 {
		m.lanes[r.lane-1].kept += n
		return
	}
	m.scopes[r.Scope].kept[r.Class] += n
}

// dispatchLanes gives the slots of a scope's lanes away.
func (m *Machine) dispatchLanes(s uint8) {
	for i := int(s); i < len(m.lanes); i += len(m.scopes) {
		for m.laneOpen(i) && !m.heldBack(s) {
			h, _, ok := m.lanes[i].queue.Next(m.now, queue.Allowed{true, true, true})
			if !ok {
				break
			}
			m.start(h)
		}
	}
}

// laneOpen says whether one more nested request may start in a lane. A scope that
// is paused pauses its lanes.
func (m *Machine) laneOpen(i int) bool {
	if m.slots(&m.scopes[i%len(m.scopes)]) == 0 {
		return false
	}
	limit := m.policy.Queue.NestedLimit
	return limit == 0 || int(m.lanes[i].running+m.lanes[i].kept) < limit
}

// inLanes is how many attempts of a scope's lanes are in flight.
func (m *Machine) inLanes(s uint8) (n int32) {
	for i := int(s); i < len(m.lanes); i += len(m.scopes) {
		n += m.lanes[i].running
	}
	return n
}

// succeed ends a request whose attempt has brought a good reply, or lets it keep
// its slot until the nested requests that it has have ended. For the breaker it
// is over in any case.
func (m *Machine) succeed(h int32) {
	r := &m.requests[h]
	if r.owed+r.kids == 0 {
		m.finish(h, wire.Succeeded)
		return
	}
	m.requestDone(r, wire.Succeeded)
	r.place, r.since = nested, m.now
	m.keep(r, 1)
	m.setTimer(h, r.deadline)
	m.report(m.event(wire.RequestNesting, r))
	m.fulfil(h)
}

// fulfil ends a parent that has its reply, and whose nested requests have ended.
func (m *Machine) fulfil(h int32) {
	r := &m.requests[h]
	if r.place != nested || r.owed+r.kids > 0 {
		return
	}
	if r.failed {
		r.cause = wire.CauseChild
		m.finish(h, wire.Failed)
		return
	}
	m.finish(h, wire.Succeeded)
}

// letGo gives the slot of a parent back that ends.
func (m *Machine) letGo(r *request) {
	m.keep(r, -1)
	m.freed |= 1 << r.Scope
}

// family sees to those who are tied to a request that has ended: its nested ones
// end with it, as cancelled, and its own parent may have waited for it alone.
func (m *Machine) family(h int32, outcome wire.Outcome) {
	r := &m.requests[h]
	for k := 0; r.kids > 0; k++ {
		if child := &m.requests[k]; m.ids[k] != 0 && child.parent == h+1 {
			child.parent = 0
			r.kids--
			m.freed |= 1 << child.Scope
			m.giveUp(int32(k))
		}
	}
	if r.parent == 0 {
		return
	}
	p := &m.requests[r.parent-1]
	p.kids--
	p.failed = p.failed || outcome != wire.Succeeded && outcome != wire.Degraded
	m.fulfil(r.parent - 1)
}

func nestedFields() []knob.Field[Policy] {
	return []knob.Field[Policy]{
		knob.At(knob.Spec{
			Name: "queue.nested", Kind: knob.Choice, Choices: []string{"lane", "shared"},
			Doc: "slots of requests whose parent holds one meanwhile: their own, or the scope's",
		}, func(p *Policy) *NestedRule { return &p.Queue.Nested }),
		knob.At(knob.Spec{
			Name: "queue.nested_limit", Kind: knob.Int, Unit: "slots",
			Min: 1, Max: maxSlots, Step: 1, Zero: "unlimited",
			Doc: "nested lane: slots of a client for nested requests, per scope and level of nesting",
		}, func(p *Policy) *int { return &p.Queue.NestedLimit }),
	}
}
