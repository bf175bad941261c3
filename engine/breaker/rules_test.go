package breaker

import (
	"fmt"
	"testing"
	"time"

	"herdscope/engine/wire"
)

// newRules is a script whose breaker has no rule yet.
func newRules(t *testing.T, c Config) *script {
	s := &script{t: t, c: c}
	if s.c.OpenFor == 0 {
		s.c.OpenFor = 10 * time.Second
	}
	return s
}

// lasting sends a call now that ends after some seconds.
func (s *script) lasting(seconds float64, r Result) *script {
	s.t.Helper()
	p, took := s.allow(), time.Duration(seconds*float64(time.Second))
	s.now = s.now.Add(took)
	return s.reportCall(p, Call{Result: r, Took: took})
}

// overdue tells that the permit's attempt is slow and still in flight.
func (s *script) overdue(p *Permit) *script {
	s.changes = s.b.Overdue(s.now, &s.c, p, s.changes)
	return s
}

// sees checks what the window holds: calls, failed, slow.
func (s *script) sees(calls, failed, slow int64) *script {
	s.t.Helper()
	if got := s.b.window.tally(s.now); got != (tally{calls, failed, slow}) {
		s.t.Fatalf("at %v: the window holds %+v, want %d, %d, %d",
			s.now.Duration(), got, calls, failed, slow)
	}
	return s
}

func TestFailuresOfTheLastCalls(t *testing.T) {
	s := newRules(t, Config{WindowCalls: 5, WindowFailures: 3})
	for range 10 { // two of any five
		s.times(2, Failure).times(3, Success).state(wire.Closed).sees(5, 2, 0)
	}
	s.times(2, Failure).times(1, Success).times(1, Failure)
	s.changed("0s closed>open threshold")
}

func TestFailuresOfTheLastTime(t *testing.T) {
	s := newRules(t, Config{Window: TimeWindow, WindowTime: 10 * time.Second, WindowFailures: 3})
	s.at(0.5).times(2, Failure).at(10).times(1, Failure).state(wire.Closed).sees(1, 1, 0)
	s.at(11).times(1, Failure).at(19.9).times(1, Failure).changed("19.9s closed>open threshold")
}

func TestFailureRateNeedsEnoughCalls(t *testing.T) {
	s := newRules(t, Config{WindowCalls: 100, FailureRate: 500, MinCalls: 10})
	s.times(9, Failure).state(wire.Closed).times(1, Success)
	s.changed("0s closed>open failure_rate")

	s = newRules(t, Config{WindowCalls: 4, FailureRate: 500, MinCalls: 10})
	s.times(3, Failure).state(wire.Closed).times(1, Failure).state(wire.Open) // 4 is all there can be
	s = newRules(t, Config{FailureRate: 1000})
	s.times(DefaultMinCalls-1, Failure).state(wire.Closed).times(1, Failure).state(wire.Open)
	s = newRules(t, Config{FailureRate: 510, WindowCalls: 4})
	s.times(2, Failure).times(2, Success).state(wire.Closed).sees(4, 2, 0)
}

// A slow call counts as slow whether it failed or not, and one that lasts
// exactly as long as the threshold is slow.
func TestSlowRate(t *testing.T) {
	s := newRules(t, Config{WindowCalls: 4, SlowRate: 500, SlowAfter: time.Second})
	s.lasting(0.999, Success).lasting(1, Failure).lasting(0.5, Failure).sees(3, 2, 1)
	s.lasting(1.5, Success).changed("3.999s closed>open slow_rate")
	s.changes = nil
	s.at(14).lasting(2, Success) // too slow for a probe, though it succeeded
	s.changed("14s open>eligible elapsed", "14s eligible>half_open elapsed",
		"16s half_open>open probe")
	s.at(30).lasting(0.5, Success).state(wire.Closed).sees(0, 0, 0)
}

func TestSlowCallsWithoutTheRuleAreNot(t *testing.T) {
	s := newRules(t, Config{WindowCalls: 4, FailureRate: 1000, SlowAfter: time.Second})
	s.lasting(5, Success).sees(1, 0, 0)
	if _, ok := s.c.OverdueAfter(); ok {
		t.Error("wants to hear of slow calls")
	}
}

// B14: calls that hang open the breaker before they end; without that option
// they open nothing.
func TestB14SlowCallsInFlight(t *testing.T) {
	c := Config{WindowCalls: 10, MinCalls: 4, SlowRate: 500, SlowAfter: time.Second, SlowInFlight: true}
	s := newRules(t, c)
	s.times(2, Success)
	var hung []Permit
	for range 4 {
		hung = append(hung, s.allow())
	}
	s.at(1).overdue(&hung[0]).overdue(&hung[0]).state(wire.Closed) // 1 of 3: too few calls
	s.overdue(&hung[1])                                            // 2 of 4
	s.changed("1s closed>open slow_rate")
	s.at(2).report(hung[0], Failure).report(hung[3], Success).late(2)

	c.SlowInFlight = false
	s = newRules(t, c)
	for range 100 {
		p := s.allow()
		s.at(1).overdue(&p)
	}
	s.state(wire.Closed).sees(0, 0, 0)
}

