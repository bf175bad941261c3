package run

import (
	"slices"
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/queue"
	"herdscope/engine/wire"
)

// recount keeps all that happened in queues, and counts by brute force.
type recount struct {
	queues    map[queueOf]*[wire.NumClasses]lane
	waiting   map[wire.AttemptID]*stay
	overtaken [wire.NumClasses]int64
	average   [wire.NumClasses]float64
}

type queueOf struct {
	client wire.ClientID
	scope  uint8
}

// lane is the history of one class in one queue.
type lane struct {
	stays  []*stay
	starts []clock.Instant
}

type stay struct{ from, to clock.Instant }

func (r *recount) Observe(e wire.Event) {
	lanes := r.queues[queueOf{e.ID.Client, e.Scope}]
	if lanes == nil {
		lanes = new([wire.NumClasses]lane)
		r.queues[queueOf{e.ID.Client, e.Scope}] = lanes
	}
	own := &lanes[e.Class]
	id := wire.AttemptID{Client: e.ID.Client, Request: e.ID.Request}
	switch e.Kind {
	case wire.RequestQueued:
		s := &stay{from: e.At, to: clock.Never}
		own.stays = append(own.stays, s)
		r.waiting[id] = s
	case wire.RequestDequeued:
		r.waiting[id].to = e.At
		delete(r.waiting, id)
	case wire.AttemptSent:
		own.starts = append(own.starts, e.At)
		r.average[e.Class] = 0.9*r.average[e.Class] + 0.1*float64(e.Delay)
		for c := range lanes {
			for _, s := range lanes[c].stays {
				if c != int(e.Class) && s.to == clock.Never && s.from < e.At.Add(-e.Delay) {
					r.overtaken[c]++
				}
			}
		}
	}
}

// gap is the longest time without a start while somebody waited, up to the end.
func (l *lane) gap(end clock.Instant) (longest time.Duration) {
	for i := 0; i < len(l.stays); {
		from, to := l.stays[i].from, min(l.stays[i].to, end)
		for i++; i < len(l.stays) && l.stays[i].from < to; i++ {
			to = max(to, min(l.stays[i].to, end))
		}
		moments := []clock.Instant{from, to}
		for _, at := range l.starts {
			if at > from && at < to {
				moments = append(moments, at)
			}
		}
		slices.Sort(moments)
		for k := 1; k < len(moments); k++ {
			longest = max(longest, moments[k].Sub(moments[k-1]))
		}
	}
	return longest
}

// TestFairnessIsWhatARecountFinds holds the scheduler's numbers of whole runs
// against a history of them, in orders that overtake and in one that does not.
func TestFairnessIsWhatARecountFinds(t *testing.T) {
	for _, order := range []string{"strict", "fifo", "weighted", "lifo", "ageing"} {
		t.Run(order, func(t *testing.T) {
			if !slices.Contains(queue.OrderNames(), order) {
				t.Fatalf("no order %s", order)
			}
			r := &recount{
				queues:  map[queueOf]*[wire.NumClasses]lane{},
				waiting: map[wire.AttemptID]*stay{},
			}
			s := runVirtual(t, builtin(t, "starvation", "queue.order", order), r).Summary
			if s.Overtaken != r.overtaken {
				t.Errorf("overtaken %v, want %v", s.Overtaken, r.overtaken)
			}
			var gaps [wire.NumClasses]time.Duration
			for _, lanes := range r.queues {
				for c := range lanes {
					gaps[c] = max(gaps[c], lanes[c].gap(clock.Instant(s.Duration)))
				}
			}
			if s.ServiceGap != gaps {
				t.Errorf("service gaps %v, want %v", s.ServiceGap, gaps)
			}
			for c, want := range r.average {
				if got := float64(s.WaitEWMA[c]); got < want-20 || got > want+20 {
					t.Errorf("average wait of %v is %v, want %v", wire.Class(c), s.WaitEWMA[c], time.Duration(want))
				}
			}
			if order == "fifo" && s.Overtaken != [wire.NumClasses]int64{} {
				t.Errorf("overtaken %v in a queue that nobody overtakes in", s.Overtaken)
			}
		})
	}
}
