package queue

import "herdscope/engine/clock"

// Defer gives one who waits another deadline. It keeps the place that it has by
// its coming, and an order that goes by deadlines ranks it anew.
func (q *Queue) Defer(handle int32, deadline clock.Instant) {
	w := &q.waiter[handle]
	if w.Deadline == deadline {
		return
	}
	w.Deadline = deadline
	at := place(&q.config, w)
	q.placed[w.Class].SetOrdered(handle, at.at, at.number)
	if q.config.Order == EDF {
		q.join(w.Entered, w)
	}
}