// B14: a call that ends after it was overdue is counted once, and one that is
// cancelled not at all.
func TestB14AnOverdueCallCountsOnce(t *testing.T) {
	s := newRules(t, Config{
		WindowCalls: 10, MinCalls: 4, SlowRate: 1000, SlowAfter: time.Second, SlowInFlight: true,
	})
	ended, cancelled := s.allow(), s.allow()
	s.at(1).overdue(&ended).overdue(&cancelled)
	s.at(2).reportCall(ended, Call{Result: Success, Took: 2 * time.Second}).sees(1, 0, 1)
	s.reportCall(cancelled, Call{Result: Neutral, Took: 2 * time.Second}).sees(1, 0, 1)
	for range 2 {
		p := s.allow()
		s.overdue(&p)
	}
	s.state(wire.Closed) // 3 of 3
	p := s.allow()
	s.overdue(&p).state(wire.Open)
}

// B14: a probe that is slow has failed by that, and its end comes late.
func TestB14ProbeInFlight(t *testing.T) {
	s := newRules(t, Config{
		Failures: 1, SlowRate: 500, SlowAfter: time.Second, SlowInFlight: true,
		Probes: 3, Successes: 2, Verdict: OfRound,
	})
	s.times(1, Failure).at(10)
	slow, good, other := s.allow(), s.allow(), s.allow()
	s.at(11).overdue(&slow).state(wire.HalfOpen).refuse()
	s.report(slow, Success).late(1).state(wire.HalfOpen)
	s.report(good, Success).state(wire.HalfOpen).overdue(&other).state(wire.Open)
}

// B13: the window holds exactly the calls of its time, after gaps of any length;
// its buckets are aligned to the run clock.
func TestB13IdleGaps(t *testing.T) {
	c := Config{Window: TimeWindow, WindowTime: 10 * time.Second, FailureRate: 1000, MinCalls: 1000}
	s := newRules(t, c)
	s.at(0.9).times(1, Failure).at(1).times(2, Success)
	s.at(9.999).sees(3, 1, 0).at(10).sees(2, 0, 0).at(10.999).sees(2, 0, 0).at(11).sees(0, 0, 0)
	for _, gap := range []float64{0.1, 1, 5, 9, 9.9, 10, 11, 19, 20, 21, 100, 12345.6} {
		s := newRules(t, c)
		s.at(3.5).times(4, Failure).times(1, Success)
		kept := int64(5)
		if 3.5+gap >= 13 {
			kept = 0
		}
		s.at(3.5+gap).times(2, Success).sees(kept+2, kept*4/5, 0)
	}
}

func TestFullBucketKeepsTheShares(t *testing.T) {
	w := newWindow(shape{width: time.Second})
	w.words[0] = packed(tally{maxPerBucket, maxPerBucket, maxPerBucket})
	w.sum = tallyOf(w.words[0])
	w.add(0, true, false)
	if full := (tally{maxPerBucket, maxPerBucket, maxPerBucket}); w.sum != full {
		t.Fatalf("%+v, want %+v", w.sum, full)
	}
	w.add(s10, true, true)
	if w.sum != (tally{1, 1, 1}) {
		t.Fatalf("%+v after the full bucket has left", w.sum)
	}
}

const s10 = 10_000_000_000

// B9: an ignored result is in no window and no row.
func TestB9NeutralCountsNowhere(t *testing.T) {
	s := newRules(t, Config{Failures: 3, WindowCalls: 5, FailureRate: 500, MinCalls: 5})
	s.times(2, Failure).times(50, Neutral).sees(2, 2, 0).state(wire.Closed)
	s.times(1, Failure).changed("0s closed>open threshold")
}

// B8 and N-E22: a hundred cancelled calls leave the window empty; a hundred
// timeouts, which are failures, open.
func TestNE22CancelledCallsLeaveTheWindowEmpty(t *testing.T) {
	for name, c := range map[string]Config{
		"count": {FailureRate: 500, SlowRate: 500, SlowAfter: 1},
		"time":  {Window: TimeWindow, FailureRate: 500, SlowRate: 500, SlowAfter: 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRules(t, c)
			for range 100 {
				s.lasting(0.01, Neutral)
			}
			s.state(wire.Closed).sees(0, 0, 0).changed()
			for s.b.State() == wire.Closed {
				s.lasting(0.01, Failure)
			}
			s.changed(fmt.Sprintf("%v closed>open failure_rate", s.now.Duration()))
		})
	}
}
