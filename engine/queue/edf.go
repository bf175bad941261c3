package queue

import "herdscope/engine/clock"

// EDF serves the earliest deadline first, whatever the class; those without one
// go last, by submission. With Config.Estimate it drops those that could not be
// done by their deadline any more, since in overload the order would else send
// everything when it is just too late. A request with a deadline is sent, or
// dropped, before its deadline less the estimate; one without waits as long as
// there are others.
const EDF Order = 4

func init() {
	register(EDF, rule{
		name:  "edf",
		bound: "its deadline, less queue.estimate; none for a request without a deadline",
		rank:  due,
		turn: func(q *Queue, _ clock.Instant, may Allowed) int32 {
			return q.first(q.ranked, due, may)
		},
		expires: func(q *Queue, _ clock.Instant, w *Waiter) clock.Instant {
			if w.Deadline == clock.Never {
				return clock.Never
			}
			return w.Deadline.Add(-q.config.Estimate)
		},
	})
}

// due ranks by deadline; number settles ties, and so the line of those without.
func due(_ *Config, w *Waiter) rank { return rank{w.Deadline, w.Number} }
