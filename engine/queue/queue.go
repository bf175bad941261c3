// Package queue keeps the requests that wait for a slot of one scope, by class,
// and says whose turn it is.
//
// A Queue holds small integer handles; what they stand for is the caller's
// business. Who goes first is an Order. The orders are data: a rule each, in a
// file each, and a table of them. All that a rule sorts by is in the Waiter, and
// never in the time of the question, so that the order can be changed while
// requests wait, and none of them loses its place.
//
// It reads no clock and imports only clock and wire.
package queue

import (
	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// lines is those who wait in each class, in some order.
type lines [wire.NumClasses]clock.Index

// Queue is the waiting requests of one scope. The zero Queue is empty, and
// strict until Use. It allocates only for more handles than it ever had, and
// when the order changes.
type Queue struct {
	config Config
	waiter []Waiter // by handle
	placed lines    // by place
	ranked *lines   // by the rank of the rule; nil if it has none
	round  round
	// emptied is the last moment at which nobody waited.
	emptied clock.Instant
}

// Use makes c the rules from now on, and says whether the order changed. Those
// who wait keep their places; what an order lets them wait counts from now.
func (q *Queue) Use(now clock.Instant, c Config) (reordered bool) {
	if c == q.config {
		return false
	}
	reordered = c.Order != q.config.Order
	q.config = c
	if reordered {
		q.reorder(now)
	}
	return reordered
}

// reorder ranks those who wait by the present rule.
func (q *Queue) reorder(now clock.Instant) {
	q.round, q.ranked = round{}, nil
	if rules[q.config.Order].rank != nil {
		q.ranked = new(lines)
	}
	for h := range q.waiter {
		w := &q.waiter[h]
		if _, waits := q.placed[w.Class].At(int32(h)); waits {
			q.join(now, w)
		}
	}
}

// Push lets w wait, whose handle must not be in the queue. It returns the moment
// at which w will have waited too long for the order, which may be past; it is
// clock.Never for orders without patience. Taking w out then is the caller's.
func (q *Queue) Push(w Waiter) (expires clock.Instant) {
	if q.Len() == 0 {
		q.emptied = w.Entered
	}
	for int(w.Handle) >= len(q.waiter) {
		q.waiter = append(q.waiter, Waiter{})
	}
	kept := &q.waiter[w.Handle]
	*kept = w
	at := place(&q.config, kept)
	q.placed[w.Class].SetOrdered(w.Handle, at.at, at.number)
	q.join(w.Entered, kept)
	return kept.expires
}

// join does what the present rule wants of one who waits.
func (q *Queue) join(now clock.Instant, w *Waiter) {
	r := &rules[q.config.Order]
	w.expires = clock.Never
	if r.expires != nil {
		w.expires = r.expires(q, now, w)
	}
	if r.rank != nil {
		at := r.rank(&q.config, w)
		q.ranked[w.Class].SetOrdered(w.Handle, at.at, at.number)
	}
}

// Remove takes the handle out of class c; it does nothing if it is not there.
func (q *Queue) Remove(handle int32, c wire.Class) {
	q.placed[c].Clear(handle)
	if q.ranked != nil {
		q.ranked[c].Clear(handle)
	}
	if q.placed[c].Len() == 0 {
		q.round.leave(c)
	}
}

// Reclass gives a handle that waits another class and deadline. It keeps its age:
// it goes to the place in the line of that class which it would have had by now.
// How long the order has it wait counts from when it joined, as before.
func (q *Queue) Reclass(now clock.Instant, handle int32, to wire.Class, deadline clock.Instant) {
	w := &q.waiter[handle]
	q.Remove(handle, w.Class)
	w.Class, w.Deadline = to, deadline
	expires, at := w.expires, place(&q.config, w)
	q.placed[to].SetOrdered(handle, at.at, at.number)
	q.join(now, w)
	if q.Sheds() {
		w.expires = expires
	}
}

// Expires is when a handle that waits will have waited too long for the order;
// clock.Never if it may wait for ever.
func (q *Queue) Expires(handle int32) clock.Instant { return q.waiter[handle].expires }

// Sheds says what becomes of those who have waited too long: true if they are
// shed as one too many, false if they have as good as missed their deadline.
func (q *Queue) Sheds() bool { return rules[q.config.Order].sheds }

// Head is the handle that class c has waiting longest, by its place, and when
// it came; false if none waits. It may not be the one that goes first.
func (q *Queue) Head(c wire.Class) (handle int32, came clock.Instant, ok bool) {
	handle, _, ok = q.placed[c].Min()
	if !ok {
		return handle, clock.Never, false
	}
	return handle, q.waiter[handle].Came, true
}

// Len is how many handles wait, in all classes.
func (q *Queue) Len() int {
	n := 0
	for c := range q.placed {
		n += q.placed[c].Len()
	}
	return n
}

// LenOf is how many handles wait in class c.
func (q *Queue) LenOf(c wire.Class) int { return q.placed[c].Len() }

// Allowed says of each class whether one of its requests may start.
type Allowed [wire.NumClasses]bool

// Next gives the turn to one handle of the allowed classes; false if none of
// them waits. The handle stays in the queue, but its class has had the turn:
// the caller takes it out, to send it or to end it.
func (q *Queue) Next(now clock.Instant, allowed Allowed) (handle int32, c wire.Class, ok bool) {
	for i := range allowed {
		allowed[i] = allowed[i] && q.placed[i].Len() > 0
		ok = ok || allowed[i]
	}
	if !ok {
		return -1, 0, false
	}
	handle = rules[q.config.Order].turn(q, now, allowed)
	return handle, q.waiter[handle].Class, true
}

// first is the handle with the least rank among the heads of some classes' lines.
// Inside a class the rank must agree with what the line is sorted by.
func (q *Queue) first(in *lines, by ranking, may Allowed) int32 {
	first, least := int32(-1), rank{}
	for c := range in {
		if !may[c] {
			continue
		}
		h, _, _ := in[c].Min()
		if r := by(&q.config, &q.waiter[h]); first < 0 || r.before(least) {
			first, least = h, r
		}
	}
	return first
}

// head is the handle that is first in class c by its place.
func (q *Queue) head(c int) int32 {
	h, _, _ := q.placed[c].Min()
	return h
}
