package breaker

import (
	"math"
	"testing"
	"time"

	"herdscope/engine/wire"
)

func (s *script) mode(m Mode) *script {
	s.c.Mode = m
	return s.tick()
}

// B1: each imposed state is entered from anywhere, and left for closed.
func TestB1Modes(t *testing.T) {
	for mode, want := range map[Mode]wire.BreakerState{
		ForcedOpen: wire.ForcedOpen, Disabled: wire.Disabled, MetricsOnly: wire.MetricsOnly,
	} {
		for _, prepare := range []func(s *script){
			func(*script) {},
			func(s *script) { s.trip() },
			func(s *script) { s.trip().at(10).tick() },
			func(s *script) { s.trip().at(10).allow() },
			func(s *script) { s.mode(ForcedOpen) },
			func(s *script) { s.mode(MetricsOnly) },
			func(s *script) { s.c.Failures = 0 },
		} {
			s := newScript(t)
			prepare(s)
			s.mode(mode).state(want)
			if _, ok := s.b.Deadline(); ok {
				t.Errorf("%v waits for the clock", mode)
			}
			s.mode(Normal).state(wire.Closed).allow()
		}
	}
}

func TestB1ForcedOpenRefusesEverything(t *testing.T) {
	s := newScript(t)
	inFlight := s.allow()
	s.at(3).mode(ForcedOpen).changed("3s closed>forced_open mode")
	s.refuse().report(inFlight, Success).late(1).at(1e6).refuse()
	if got := s.b.Remaining(s.now); got != math.MaxInt64 {
		t.Errorf("%v remaining", got)
	}
	s.mode(Normal).changed("277h46m40s forced_open>closed mode")
}

func TestB1DisabledCountsNothing(t *testing.T) {
	s := newScript(t).times(2, Failure).mode(Disabled).times(1000, Failure)
	s.changed("0s closed>disabled mode")
	s.mode(Normal).times(2, Failure).state(wire.Closed).times(1, Failure).state(wire.Open)
}

// B1: one that only watches lets everything through and says each time that it
// would have opened.
func TestB1MetricsOnlyTellsWhatItWouldDo(t *testing.T) {
	s := newScript(t)
	s.c.Mode, s.c.Failures, s.c.WindowCalls, s.c.FailureRate = MetricsOnly, 3, 4, 750
	s.times(7, Failure).changed("0s closed>metrics_only mode",
		"0s metrics_only>metrics_only threshold", "0s metrics_only>metrics_only threshold")
	s.times(1, Success).times(2, Failure)
	s.changed("0s metrics_only>metrics_only failure_rate") // 3 of 4, one from before
	if s.b.Trips() != 0 || s.c.On() {
		t.Errorf("%d trips", s.b.Trips())
	}
}

// B15: what was in flight when the mode changed is late, and counts are empty.
func TestB15ModeBeginsANewGeneration(t *testing.T) {
	s := newRules(t, Config{Failures: 3, WindowCalls: 10, FailureRate: 1000})
	s.times(2, Failure).sees(2, 2, 0)
	old := s.allow()
	s.mode(MetricsOnly).sees(0, 0, 0).mode(Normal)
	s.report(old, Failure).late(1).times(2, Failure).state(wire.Closed)
}

// B15 and the rule that a changed threshold keeps its window: another size or
// kind of window begins anew, with what is in flight late; a threshold does not.
func TestB15WindowsAndThresholds(t *testing.T) {
	base := Config{WindowCalls: 10, FailureRate: 1000, MinCalls: 5, WindowTime: 10 * time.Second}
	for name, tc := range map[string]struct {
		change func(*Config)
		keeps  bool
	}{
		"rate":        {func(c *Config) { c.FailureRate = 900 }, true},
		"least":       {func(c *Config) { c.MinCalls = 7 }, true},
		"other rule":  {func(c *Config) { c.SlowRate, c.SlowAfter = 500, 1 }, true},
		"consecutive": {func(c *Config) { c.Failures = 100 }, true},
		"open time":   {func(c *Config) { c.OpenFor = time.Hour }, true},
		"unused size": {func(c *Config) { c.WindowTime = time.Minute }, true},
		"size":        {func(c *Config) { c.WindowCalls = 20 }, false},
		"kind":        {func(c *Config) { c.Window = TimeWindow }, false},
	} {
		s := newRules(t, base).times(4, Failure)
		old := s.allow()
		tc.change(&s.c)
		s.tick()
		if tc.keeps {
			s.sees(4, 4, 0).report(old, Success).late(0)
		} else {
			s.sees(0, 0, 0).report(old, Success).late(1)
		}
		if s.changes != nil {
			t.Errorf("%s: %v", name, s.changes)
		}
	}
}

