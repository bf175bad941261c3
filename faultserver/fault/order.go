package fault

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/queue"
	"herdscope/engine/wire"
)

// Order is which attempt of a backlog is served next.
type Order uint8

// The orders of a backlog.
const (
	// FIFO is first come, first served.
	FIFO Order = iota
	// LIFO is last come, first served.
	LIFO
	// AdaptiveLIFO is FIFO, and LIFO while the queue stands: see Codel, whose
	// times it keeps as well.
	AdaptiveLIFO
	// Codel is FIFO, and answers with 503 whoever has waited too long: longer
	// than the target, for those who join a queue that has not been empty for a
	// whole interval, and else longer than the interval. That is CoDel as servers
	// use it for requests (B. Maurer, "Fail at Scale", ACM Queue 13(8), 2015),
	// after K. Nichols and V. Jacobson, "Controlling Queue Delay", ACM Queue
	// 10(5), 2012, which is for packets.
	Codel
	// Priority serves the most important class first, and each class first come,
	// first served. It never takes a worker away from anybody.
	Priority
)

// everyClass lets every class go.
var everyClass = func() (all queue.Allowed) {
	for i := range all {
		all[i] = true
	}
	return all
}()

// queueConfig is an order as package queue knows it.
func (c *Config) queueConfig(o Order) queue.Config {
	q := queue.Config{
		Order: queue.FIFO, CodelTarget: c.CodelTarget, CodelInterval: c.CodelInterval,
	}
	switch o {
	case LIFO:
		q.Order = queue.LIFO
	case AdaptiveLIFO:
		q.Order = queue.AdaptiveLIFO
	case Priority:
		q.Order = queue.Strict
	}
	return q
}

// codel is the times of CoDel, with those that are not set at their defaults.
func (c *Config) codel() (target, interval time.Duration) {
	q := c.queueConfig(FIFO).WithDefaults()
	return q.CodelTarget, q.CodelInterval
}

// enqueue puts a job into the backlog of its service.
func (s *Server) enqueue(slot int32) {
	j := &s.jobs.table[slot]
	p := &s.pools[j.service]
	if p.backlog.Len() == 0 {
		p.emptied = s.now
	}
	j.stage = inBacklog
	p.backlog.Push(queue.Waiter{
		Handle: slot, Class: j.attempt.Class, Came: j.arrived, Number: j.number,
		Entered: s.now, Deadline: clock.Never,
	})
	s.setPatience(p, slot)
}

// setPatience notes until when one of the backlog may wait who joins it now.
func (s *Server) setPatience(p *pool, slot int32) {
	until := p.backlog.Expires(slot)
	if p.Order == Codel {
		target, interval := s.config.codel()
		if s.now.Sub(p.emptied) <= interval {
			target = interval
		}
		until = s.now.Add(target)
	}
	s.patience.Clear(slot)
	if until != clock.Never {
		s.patience.SetOrdered(slot, until, s.jobs.table[slot].number)
	}
}

// reorder gives everybody in a backlog the patience of its new order.
func (s *Server) reorder(service uint8) {
	for slot := s.jobs.first; slot != none; slot = s.jobs.table[slot].next {
		if j := &s.jobs.table[slot]; j.service == service && j.stage == inBacklog {
			s.setPatience(&s.pools[service], slot)
		}
	}
}

// oldest is the one of a backlog that came first; false if nobody waits.
func (s *Server) oldest(p *pool) (slot int32, ok bool) {
	slot = none
	for c := range wire.Class(wire.NumClasses) {
		head, _, ok := p.backlog.Head(c)
		if ok && (slot == none || s.jobs.table[head].number < s.jobs.table[slot].number) {
			slot = head
		}
	}
	return slot, slot != none
}

// lapse turns away whoever has waited longer than the order lets it.
func (s *Server) lapse(slot int32, out []wire.ServerEffect) []wire.ServerEffect {
	return s.takeUp(s.drop(slot, tooLate, out))
}
