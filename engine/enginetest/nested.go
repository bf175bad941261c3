package enginetest

import (
	"herdscope/engine"
	"herdscope/engine/wire"
)

type laneKey struct {
	client wire.ClientID
	scope  uint8
	level  uint8
}

// nest gives a request that begins its parent. It is refused if that is over, and
// must be if it is less important: one that is taken in is made as important.
func (c *Checker) nest(e wire.Event, r *track) {
	if e.Parent == 0 {
		return
	}
	r.parent = c.requests[key{e.ID.Client, e.Parent}]
	if r.parent == nil || r.class > r.parent.class {
		r.parent, r.refused = nil, true
		return
	}
	r.parent.kids++
	r.level = min(r.parent.level+1, engine.MaxNesting)
	p := c.policy()
	r.lane = p.Queue.Nested == engine.NestedLane
}

// slots counts the slots of a lane or a class that a request takes, or gives back.
func (c *Checker) slots(e wire.Event, r *track, n int) {
	if r.lane {
		c.lanes[laneKey{e.ID.Client, e.Scope, r.level}] += n
		return
	}
	s := c.scope(e)
	s.running[e.Class] += n
	c.must(s.running[e.Class] >= 0, "%v: %d attempts in flight", e.ID, s.running[e.Class])
}

// release takes the slot from an attempt that has ended.
func (c *Checker) release(e wire.Event, r *track) {
	c.slots(e, r, -1)
	c.scope(e).inFlight--
}

// sendNested checks that a lane has a slot for one more.
func (c *Checker) sendNested(e wire.Event, r *track, limit int) {
	n := c.lanes[laneKey{e.ID.Client, e.Scope, r.level}]
	c.must(limit == 0 || n < limit, "%v: all %d slots of its lane are taken", e.ID, n)
}

// keep lets a parent keep its slot, its reply being there.
func (c *Checker) keep(e wire.Event, r *track) {
	c.move(e, r, nesting)
	c.slots(e, r, 1)
	if !r.lane {
		c.scope(e).kept++
	}
}

// deadlock checks that one that is said to wait in vain does: its parent keeps a
// slot meanwhile, and so does whoever has one that it could get.
func (c *Checker) deadlock(e wire.Event, r *track) {
	r.knotted = true
	c.must(r.stage == queued || r.stage == held, "%v waits for nothing (stage %d)", e.ID, r.stage)
	c.must(r.parent != nil && r.parent.stage == nesting, "%v holds no parent up", e.ID)
	p, s := c.policy(), c.scope(e)
	if r.lane || r.stage == held || p.Queue.Protect || p.Queue.Class[e.Class].Most > 0 {
		return
	}
	c.must(s.kept >= s.limitUnder(&p), "%v could get a slot when attempts end: %d of %d are kept",
		e.ID, s.kept, s.limitUnder(&p))
}

// unnest sees to the slot and the family of a request that has ended.
func (c *Checker) unnest(e wire.Event, r *track, was stage) {
	if was == nesting {
		c.slots(e, r, -1)
		if !r.lane {
			c.scope(e).kept--
		}
	}
	c.must(r.knotted == (e.Cause == wire.CauseNestedDeadlock && e.Outcome == wire.Failed),
		"%v ended as %v for %v, knotted=%v", e.ID, e.Outcome, e.Cause, r.knotted)
	c.must(e.Outcome != wire.Succeeded || r.kids == 0, "%v succeeded before %d nested in it", e.ID, r.kids)
	if r.parent != nil {
		r.parent.kids--
		c.must(r.parent.stage != over || e.Outcome == wire.Cancelled, "%v ended as %v after its parent",
			e.ID, e.Outcome)
	}
}

// nested checks that nobody outlives a parent or is less important, and that as many
// parents wait as the machines count.
func (c *Checker) nested(counts engine.Counts) {
	waiting := 0
	for k, r := range c.requests {
		if r.stage == nesting {
			waiting++
		}
		c.must(r.parent == nil || r.parent.stage != over, "%v outlives its parent", k)
		c.must(r.parent == nil || r.parent.class >= r.class, "%v is less important than its parent", k)
	}
	c.must(waiting == counts.Nesting, "%d parents wait, %+v", waiting, counts)
}
