package engine

import (
	"time"

	"herdscope/engine/knob"
	"herdscope/engine/queue"
	"herdscope/engine/wire"
)

// order is a scope's order with what it is tuned with.
func (q *Queue) order() queue.Config {
	c := queue.Config{
		Order: q.Order, Ageing: q.Ageing, Estimate: q.Estimate,
		CodelTarget: q.CodelTarget, CodelInterval: q.CodelInterval,
	}
	for i := range q.Class {
		c.Weight[i] = q.Class[i].Turns
	}
	return c
}

// reorder lets a scope's queue have the present order. If that is another one,
// those who wait already get new timers, and those who would have to be gone by
// now, go.
func (m *Machine) reorder(s uint8) {
	changed := m.scopes[s].queue.Use(m.now, m.policy.Queue.order())
	for i := int(s); i < len(m.lanes); i += len(m.scopes) {
		changed = m.lanes[i].queue.Use(m.now, m.policy.Queue.order()) || changed
	}
	if !changed {
		return
	}
	for h := range int32(len(m.requests)) {
		if r := &m.requests[h]; r.place == inQueue && r.Scope == s {
			m.await(h)
		}
	}
}

// waiter is what the order has to know of a request that joins its queue.
func (m *Machine) waiter(h int32) queue.Waiter {
	r := &m.requests[h]
	w := queue.Waiter{
		Handle: h, Class: r.Class, Came: r.came, Number: r.number, Entered: m.now,
		Deadline: r.deadline,
	}
	if r.try > 0 {
		w.Reentry = m.policy.Queue.Requeue
	}
	if w.Reentry == queue.Tail {
		m.joined++
		w.Number = m.joined
	}
	return w
}

// await sets the timer of a request that waits: for its deadline, for the end of
// the order's patience, or for its promotion, whichever is earliest. If one of the
// first two has come, the request ends: by CoDel it is shed, since it is one too
// many, and by EDF it has missed its deadline, since it could not be in time any
// more.
func (m *Machine) await(h int32) {
	r := &m.requests[h]
	q := m.line(r)
	if at := min(r.deadline, q.Expires(h)); at > m.now {
		up := m.promoteAt(r)
		if up <= m.now {
			m.promote(h)
			return
		}
		m.setTimer(h, min(at, up))
		return
	}
	m.leaveQueue(h)
	if r.deadline > m.now && q.Sheds() {
		r.cause = wire.CauseElapsed
		m.finish(h, wire.Shed)
		return
	}
	r.cause = wire.CauseDeadline
	m.finish(h, m.late(r))
}

func orderFields() []knob.Field[Policy] {
	return []knob.Field[Policy]{
		knob.At(knob.Spec{
			Name: "queue.order", Kind: knob.Choice, Choices: queue.OrderNames(),
			Doc: "who goes first: by class, coming, weight, age or deadline, or the newest",
		}, func(p *Policy) *queue.Order { return &p.Queue.Order }),
		knob.At(knob.Spec{
			Name: "queue.requeue", Kind: knob.Choice, Choices: queue.RequeueNames(),
			Doc: "where a retry comes back in: with its old place, before all, or behind all",
		}, func(p *Policy) *queue.Requeue { return &p.Queue.Requeue }),
		knob.At(knob.Spec{
			Name: "queue.ageing", Kind: knob.Duration,
			Min: leastTime, Max: maxWait, Step: int64(time.Second), Zero: "default",
			Doc: "order ageing: the head start of a class over the next; by default 5s",
		}, func(p *Policy) *time.Duration { return &p.Queue.Ageing }),
		knob.At(knob.Spec{
			Name: "queue.estimate", Kind: knob.Duration,
			Min: leastTime, Max: maxWait, Step: int64(100 * time.Millisecond), Zero: "off",
			Doc: "order edf: whoever is this close to the deadline is not sent any more",
		}, func(p *Policy) *time.Duration { return &p.Queue.Estimate }),
		knob.At(knob.Spec{
			Name: "queue.codel_target", Kind: knob.Duration,
			Min: leastTime, Max: maxWait, Step: int64(5 * time.Millisecond), Zero: "default",
			Doc: "order adaptive-lifo: the longest wait in a standing queue; by default 5ms",
		}, func(p *Policy) *time.Duration { return &p.Queue.CodelTarget }),
		knob.At(knob.Spec{
			Name: "queue.codel_interval", Kind: knob.Duration,
			Min: leastTime, Max: maxWait, Step: int64(100 * time.Millisecond), Zero: "default",
			Doc: "order adaptive-lifo: a queue stands if not empty for this long; by default 100ms",
		}, func(p *Policy) *time.Duration { return &p.Queue.CodelInterval }),
	}
}

func turnsField(class wire.Class) knob.Field[Policy] {
	return knob.At(knob.Spec{
		Name: "queue." + class.String() + ".turns", Kind: knob.Int, Unit: "turns",
		Min: 1, Max: 100, Step: 1, Zero: "default",
		Doc: "order weighted: how many turns the class has in a round; by default 4, 2 and 1",
	}, func(p *Policy) *int { return &p.Queue.Class[class].Turns })
}

// checkOrder refuses an estimate with which edf would give up all of a class.
func (p *Policy) checkOrder() error {
	q := &p.Queue
	if q.Order != queue.EDF || q.Estimate == 0 {
		return nil
	}
	for i := range q.Class {
		name, limit := "queue."+wire.Class(i).String()+".deadline", q.Class[i].Deadline
		if limit > 0 && q.Estimate >= limit {
			return p.fail("queue.estimate", "is not below "+name,
				"less than "+format(name, int64(limit))+" under edf, or off")
		}
	}
	return nil
}
