package breaker

import (
	"math"
	"testing"
	"time"

	"herdscope/engine/wire"
)

// A changed configuration takes effect at the next decision.
func TestConfigurationChanges(t *testing.T) {
	t.Run("threshold keeps its window", func(t *testing.T) {
		s := newScript(t).times(2, Failure)
		s.c.Failures = 5
		s.times(2, Failure).state(wire.Closed).times(1, Failure).state(wire.Open)
	})
	t.Run("lower threshold trips at the next failure", func(t *testing.T) {
		s := newScript(t).times(2, Failure)
		s.c.Failures = 1
		s.tick().state(wire.Closed).times(1, Failure).state(wire.Open)
	})
	t.Run("off closes and forgets", func(t *testing.T) {
		s := newScript(t).trip()
		s.changes = nil
		s.c.Failures = 0
		s.at(3).times(9, Failure).changed("3s open>closed none")
		s.c.Failures = 1
		s.tick().state(wire.Closed).times(1, Failure).state(wire.Open)
	})
	t.Run("off while closed forgets", func(t *testing.T) {
		s := newScript(t).times(2, Failure)
		s.c.Failures = 0
		s.tick()
		s.c.Failures = 3
		s.times(2, Failure).state(wire.Closed)
	})
	t.Run("the count saturates", func(t *testing.T) {
		s := newScript(t)
		s.c.Failures = math.MaxInt
		s.b.failures = math.MaxInt32
		s.times(1, Failure).state(wire.Closed)
		s.c.Failures = math.MaxInt32
		s.times(1, Failure).state(wire.Open)
	})
	t.Run("off in a round makes its probes late", func(t *testing.T) {
		s := newScript(t).trip().at(10)
		p := s.allow()
		s.c.Failures = 0
		s.report(p, Failure).state(wire.Closed).late(1)
	})
	t.Run("open time counts from the trip", func(t *testing.T) {
		s := newScript(t).trip()
		s.c.OpenFor = 4 * time.Second
		s.at(3).tick()
		if at, _ := s.b.Deadline(); at.Duration() != 4*time.Second {
			t.Fatalf("deadline %v", at.Duration())
		}
		s.at(4).tick().state(wire.Eligible)
	})
	t.Run("fewer successes close", func(t *testing.T) {
		s := newScript(t).trip().at(10).times(1, Success)
		s.changes = nil
		s.c.Probes = 1
		s.at(11).tick().changed("11s half_open>closed probe")
	})
	t.Run("more successes than probes ask for all probes", func(t *testing.T) {
		s := newScript(t).trip()
		s.c.Successes = 99
		s.at(10).times(2, Success).state(wire.HalfOpen).times(1, Success).state(wire.Closed)
	})
	t.Run("zeros are one", func(t *testing.T) {
		s := newScript(t)
		s.c = Config{Failures: 1}
		s.trip().times(1, Success).state(wire.Closed)
	})
	t.Run("no open time, no lease", func(t *testing.T) {
		s := newScript(t)
		s.c = Config{Failures: 1}
		p := s.trip().allow()
		s.at(1e6).tick().refuse().report(p, Success).state(wire.Closed).late(0)
	})
}

func TestAbsurdOpenTimeNeverEnds(t *testing.T) {
	s := newScript(t)
	s.c.OpenFor = math.MaxInt64
	s.at(1).trip()
	if at, ok := s.b.Deadline(); ok {
		t.Fatalf("deadline %v", at)
	}
	s.at(1e9).refuse().state(wire.Open)
}
