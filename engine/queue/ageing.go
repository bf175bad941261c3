package queue

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// Ageing serves by submission, but gives each class a head start of
// Config.Ageing over the next. A request of a class is overtaken only by those
// that come less than Config.Ageing times the difference in class after it.
const Ageing Order = 3

func init() {
	register(Ageing, rule{
		name: "ageing",
		bound: "queue.ageing x the difference in class: nobody who came later than that after it " +
			"goes first",
		turn: func(q *Queue, _ clock.Instant, may Allowed) int32 {
			return q.first(&q.placed, aged, may)
		},
	})
}

// aged is the place that a request would have in line had it come earlier, the
// more so the more important it is. The head start is the same for a whole class,
// so that a class's line by place is its line by age as well.
func aged(c *Config, w *Waiter) rank {
	r := place(c, w)
	importance := time.Duration(wire.NumClasses - 1 - int(w.Class))
	r.at = r.at.Add(-orElse(c.Ageing, DefaultAgeing) * importance)
	return r
}
