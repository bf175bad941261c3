package queue

import "herdscope/engine/clock"

// FIFO serves in the order of submission, whatever the class. A request waits
// for those that came before it and for nobody else.
const FIFO Order = 1

func init() {
	register(FIFO, rule{
		name:  "fifo",
		bound: "nobody who came later goes first",
		turn: func(q *Queue, _ clock.Instant, may Allowed) int32 {
			return q.first(&q.placed, place, may)
		},
	})
}
