package fleet_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/enginetest"
	"herdscope/engine/fleet"
	"herdscope/engine/rng"
	"herdscope/engine/wire"

	"pgregory.net/rapid"
)

// answer is what a test's server says to an attempt, and how long that takes.
type answer struct {
	after  time.Duration
	status uint16
}

// server answers what a fleet sends, aborted attempts as well, whose replies
// then are late.
type server struct {
	*fleet.Fleet
	answer  func(wire.AttemptID) answer
	replies clock.Queue[wire.AttemptID]
	out     []engine.Effect
}

func serve(t testing.TB, c fleet.Config, seed uint64, a func(wire.AttemptID) answer) *server {
	return &server{Fleet: newFleet(t, c, seed).Fleet, answer: a}
}

func always(a answer) func(wire.AttemptID) answer {
	return func(wire.AttemptID) answer { return a }
}

// until runs the fleet and shows every event, in order.
func (s *server) until(t clock.Instant, see func(wire.Event)) {
	for {
		at, whose := next(s.Fleet, &s.replies)
		if at > t || whose == nobody {
			return
		}
		in := fleet.Input{Kind: fleet.Tick}
		if whose == reply {
			_, id, _ := s.replies.Pop()
			in = fleet.Input{Kind: fleet.Answered, ID: id, Reply: wire.Reply{Status: s.answer(id).status}}
		}
		s.out = s.Step(at, in, s.out[:0])
		for _, e := range s.out {
			switch e.Kind {
			case engine.Send:
				s.replies.Push(at.Add(s.answer(e.Attempt.ID).after), e.Attempt.ID)
			case engine.Report:
				see(e.Event)
			}
		}
	}
}

// kept collects the events of some kinds.
func (s *server) kept(t clock.Instant, kinds ...wire.EventKind) (events []wire.Event) {
	s.until(t, func(e wire.Event) {
		if slices.Contains(kinds, e.Kind) {
			events = append(events, e)
		}
	})
	return events
}

func pageConfig(clients, chain int, patience time.Duration) fleet.Config {
	return config(clients, fleet.Arrival{
		Think: time.Second, ThinkFixed: true, Chain: chain, Patience: patience,
	})
}

func TestPageTakesTheSumOfItsSteps(t *testing.T) {
	steps := [...]time.Duration{100 * time.Millisecond, 20 * time.Millisecond, 3 * time.Millisecond}
	s := serve(t, pageConfig(1, len(steps), 0), 1, func(id wire.AttemptID) answer {
		return answer{steps[(id.Request-1)%3], 200}
	})
	events := s.kept(seconds(10), wire.RequestBegan, wire.PageEnded)
	at := events[0].At
	for i, e := range events {
		page, step := i/4, i%4
		if e.At != at {
			t.Fatalf("event %d is at %v, want %v", i, e.At.Duration(), at.Duration())
		}
		if e.Group != uint32(3*page+1) {
			t.Errorf("event %d is of group %d, want that of the first request, %d", i, e.Group, 3*page+1)
		}
		if step < 3 {
			at = at.Add(steps[step])
			continue
		}
		if e.Kind != wire.PageEnded || !e.Good || e.Delay != 123*time.Millisecond {
			t.Errorf("page %d: %v, good=%v after %v", page, e.Kind, e.Good, e.Delay)
		}
		at = at.Add(time.Second) // thinks when the page has ended
	}
	if len(events) < 4*8 {
		t.Errorf("%d events in 10 s", len(events))
	}
}

func TestPageFailsWithItsFirstFailure(t *testing.T) {
	s := serve(t, pageConfig(1, 3, 0), 1, func(id wire.AttemptID) answer {
		if id.Request == 2 {
			return answer{10 * time.Millisecond, 500}
		}
		return answer{10 * time.Millisecond, 200}
	})
	events := s.kept(seconds(2.1), wire.RequestBegan, wire.PageEnded)
	if e := events[2]; e.Kind != wire.PageEnded || e.Good || e.Delay != 20*time.Millisecond || e.Group != 1 {
		t.Errorf("after two requests: %v, good=%v after %v", e.Kind, e.Good, e.Delay)
	}
	if e := events[3]; e.Kind != wire.RequestBegan || e.Group != 3 || e.At != events[2].At.Add(time.Second) {
		t.Errorf("then %v of group %d at %v", e.Kind, e.Group, e.At.Duration())
	}
}

