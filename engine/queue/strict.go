package queue

import "herdscope/engine/clock"

// Strict serves the most important class first, and each class in the order of
// submission. Nothing bounds the wait of a lesser class, but slots can be kept
// for it.
const Strict Order = 0

func init() {
	register(Strict, rule{
		name:  "strict",
		bound: "none: a class waits as long as a more important one has work",
		turn: func(q *Queue, _ clock.Instant, may Allowed) int32 {
			c := 0
			for !may[c] {
				c++
			}
			return q.head(c)
		},
	})
}
