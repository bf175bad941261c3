package fleet_test

import (
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/enginetest"
	"herdscope/engine/fleet"
	"herdscope/engine/wire"
)

// doubling is a fleet of a closed loop whose users submit everything twice, 300 ms
// apart.
func doubling(double int64) fleet.Config {
	c := config(3, fleet.Arrival{Think: time.Second, ThinkFixed: true, Double: double})
	c.Mix[wire.Interactive].Method = wire.Post
	return c
}

func TestUsersSubmitTwice(t *testing.T) {
	s := serve(t, doubling(1000), 1, always(answer{500 * time.Millisecond, 200}))
	type key struct {
		client  wire.ClientID
		request wire.RequestID
	}
	first, twice := map[key]wire.Event{}, map[key]bool{}
	for _, e := range s.kept(seconds(20), wire.RequestBegan) {
		k := key{e.ID.Client, e.Repeats}
		if e.Repeats == 0 {
			first[key{e.ID.Client, e.ID.Request}] = e
			continue
		}
		of, ok := first[k]
		if !ok || twice[k] || e.Since != of.Since.Add(300*time.Millisecond) || e.Class != of.Class {
			t.Fatalf("%v repeats %d, after %v", e.ID, e.Repeats, e.Since.Sub(of.Since))
		}
		twice[k] = true
	}
	if len(first) < 36 || len(first) > 42 || len(twice) < len(first)-3 {
		t.Errorf("%d requests in cycles of 1.5 s, %d of them twice", len(first), len(twice))
	}
}

// TestDoublesChangeNoDraws: who submits twice draws the same luck as before.
func TestDoublesChangeNoDraws(t *testing.T) {
	begins := func(double int64) (own []clock.Instant) {
		c := doubling(double)
		c.Arrival.Kind, c.Arrival.Rate = fleet.Poisson, 20_000
		s := serve(t, c, 1, always(answer{50 * time.Millisecond, 200}))
		for _, e := range s.kept(seconds(20), wire.RequestBegan) {
			if e.Repeats == 0 {
				own = append(own, e.At)
			}
		}
		return own
	}
	none, some := begins(0), begins(500)
	if len(none) != len(some) || len(none) < 300 {
		t.Fatalf("%d requests, and %d with doubles", len(none), len(some))
	}
	for i := range none {
		if none[i] != some[i] {
			t.Fatalf("request %d begins at %v, and with doubles at %v", i, none[i], some[i])
		}
	}
}

func TestAStoppedFleetDoublesNoMore(t *testing.T) {
	s := serve(t, doubling(1000), 1, always(answer{100 * time.Millisecond, 200}))
	if n := len(s.kept(seconds(1), wire.RequestBegan)); n == 0 {
		t.Fatal("nothing began")
	}
	s.Step(seconds(1), fleet.Input{Kind: fleet.Stop}, nil)
	if n := len(s.kept(seconds(5), wire.RequestBegan)); n != 0 || s.Unfinished() != 0 {
		t.Errorf("%d requests begin after the end, %d are unfinished", n, s.Unfinished())
	}
}

// TestNestedRequestsHoldTheirParent: two are nested in each, begin with its reply, and
// the client thinks when all of them have ended.
func TestNestedRequestsHoldTheirParent(t *testing.T) {
	c := config(1, fleet.Arrival{Think: time.Second, ThinkFixed: true, Nested: 2})
	s := serve(t, c, 1, always(answer{100 * time.Millisecond, 200}))
	checker := enginetest.NewChecker(func() engine.Policy { return c.Policy })
	var parent wire.Event
	rounds, children := 0, 0
	s.until(seconds(12), func(e wire.Event) {
		checker.Observe(e)
		switch {
		case e.Kind == wire.RequestBegan && e.Parent == 0:
			if rounds++; rounds > 1 && (children != 2 || e.At != parent.At.Add(1200*time.Millisecond)) {
				t.Errorf("%v begins %v after its forerunner, with %d nested", e.ID, e.At.Sub(parent.At), children)
			}
			parent, children = e, 0
		case e.Kind == wire.RequestBegan:
			children++
			if e.Parent != parent.ID.Request || e.At != parent.At.Add(100*time.Millisecond) {
				t.Errorf("%v of %d begins after %v", e.ID, e.Parent, e.At.Sub(parent.At))
			}
		}
	})
	if err := checker.Finish(s.Counts()); err != nil || rounds < 9 {
		t.Errorf("%d rounds, %v", rounds, err)
	}
}

func TestDoublesAndNestedRequestsDoNotAllocate(t *testing.T) {
	c := doubling(500)
	c.Arrival.Nested, c.Policy.Dedup.Window, c.Policy.Queue.Limit = 1, time.Second, 2
	for _, nested := range []int{0, 1} {
		c.Arrival.Nested = nested
		s := serve(t, c, 1, always(answer{500 * time.Millisecond, 200}))
		at, joined := seconds(500), 0
		see := func(e wire.Event) {
			if e.Kind == wire.RequestJoined || e.Kind == wire.RequestNesting {
				joined++
			}
		}
		s.until(at, see)
		allocs := testing.AllocsPerRun(5, func() {
			at = at.Add(100 * time.Second)
			s.until(at, see)
		})
		if allocs != 0 || joined == 0 {
			t.Errorf("nested %d: %v allocations in 100 s, %d joined or nested", nested, allocs, joined)
		}
	}
}