func TestB15AnOverdueCallOfTheOldWindowIsForgotten(t *testing.T) {
	s := newRules(t, Config{
		WindowCalls: 10, MinCalls: 2, SlowRate: 1000, SlowAfter: time.Second, SlowInFlight: true,
	})
	s.lasting(1, Success)
	old := s.allow()
	s.c.SlowRate = 0
	s.c.WindowFailures = 9
	s.tick().overdue(&old) // no rule for it now
	s.c.SlowRate = 1000
	s.c.WindowFailures = 0
	s.c.MinCalls = 3
	s.overdue(&old).state(wire.Closed)
	s.c.WindowCalls, s.c.MinCalls = 20, 2
	p := s.tick().allow()
	s.overdue(&p).state(wire.Closed) // it alone, not two
}

func TestB15LowerRateTripsAtTheNextResult(t *testing.T) {
	s := newRules(t, Config{WindowCalls: 10, FailureRate: 900, MinCalls: 4})
	s.times(3, Success).times(3, Failure)
	s.c.FailureRate = 400
	s.tick().state(wire.Closed).times(1, Success).state(wire.Open)
}

func TestWindowRuleOffForgets(t *testing.T) {
	s := newRules(t, Config{Failures: 50, WindowCalls: 10, FailureRate: 1000}).times(4, Failure)
	s.c.FailureRate = 0
	s.tick()
	if s.b.window != nil {
		t.Error("a window that no rule needs")
	}
	s.c.FailureRate = 1000
	s.times(1, Failure).sees(1, 1, 0)
}

// B5: with a verdict of the round, it is decided as soon as it can only go one
// way, and not before.
func TestB5DecidesEarlyBothWays(t *testing.T) {
	round := func() *script {
		s := newRules(t, Config{Failures: 1, Probes: 10, Successes: 6, Verdict: OfRound})
		return s.times(1, Failure).at(10)
	}
	round().times(4, Failure).times(5, Success).state(wire.HalfOpen).
		times(1, Success).state(wire.Closed)
	s := round().times(5, Success).times(4, Failure).state(wire.HalfOpen)
	s.times(1, Failure).state(wire.Open)
	s = round()
	var all []Permit
	for range 10 {
		all = append(all, s.allow())
	}
	for _, p := range all[:5] {
		s.refuse().report(p, Failure)
	}
	s.state(wire.Open).report(all[9], Success).late(1)
	s = round().tick().times(1, Neutral)
	for range 6 {
		s.state(wire.HalfOpen).report(s.allow(), Success)
	}
	s.state(wire.Closed)
}

func TestLeaseOfItsOwn(t *testing.T) {
	s := newScript(t)
	s.c.Lease = 2 * time.Second
	s.trip().at(10)
	p := s.allow()
	if at, ok := s.b.Deadline(); !ok || at.Duration() != 12*time.Second {
		t.Fatalf("lease until %v, %v", at.Duration(), ok)
	}
	s.at(12).tick().report(p, Success).late(1).state(wire.HalfOpen)
}

// Fewer successes are asked for at the moment at which a lease is over: the round
// is decided by one tick, not by two.
func TestDecisionComesBeforeTheLease(t *testing.T) {
	s := newScript(t).trip().at(10).times(1, Success)
	s.allow()
	s.changes = nil
	s.c.Successes = 1
	s.at(99).tick().changed("1m39s half_open>closed probe")
}

func TestNames(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{ForcedOpen.String(), "forced_open"}, {Mode(9).String(), "unknown(9)"},
		{PerRequest.String(), "request"}, {Wait.String(), "wait"},
		{TimeWindow.String(), "time"}, {OfRound.String(), "of_round"},
	} {
		if tc.got != tc.want {
			t.Errorf("%q, want %q", tc.got, tc.want)
		}
	}
}
