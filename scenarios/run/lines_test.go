package run

import (
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/metrics"
	"herdscope/engine/wire"
)

// jumpers counts by brute force who went before whom, who wants a slot, and how
// many attempts of each queue are on the wire.
type jumpers struct {
	recount
	jumped         [wire.NumClasses][wire.NumClasses]int64
	asked, started [wire.NumClasses]int64
	from           clock.Instant // of asked and started
	running        map[queueOf]int
	queued         map[wire.AttemptID]bool // it left a queue just now
}

func newJumpers() *jumpers {
	return &jumpers{
		recount: recount{
			queues: map[queueOf]*[wire.NumClasses]lane{}, waiting: map[wire.AttemptID]*stay{},
		},
		running: map[queueOf]int{}, queued: map[wire.AttemptID]bool{},
	}
}

func (j *jumpers) Observe(e wire.Event) {
	j.recount.Observe(e)
	id := wire.AttemptID{Client: e.ID.Client, Request: e.ID.Request}
	here := queueOf{e.ID.Client, e.Scope}
	counts := e.At >= j.from
	switch e.Kind {
	case wire.RequestQueued:
		if counts {
			j.asked[e.Class]++
		}
	case wire.RequestDequeued:
		j.queued[id] = true
	case wire.RequestDone:
		delete(j.queued, id)
	case wire.AttemptEnded:
		j.running[here]--
	case wire.AttemptSent:
		j.running[here]++
		if counts {
			j.started[e.Class]++
			if !j.queued[id] {
				j.asked[e.Class]++
			}
		}
		delete(j.queued, id)
		for c, lane := range j.queues[here] {
			for _, s := range lane.stays {
				if s.to == clock.Never && s.from < e.At.Add(-e.Delay) {
					j.jumped[e.Class][c]++
					break
				}
			}
		}
	}
}

// TestLinesAreWhatARecountFinds holds what the page about queues shows against a
// history of all that waited.
func TestLinesAreWhatARecountFinds(t *testing.T) {
	for _, order := range []string{"strict", "fifo", "weighted", "lifo", "ageing"} {
		const end = 14 * time.Second
		j := newJumpers()
		j.from = clock.Instant(4 * time.Second)
		snap := watched(t, builtin(t, "starvation", "queue.order", order), end,
			metrics.Watch{Lines: true}, j)
		if snap.Lines.Jumped != j.jumped {
			t.Errorf("%s: %v started before an older one, want %v", order, snap.Lines.Jumped, j.jumped)
		}
		var starved, times int64
		for c, l := range snap.Lines.Classes {
			if l.Asked != j.asked[c] || l.Started != j.started[c] || l.Overtaken != j.overtaken[c] {
				t.Errorf("%s: %v asked %d, started %d, overtaken %d; want %d, %d, %d", order, wire.Class(c),
					l.Asked, l.Started, l.Overtaken, j.asked[c], j.started[c], j.overtaken[c])
			}
			starved += snap.Queues[c].Starved
		}
		for _, h := range snap.Lines.Hungers {
			times += h.Times
		}
		if times != starved {
			t.Errorf("%s: %d starvations are listed, of %d", order, times, starved)
		}
	}
}

// TestHeadsWaitForOneReason: each queue in which somebody waits is counted once,
// for a reason that the settings give it, and none could have started.
func TestHeadsWaitForOneReason(t *testing.T) {
	for _, tc := range []struct {
		name string
		knob []string
		may  []wire.Wait
	}{
		{"limit", nil, []wire.Wait{wire.WaitSlot}},
		{"most", []string{"queue.limit", "8", "queue.critical.most", "2"}, []wire.Wait{wire.WaitMost, wire.WaitSlot}},
		{"least", []string{"queue.interactive.least", "2"}, []wire.Wait{wire.WaitKept}},
		{"protect", []string{"queue.limit", "200", "queue.protect", "on"}, []wire.Wait{wire.WaitProtected}},
		{"paused", []string{"queue.limit", "0"}, []wire.Wait{wire.WaitPaused}},
		{"breaker", []string{"breaker.mode", "forced_open", "breaker.when_open", "wait"}, []wire.Wait{wire.WaitBreaker}},
	} {
		j := newJumpers()
		v, err := startVirtual(builtin(t, "starvation", tc.knob...), Options{Observers: []wire.Observer{j}})
		if err != nil {
			t.Fatal(err)
		}
		var seen [wire.NumWaits]int64
		for at := clock.Instant(0); at < clock.Instant(12*time.Second); at = at.Add(500 * time.Millisecond) {
			if err := v.sim.RunUntil(at); err != nil {
				t.Fatal(err)
			}
			v.look(func(_ clock.Instant, f *fleet.Fleet) { checkHeads(t, tc.name, j, f.Heads(), &seen) })
		}
		for w := range wire.Wait(wire.NumWaits) {
			may := false
			for _, other := range tc.may {
				may = may || other == w
			}
			if may != (seen[w] > 0) {
				t.Errorf("%s: %d heads waited: %v", tc.name, seen[w], w)
			}
		}
	}
}

// checkHeads compares the heads with the queues in which somebody waits.
func checkHeads(t *testing.T, name string, j *jumpers, heads wire.Heads, seen *[wire.NumWaits]int64) {
	t.Helper()
	var want [wire.NumClasses]int64
	for _, lanes := range j.queues {
		for c := range lanes {
			for _, s := range lanes[c].stays {
				if s.to == clock.Never {
					want[c]++
					break
				}
			}
		}
	}
	for c := range heads {
		var sum int64
		for w, n := range heads[c] {
			sum += n
			seen[w] += n
		}
		if sum != want[c] {
			t.Errorf("%s: %d heads of %v wait, want %d", name, sum, wire.Class(c), want[c])
		}
	}
}

// TestSurveyOnlyForThoseWhoWatch: a session looks at the fleet while the queues
// are watched, and then shows what it saw.
func TestSurveyOnlyForThoseWhoWatch(t *testing.T) {
	h := &hub{collector: metrics.New(metrics.Config{Clients: 1})}
	if h.wants(0) {
		t.Error("looks though nobody watches")
	}
	h.watch(metrics.Watch{Lines: true})
	if !h.wants(0) || h.wants(1) || !h.wants(clock.Instant(surveyEvery)) {
		t.Error("does not look once in a bin")
	}
	h.watch(metrics.Watch{Lines: true})
	if !h.wants(clock.Instant(surveyEvery)) {
		t.Error("does not look for a new watch")
	}
}

// TestSessionShowsWhatItLookedAt: in both kinds of runs the heads of the queues and
// the breakers that are watched are looked at while the run goes on.
func TestSessionShowsWhatItLookedAt(t *testing.T) {
	for _, live := range []bool{false, true} {
		s := open(t, builtin(t, "starvation", "breaker.failures", "5"), live)
		s.Watch(metrics.Watch{Lines: true, BreakerRows: 3, BreakerCols: 10})
		until(t, "the fleet has been looked at", func() bool {
			snap := s.Latest()
			return snap.Lines != nil && snap.Lines.HeadsAt != clock.Never &&
				len(snap.Lanes.Lanes) == 3 && snap.Lanes.Lanes[0].Looked
		})
	}
}