// TestOneRequestIsNoPage: as things were before there were pages.
func TestOneRequestIsNoPage(t *testing.T) {
	for _, chain := range []int{0, 1} {
		s := serve(t, pageConfig(5, chain, 0), 1, always(answer{10 * time.Millisecond, 200}))
		s.until(seconds(10), func(e wire.Event) {
			if e.Kind == wire.PageEnded || e.Group != 0 {
				t.Fatalf("chain %d: %v of group %d", chain, e.Kind, e.Group)
			}
		})
	}
}

// TestStepsDrawTheirOwnClasses: by their number, as if they were no page.
func TestStepsDrawTheirOwnClasses(t *testing.T) {
	classes := func(chain int) (all []wire.Class) {
		c := pageConfig(1, chain, 0)
		for class := range c.Mix {
			c.Mix[class].Weight = 1
		}
		s := serve(t, c, 1, always(answer{time.Millisecond, 200}))
		for _, e := range s.kept(seconds(30), wire.RequestBegan) {
			all = append(all, e.Class)
		}
		return all
	}
	single, chained := classes(1), classes(4)
	if len(chained) < 3*len(single) || !slices.Equal(chained[:len(single)], single) {
		t.Errorf("the steps are of %v, single requests of %v", chained, single)
	}
}

func TestPatienceCancelsThePage(t *testing.T) {
	const clients = 4000
	c := pageConfig(clients, 3, time.Second)
	c.Arrival.Think = time.Hour // one page each
	c.Arrival.Held = 1000
	s := serve(t, c, 1, always(answer{time.Hour, 200}))
	var sum time.Duration
	pages := 0
	for _, e := range s.kept(seconds(60), wire.RequestDone, wire.PageEnded) {
		switch {
		case e.Kind == wire.PageEnded:
			pages++
			sum += e.Delay
			if e.Good || !e.Warm {
				t.Fatalf("page %v: good=%v, warm=%v", e.ID, e.Good, e.Warm)
			}
		case e.Outcome != wire.Cancelled:
			t.Fatalf("%v ended as %v", e.ID, e.Outcome)
		}
	}
	// The standard error of the mean is 1/sqrt(4000) = 1.6 %.
	mean := sum / clients
	if pages != clients || mean < 950*time.Millisecond || mean > 1050*time.Millisecond {
		t.Errorf("%d pages were left, after %v on average; want %d after about 1 s", pages, mean, clients)
	}
}

// TestPatienceRacesTheService: of exponential steps with mean s, and patience
// with mean p, each step wins with 1/(1 + s/p), and the page with its cube.
func TestPatienceRacesTheService(t *testing.T) {
	const service, patience = 200 * time.Millisecond, 2 * time.Second
	s := serve(t, pageConfig(500, 3, patience), 1, func(id wire.AttemptID) answer {
		u := rng.At(1, rng.ServiceTime, uint64(id.Client), uint64(id.Request), 0)
		return answer{rng.Exponential(u, service), 200}
	})
	good, all := 0, 0
	for _, e := range s.kept(seconds(60), wire.PageEnded) {
		all++
		if e.Good {
			good++
		}
	}
	// Of 19,000 pages the standard error is 0.3 %.
	share, want := float64(good)/float64(all), math.Pow(1/1.1, 3)
	if all < 15_000 || math.Abs(share-want) > 0.0125 {
		t.Errorf("%.4f of %d pages were had whole, want %.4f", share, all, want)
	}
}

// TestPagesOverlapInOpenLoops: each ends for itself, in any order.
func TestPagesOverlapInOpenLoops(t *testing.T) {
	c := config(1, fleet.Arrival{Kind: fleet.Constant, Rate: 10 * 1000, Chain: 2})
	s := serve(t, c, 1, func(id wire.AttemptID) answer {
		return answer{time.Duration(100+rng.Below(rng.At(1, rng.ServiceTime, uint64(id.Request), 0, 0), 900)) * time.Millisecond, 200}
	})
	began := map[uint32]int{}
	var ends []uint32
	for _, e := range s.kept(seconds(20), wire.RequestBegan, wire.PageEnded) {
		if e.Kind == wire.PageEnded {
			ends = append(ends, e.Group)
			continue
		}
		began[e.Group]++
	}
	for _, group := range ends {
		if began[group] != 2 {
			t.Errorf("page %d ended after %d requests", group, began[group])
		}
	}
	if len(ends) < 170 || slices.IsSorted(ends) {
		t.Errorf("%d pages ended, in order of their beginning: %v", len(ends), slices.IsSorted(ends))
	}
}

