package queue

import "herdscope/engine/clock"

// AdaptiveLIFO is FIFO, unless the queue has not been empty for
// Config.CodelInterval: such a standing queue is served newest first, because
// those who have just come are the likeliest to be still of use. Who joins a
// standing queue may wait Config.CodelTarget, everybody else the interval; then
// they are shed. (B. Maurer, "Fail at Scale", ACM Queue 13(8), 2015.) Nobody
// waits longer than the interval at a stretch.
const AdaptiveLIFO Order = 6

func init() {
	register(AdaptiveLIFO, rule{
		name:  "adaptive-lifo",
		bound: "queue.codel_interval: whoever has not had a turn by then is shed",
		rank:  newest,
		turn: func(q *Queue, now clock.Instant, may Allowed) int32 {
			if q.stands(now) {
				return q.first(q.ranked, newest, may)
			}
			return q.first(&q.placed, place, may)
		},
		expires: func(q *Queue, now clock.Instant, _ *Waiter) clock.Instant {
			if q.stands(now) {
				return now.Add(q.config.codelTarget())
			}
			return now.Add(q.config.codelInterval())
		},
		sheds: true,
	})
}

// stands says whether somebody has been waiting for the whole last interval.
func (q *Queue) stands(now clock.Instant) bool {
	return now.Sub(q.emptied) > q.config.codelInterval()
}
