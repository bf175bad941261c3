package metrics

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// sockets is the attempts that have a slot and wait for a connection.
type sockets struct {
	places  table[int32] // where a request is in waiting
	waiting []waiter     // in no order
	waits   times        // of those that do not wait any more
	unsent  int64
	// connected is the request whose wait ended last with a connection, so that
	// the next to be sent is known to have waited.
	connected uint64
	// sum is where waits that are over and waits that go on are put together.
	sum times
}

// SocketView is the attempts that had to wait for a connection: where clients have
// a number of them, an attempt with a slot may find none.
type SocketView struct {
	// Waiting is how many wait now, Oldest how long the oldest of them has.
	Waiting int64
	Oldest  time.Duration
	// Waits are of all that had to wait, those included that still do. Attempts
	// that found a connection at once are not among them.
	Waits Percentiles
	// Unsent is how many of them ended while they waited, and were never sent.
	Unsent int64
}

func newSockets() sockets {
	return sockets{places: newTable[int32](), waits: newTimes(waitDigits), sum: newTimes(waitDigits)}
}

// socketQueued takes in an attempt that has its slot and waits for a connection.
func (c *Collector) socketQueued(e *wire.Event) {
	c.slotGiven(e)
	s := &c.sockets
	if s.places.put(requestKey(e.ID), int32(len(s.waiting))) {
		s.waiting = append(s.waiting, waiter{requestKey(e.ID), e.At})
	}
}

// leave takes in that a wait is over.
func (s *sockets) leave(e *wire.Event) {
	key := requestKey(e.ID)
	i, ok := s.places.take(key)
	if !ok {
		return
	}
	last := len(s.waiting) - 1
	if moved := s.waiting[last]; moved.key != key {
		s.waiting[i] = moved
		*s.places.at(moved.key) = i
	}
	s.waiting = s.waiting[:last]
	s.waits.record(e.Delay)
	if e.Cause == wire.CauseNone {
		s.connected = key
	} else {
		s.unsent++
	}
}

// sent says whether an attempt that is sent had waited for a connection.
func (s *sockets) sent(e *wire.Event) bool {
	waited := s.connected == requestKey(e.ID)
	s.connected = 0
	return waited
}

func (s *sockets) view(now clock.Instant) SocketView {
	v := SocketView{Waiting: int64(len(s.waiting)), Unsent: s.unsent}
	s.sum.reset()
	s.sum.merge(&s.waits)
	for i := range s.waiting {
		age := max(0, now.Sub(s.waiting[i].since))
		v.Oldest = max(v.Oldest, age)
		s.sum.record(age)
	}
	v.Waits = s.sum.percentiles()
	return v
}

// sockets checks that the attempts that wait are among those that had to.
func (c *checker) sockets(v SocketView) {
	c.atLeast("attempts that had to wait for a connection", v.Waits.Count, v.Waiting+v.Unsent)
	c.ordered("wait for a connection", v.Waits.P50, v.Waits.P90, v.Waits.P99, v.Waits.Max)
	c.ordered("oldest wait for a connection", v.Oldest, v.Waits.Max)
}
