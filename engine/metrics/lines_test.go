package metrics

import (
	"testing"
	"time"

	"herdscope/engine/wire"
)

// turn is an event of a request in a queue: it joins, starts, or gives up.
type turn struct {
	at      time.Duration
	kind    wire.EventKind
	request wire.RequestID
	class   wire.Class
	waited  time.Duration
	scope   uint8
}

// played is the summary of one client's turns at the end of them.
func played(t *testing.T, end time.Duration, turns ...turn) Summary {
	t.Helper()
	c := New(Config{Clients: 1, Scopes: 2})
	for _, x := range turns {
		e := wire.Event{
			Kind: x.kind, At: at(x.at), Class: x.class, Scope: x.scope, Delay: x.waited,
			ID: wire.AttemptID{Request: x.request, Try: 1},
		}
		if x.kind == wire.RequestQueued {
			began := e
			began.Kind = wire.RequestBegan
			c.Observe(began)
		}
		c.Observe(e)
	}
	c.Advance(at(end))
	_, sum := mustHold(t, c)
	return sum
}

const second = time.Second

// start is the two events of a request that leaves its queue to be sent.
func start(x turn) []turn {
	out := x
	out.kind, x.kind = wire.RequestDequeued, wire.AttemptSent
	return []turn{out, x}
}

func waits(at time.Duration, r wire.RequestID, c wire.Class) turn {
	return turn{at: at, kind: wire.RequestQueued, request: r, class: c}
}

// TestOvertakes: what counts is another class, in the same queue, that came
// later; one that came at the same moment did not.
func TestOvertakes(t *testing.T) {
	story := []turn{
		waits(0, 1, wire.Background), waits(1*second, 2, wire.Background),
		waits(1*second, 3, wire.Critical), waits(2*second, 4, wire.Interactive),
		{at: 2 * second, kind: wire.RequestQueued, request: 5, class: wire.Background, scope: 1},
	}
	story = append(story, start(turn{at: 3 * second, request: 3, class: wire.Critical, waited: 2 * second})...)
	story = append(story, start(turn{at: 4 * second, request: 4, class: wire.Interactive, waited: 2 * second})...)
	story = append(story, start(turn{at: 5 * second, request: 2, class: wire.Background, waited: 4 * second})...)
	// One that never waited is later than all.
	story = append(story,
		turn{at: 6 * second, kind: wire.AttemptSent, request: 6, class: wire.Critical})
	sum := played(t, 7*second, story...)
	want := [wire.NumClasses]int64{wire.Background: 1 + 2 + 1}
	if sum.Overtaken != want {
		t.Errorf("overtaken %v, want %v", sum.Overtaken, want)
	}
}

// TestServiceGap: a gap begins when somebody waits or has started, and lasts
// until the next start, until nobody waits, or until now.
func TestServiceGap(t *testing.T) {
	first := []turn{waits(10*second, 1, wire.Critical), waits(11*second, 2, wire.Critical)}
	started := start(turn{at: 13 * second, request: 1, class: wire.Critical, waited: 3 * second})
	gone := turn{at: 20 * second, kind: wire.RequestDequeued, request: 2, class: wire.Critical, waited: 9 * second}
	other := start(turn{at: 19 * second, request: 3, class: wire.Background})
	for _, tc := range []struct {
		name  string
		turns [][]turn
		end   time.Duration
		want  time.Duration
	}{
		{"waiting on", [][]turn{first}, 12 * second, 2 * second},
		{"started", [][]turn{first, started}, 14 * second, 3 * second},
		{"waiting on after a start", [][]turn{first, started}, 18 * second, 5 * second},
		{"others start", [][]turn{first, started, other[1:]}, 19 * second, 6 * second},
		{"gave up", [][]turn{first, started, {gone}}, 60 * second, 7 * second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var turns []turn
			for _, part := range tc.turns {
				turns = append(turns, part...)
			}
			got := played(t, tc.end, turns...).ServiceGap
			if want := [wire.NumClasses]time.Duration{wire.Critical: tc.want}; got != want {
				t.Errorf("service gaps %v, want %v", got, want)
			}
		})
	}
}

// TestWaitEWMA: 0.9 of what it was and 0.1 of the newest, from 0 on; one that
// gives up is not in it.
func TestWaitEWMA(t *testing.T) {
	turns := []turn{waits(0, 1, wire.Interactive), waits(0, 2, wire.Interactive), waits(0, 3, wire.Interactive)}
	turns = append(turns, start(turn{at: 10 * second, request: 1, class: wire.Interactive, waited: 10 * second})...)
	turns = append(turns, start(turn{at: 20 * second, request: 2, class: wire.Interactive, waited: 20 * second})...)
	turns = append(turns, turn{
		at: 90 * second, kind: wire.RequestDequeued, request: 3, class: wire.Interactive, waited: 90 * second,
	})
	got := played(t, 90*second, turns...).WaitEWMA
	if want := [wire.NumClasses]time.Duration{wire.Interactive: 2900 * ms}; got != want {
		t.Errorf("averages %v, want %v", got, want)
	}
}
