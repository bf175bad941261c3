package breaker

import (
	"fmt"
	"math"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// script drives one breaker and notes what it does.
type script struct {
	t       *testing.T
	b       Breaker
	c       Config
	now     clock.Instant
	changes []Change
}

func newScript(t *testing.T) *script {
	return &script{t: t, c: Config{Failures: 3, OpenFor: 10 * time.Second, Probes: 3, Successes: 2}}
}

// at moves to a moment given in seconds, without a tick.
func (s *script) at(seconds float64) *script {
	s.now = clock.Instant(seconds * float64(time.Second))
	return s
}

func (s *script) tick() *script {
	s.changes = s.b.Tick(s.now, &s.c, s.changes)
	return s
}

func (s *script) ask() (Permit, bool) {
	var p Permit
	var ok bool
	p, ok, s.changes = s.b.Allow(s.now, &s.c, s.changes)
	return p, ok
}

func (s *script) allow() Permit {
	s.t.Helper()
	p, ok := s.ask()
	if !ok {
		s.t.Fatalf("at %v in %v: refused", s.now.Duration(), s.b.State())
	}
	return p
}

func (s *script) refuse() *script {
	s.t.Helper()
	if _, ok := s.ask(); ok {
		s.t.Fatalf("at %v in %v: allowed", s.now.Duration(), s.b.State())
	}
	return s
}

func (s *script) report(p Permit, r Result) *script {
	return s.reportCall(p, Call{Result: r})
}

func (s *script) reportCall(p Permit, call Call) *script {
	s.changes = s.b.Report(s.now, &s.c, &p, call, s.changes)
	return s
}

func (s *script) times(n int, r Result) *script {
	s.t.Helper()
	for range n {
		s.report(s.allow(), r)
	}
	return s
}

// trip opens the breaker now.
func (s *script) trip() *script {
	s.t.Helper()
	return s.times(s.c.Failures-int(s.b.failures), Failure).state(wire.Open)
}

func (s *script) state(want wire.BreakerState) *script {
	s.t.Helper()
	if got := s.b.State(); got != want {
		s.t.Fatalf("at %v: %v, want %v", s.now.Duration(), got, want)
	}
	return s
}

func (s *script) late(want uint32) *script {
	s.t.Helper()
	if got := s.b.Late(); got != want {
		s.t.Fatalf("at %v: %d late, want %d", s.now.Duration(), got, want)
	}
	return s
}

// changed checks all transitions since the last call of changed.
func (s *script) changed(want ...string) *script {
	s.t.Helper()
	var got []string
	for _, c := range s.changes {
		got = append(got, fmt.Sprintf("%v %v>%v %v", c.At.Duration(), c.From, c.To, c.Cause))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Fatalf("changes (-want +got):\n%s", diff)
	}
	s.changes = s.changes[:0]
	return s
}

func TestCycleWithEachCause(t *testing.T) {
	s := newScript(t).at(1).times(2, Failure).state(wire.Closed).changed()
	s.times(1, Success).times(2, Failure).state(wire.Closed) // success began anew
	s.times(1, Failure).changed("1s closed>open threshold")
	s.at(11).tick().changed("11s open>eligible elapsed")
	s.at(12).times(1, Success).changed("12s eligible>half_open elapsed")
	s.at(13).times(1, Success).changed("13s half_open>closed probe")
	s.trip().changed("13s closed>open threshold")
	s.at(23).times(1, Failure).changed(
		"23s open>eligible elapsed", "23s eligible>half_open elapsed", "23s half_open>open probe")
	s.at(33).allow()
	s.allow()
	s.allow()
	s.at(43).tick().changed("33s open>eligible elapsed",
		"33s eligible>half_open elapsed", "43s half_open>open lease")
}

// B1: eligible comes by the clock, not by the next call, and can be seen.
func TestB1OpensTheGateByTheClock(t *testing.T) {
	s := newScript(t).at(5).trip()
	if at, ok := s.b.Deadline(); !ok || at != s.now.Add(10*time.Second) {
		t.Fatalf("deadline %v, %v", at, ok)
	}
	s.at(14.999999999).tick().refuse().state(wire.Open)
	s.at(15).tick().state(wire.Eligible)
	if _, ok := s.b.Deadline(); ok {
		t.Fatal("an eligible breaker waits for a caller, not for the clock")
	}
	if p := s.at(99).allow(); !p.Probe {
		t.Fatal("the first call after the open time must be a probe")
	}
	s.state(wire.HalfOpen)
}

// B2 and N-E18: calls that were let out before the trip end in the half-open
// round; they neither close it nor reopen it nor give out one more probe.
func TestNE18LateResultsDecideNothing(t *testing.T) {
	for _, r := range []Result{Success, Failure, Neutral} {
		s := newScript(t)
		slow := []Permit{s.allow(), s.allow(), s.allow()}
		s.trip()
		s.report(slow[0], r).state(wire.Open).late(1)
		s.at(10).tick().report(slow[1], r).state(wire.Eligible).late(2)
		probe := s.allow()
		s.report(slow[2], r).state(wire.HalfOpen).late(3)
		s.allow()
		s.allow()
		s.refuse().report(probe, Success).state(wire.HalfOpen)
	}
}

func TestNE18LateAcrossTwoCyclesAndGenerationWrap(t *testing.T) {
	s := newScript(t)
	s.b.generation = math.MaxUint32 - 2
	old := s.allow()
	now := 0.0
	for range 2 {
		s.at(now).trip()
		now += 10
		s.at(now).times(2, Success).state(wire.Closed)
	}
	if s.b.generation > old.Generation {
		t.Fatalf("generation %d has not wrapped", s.b.generation)
	}
	s.times(2, Failure).report(old, Success).late(1)
	s.times(1, Failure).state(wire.Open) // the late success did not reset the count
	s.report(old, Failure).late(2)
}

// B3: a permit is good for one report, of a probe and of any other call; one
// more is counted as the mistake that it is.
func TestB3SecondReportChangesNothing(t *testing.T) {
	s := newScript(t)
	p := s.allow()
	for range 5 {
		s.changes = s.b.Report(s.now, &s.c, &p, Call{Result: Failure}, s.changes)
	}
	s.state(wire.Closed).times(1, Failure).state(wire.Closed).trip().at(10)
	s.allow()
	p = s.allow()
	for _, r := range []Result{Success, Success, Failure} {
		s.changes = s.b.Report(s.now, &s.c, &p, Call{Result: r}, s.changes)
	}
	s.b.Report(s.now, &s.c, &Permit{}, Call{}, nil)
	if s.state(wire.HalfOpen).late(0).b.Spent() != 4+2+1 {
		t.Errorf("%d reports too many", s.b.Spent())
	}
}

// B4 and N-E20: however many ask, and whatever comes back, no more than Probes
// are in flight, and no more are started that count.
func TestNE20NoMoreProbesThanAllowed(t *testing.T) {
	for _, probes := range []int{1, 3, 10} {
		s := newScript(t)
		s.c.Probes, s.c.Successes = probes, probes
		late := s.allow()
		s.trip().at(10)
		var permits []Permit
		for range 10_000 {
			if p, ok := s.ask(); ok {
				permits = append(permits, p)
			}
		}
		if len(permits) != probes {
			t.Fatalf("%d probes of %d", len(permits), probes)
		}
		s.report(late, Success).refuse()
		s.report(permits[0], Neutral)
		again := s.allow()
		s.refuse()
		for _, p := range permits[1:] {
			s.report(p, Success).refuse()
		}
		s.report(again, Success).state(wire.Closed)
	}
}

// B5: one failed probe decides at once; the others are late.
func TestB5ReopensAtTheFirstFailedProbe(t *testing.T) {
	s := newScript(t).trip().at(10)
	a, b, c := s.allow(), s.allow(), s.allow()
	s.at(12).report(a, Success).report(b, Failure).state(wire.Open)
	s.report(c, Success).state(wire.Open).late(1)
	if got := s.b.Remaining(s.now); got != 10*time.Second {
		t.Fatalf("open for %v more, want the full time from the failure", got)
	}
}

// B6 and N-E19: a probe that never reports loses its permit, and its result is
// late.
func TestB6LeaseFreesThePermit(t *testing.T) {
	s := newScript(t).trip().at(10)
	hung := s.allow()
	if at, ok := s.b.Deadline(); !ok || at.Duration() != 20*time.Second {
		t.Fatalf("lease until %v, %v", at.Duration(), ok)
	}
	s.changed("0s closed>open threshold", "10s open>eligible elapsed",
		"10s eligible>half_open elapsed")
	s.at(20).tick().state(wire.HalfOpen).changed()
	if _, ok := s.b.Deadline(); ok {
		t.Fatal("nothing in flight, so no lease")
	}
	s.report(hung, Failure).state(wire.HalfOpen).late(1)
	s.times(2, Success).state(wire.Closed)
}

func TestB6LeaseRunsFromTheYoungestProbe(t *testing.T) {
	s := newScript(t).trip().at(10)
	s.allow()
	b := s.at(19).allow()
	s.at(28).tick().report(b, Success).late(0)
	s.at(29).tick()
	s.report(b, Success).late(1)
	if s.b.expired != 1 {
		t.Fatalf("%d leases ran out, want that of the first probe", s.b.expired)
	}
}

func TestB6ReopensAfterProbesExpiries(t *testing.T) {
	s := newScript(t).trip().at(10)
	s.allow()
	s.at(20).tick().state(wire.HalfOpen).allow()
	s.at(30).tick().state(wire.HalfOpen).allow()
	s.at(40).tick()
	s.state(wire.Open)
	if got := s.b.Remaining(s.now); got != 10*time.Second {
		t.Fatalf("open for %v more", got)
	}
}

// B7 and B9: a cancelled or ignored probe gives its permit back, and the next
// caller may probe at the same instant.
func TestB7NeutralProbeGivesThePermitBack(t *testing.T) {
	s := newScript(t)
	s.c.Probes, s.c.Successes = 1, 1
	s.trip().at(10)
	for range 100 {
		p := s.allow()
		s.refuse().report(p, Neutral)
		if _, ok := s.b.Deadline(); ok {
			t.Fatal("a lease without a probe")
		}
	}
	s.times(1, Success).state(wire.Closed).late(0)
}

// N-E19: however a probe ends, a healthy server has the breaker closed within
// two open times from then.
func TestNE19NeverStuckHalfOpen(t *testing.T) {
	for name, end := range map[string]func(s *script, p Permit){
		"good":      func(s *script, p Permit) { s.report(p, Success) },
		"failed":    func(s *script, p Permit) { s.report(p, Failure) },
		"cancelled": func(s *script, p Permit) { s.report(p, Neutral) },
		"lost":      func(*script, Permit) {},
		"too late":  func(s *script, p Permit) { s.at(21).report(p, Failure) },
	} {
		for _, probes := range []int{1, 2, 5} {
			s := newScript(t)
			s.c.Probes, s.c.Successes = probes, probes
			s.trip().at(10)
			end(s, s.allow())
			healed := s.now.Add(2*s.c.OpenFor + time.Second)
			for s.b.State() != wire.Closed && s.now <= healed {
				if p, ok := s.ask(); ok {
					s.report(p, Success)
				}
				s.now = s.now.Add(time.Second)
			}
			if s.state(wire.Closed).now > healed {
				t.Errorf("%s, %d probes: closed after %v", name, probes, s.now.Duration())
			}
		}
	}
}

// B8 and N-E22: the caller's cancel counts as nothing; a failure, and so an own
// timeout, counts.
func TestNE22CancelsDoNotTrip(t *testing.T) {
	s := newScript(t).times(100, Neutral).state(wire.Closed).changed()
	s.times(2, Failure).times(100, Neutral).times(1, Failure).changed("0s closed>open threshold")
}

// B12: a time that steps back opens nothing for longer, and puts no call into a
// part of the window that is over.
func TestB12TimeThatStepsBack(t *testing.T) {
	s := newScript(t)
	s.c.Window, s.c.FailureRate = TimeWindow, 1000
	s.at(20).times(1, Success).at(3).times(1, Success).at(29.9).sees(2, 0, 0)
	s.times(3, Failure).state(wire.Open).at(7).tick().refuse()
	s.at(39.9).tick().state(wire.Eligible)
}

func TestB18RemainingOpenTime(t *testing.T) {
	s := newScript(t).at(2).trip()
	for at, want := range map[float64]time.Duration{2: 10e9, 7: 5e9, 12: 0, 50: 0} {
		if got := s.b.Remaining(s.at(at).now); got != want {
			t.Errorf("at %v s: %v remaining, want %v", at, got, want)
		}
	}
	s.at(12).tick()
	if got := s.b.Remaining(s.now); got != 0 {
		t.Errorf("eligible with %v remaining", got)
	}
}

func TestSize(t *testing.T) {
	if size := unsafe.Sizeof(Breaker{}); size > 80 {
		t.Errorf("a Breaker has %d bytes; a fleet holds thousands", size)
	}
	for _, tc := range []struct {
		shape shape
		most  uintptr
	}{{shape{width: time.Second}, 160}, {shape{calls: 100}, 128}} {
		w := newWindow(tc.shape)
		size := unsafe.Sizeof(*w) + uintptr(cap(w.words))*unsafe.Sizeof(w.words[0])
		if size > tc.most {
			t.Errorf("a window of %+v has %d bytes", tc.shape, size)
		}
	}
}
