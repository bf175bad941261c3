package queue

import (
	"math"

	"herdscope/engine/clock"
)

// LIFO serves the newest first, whatever the class. A retry is as new as its
// submission. Nothing bounds the wait of the others.
const LIFO Order = 5

func init() {
	register(LIFO, rule{
		name:  "lifo",
		bound: "none: a request waits as long as newer ones come",
		rank:  newest,
		turn: func(q *Queue, _ clock.Instant, may Allowed) int32 {
			return q.first(q.ranked, newest, may)
		},
	})
}

// newest ranks by submission, the latest first. It turns bits and not signs,
// since the earliest instant has no opposite.
func newest(_ *Config, w *Waiter) rank {
	switch w.Reentry {
	case Head:
		return rank{math.MinInt64, w.Number}
	case Tail:
		return rank{clock.Never, w.Number}
	}
	return rank{^w.Came, ^w.Number}
}