func TestStoppedFleetBeginsNoMoreSteps(t *testing.T) {
	s := serve(t, pageConfig(3, 4, 0), 1, always(answer{300 * time.Millisecond, 200}))
	s.until(seconds(1.1), func(wire.Event) {})
	s.Step(seconds(1.1), fleet.Input{Kind: fleet.Stop}, nil)
	for _, e := range s.kept(seconds(60), wire.RequestBegan, wire.PageEnded) {
		t.Errorf("%v after the fleet was stopped", e.Kind)
	}
	if n := s.Unfinished(); n != 0 {
		t.Errorf("%d requests are unfinished", n)
	}
}

// drawPages draws a fleet of pages with retries, a limit and a deadline.
func drawPages(t *rapid.T) fleet.Config {
	c := config(rapid.IntRange(1, 4).Draw(t, "clients"), fleet.Arrival{
		Kind:     fleet.ArrivalKind(rapid.IntRange(0, 2).Draw(t, "kind")),
		Think:    time.Duration(rapid.IntRange(0, 300).Draw(t, "think")) * time.Millisecond,
		Held:     rapid.Int64Range(0, 1000).Draw(t, "held"),
		Chain:    rapid.IntRange(1, fleet.MaxChain).Draw(t, "chain"),
		Patience: time.Duration(rapid.IntRange(0, 2000).Draw(t, "patience")) * time.Millisecond,
		Rate:     20 * 1000,
		Double:   rapid.Int64Range(0, 1000).Draw(t, "double"),
		Nested:   max(0, rapid.IntRange(-2, 2).Draw(t, "nested children")),
	})
	c.Policy.Retry.Attempts = rapid.IntRange(1, 3).Draw(t, "attempts")
	c.Policy.Queue.Limit = rapid.IntRange(0, 2).Draw(t, "limit")
	c.Policy.Queue.Capacity = rapid.IntRange(0, 5).Draw(t, "capacity")
	c.Policy.Breaker.Failures = rapid.IntRange(0, 3).Draw(t, "failures")
	c.Policy.Dedup.Window = time.Duration(rapid.IntRange(0, 1).Draw(t, "dedup")) * time.Second
	c.Policy.Dedup.Methods = engine.DedupAll
	c.Policy.Queue.Nested = engine.NestedRule(rapid.IntRange(0, 1).Draw(t, "nested"))
	c.Policy.Queue.NestedLimit = rapid.IntRange(0, 2).Draw(t, "nested limit")
	c.Policy.Fallback.Open = rapid.Bool().Draw(t, "fallback")
	for class := range c.Mix {
		c.Mix[class].Weight = 1
		c.Policy.Queue.Class[class].Deadline = time.Duration(rapid.IntRange(0, 3).Draw(t, "deadline")) * time.Second
	}
	return c
}

// TestPagesKeepTheIdentities holds any fleet of pages against the Checker, and
// two runs of it against each other.
func TestPagesKeepTheIdentities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, seed := drawPages(t), rapid.Uint64().Draw(t, "seed")
		run := func() (events []wire.Event, err error) {
			f, err := fleet.New(c, seed)
			if err != nil {
				return nil, err
			}
			s := &server{Fleet: f, answer: func(id wire.AttemptID) answer {
				u := rng.At(seed, rng.ServiceTime, uint64(id.Client), uint64(id.Request), uint64(id.Try))
				status := uint16(200)
				if u%5 == 0 {
					status = 500
				}
				return answer{time.Duration(1+rng.Below(u, 300)) * time.Millisecond, status}
			}}
			checker := enginetest.NewChecker(func() engine.Policy { return c.Policy })
			s.until(seconds(5), func(e wire.Event) {
				checker.Observe(e)
				events = append(events, e)
			})
			return events, checker.Finish(s.Counts())
		}
		first, err := run()
		if err != nil {
			t.Fatal(err)
		}
		if second, _ := run(); !slices.Equal(first, second) {
			t.Fatal("the same seed gives another run")
		}
	})
}

func TestPagesDoNotAllocate(t *testing.T) {
	s := serve(t, pageConfig(50, 3, 300*time.Millisecond), 1, always(answer{100 * time.Millisecond, 200}))
	cancelled, at := 0, seconds(500)
	see := func(e wire.Event) {
		if e.Kind == wire.PageEnded && !e.Good {
			cancelled++
		}
	}
	s.until(at, see)
	allocs := testing.AllocsPerRun(5, func() {
		at = at.Add(100 * time.Second)
		s.until(at, see)
	})
	if allocs != 0 || cancelled == 0 {
		t.Errorf("%v allocations in 100 s, %d pages cancelled", allocs, cancelled)
	}
}
