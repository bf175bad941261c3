// Package queue keeps the requests that wait for a slot of one scope, by class,
// and says whose turn it is.
//
// A Queue holds small integer handles; what they stand for is the caller's
// business. It reads no clock and imports only clock and wire.
package queue

import (
	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// Queue is the waiting requests of one scope. The zero Queue is empty. Within a
// class they are ordered by the moment and the number that Push was given, so
// that a retry which comes back with its first moment keeps its place.
type Queue struct {
	class [wire.NumClasses]clock.Index
}

// Push lets the handle wait in class c, as of the moment since. Of two with the
// same moment, the one with the lower number is first.
func (q *Queue) Push(handle int32, c wire.Class, since clock.Instant, number uint64) {
	q.class[c].SetOrdered(handle, since, number)
}

// Remove takes the handle out of class c; it does nothing if it is not there.
func (q *Queue) Remove(handle int32, c wire.Class) { q.class[c].Clear(handle) }

// Head is the first handle of class c and its moment; false if none waits.
func (q *Queue) Head(c wire.Class) (handle int32, since clock.Instant, ok bool) {
	return q.class[c].Min()
}

// Len is how many handles wait, in all classes.
func (q *Queue) Len() int {
	n := 0
	for c := range q.class {
		n += q.class[c].Len()
	}
	return n
}

// LenOf is how many handles wait in class c.
func (q *Queue) LenOf(c wire.Class) int { return q.class[c].Len() }

// Allowed says of each class whether one of its requests may start.
type Allowed [wire.NumClasses]bool

// Next is whose turn it is among the allowed classes; false if nobody's. The
// handle stays in the queue.
func (q *Queue) Next(o Order, allowed Allowed) (handle int32, c wire.Class, ok bool) {
	var earliest clock.Instant
	for i := range q.class {
		h, since, waits := q.class[i].Min()
		if !waits || !allowed[i] {
			continue
		}
		if o == Strict {
			return h, wire.Class(i), true
		}
		if !ok || since < earliest {
			handle, c, earliest, ok = h, wire.Class(i), since, true
		}
	}
	return handle, c, ok
}
