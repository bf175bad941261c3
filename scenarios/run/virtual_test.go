package run

import (
	"context"
	"fmt"
	"hash/fnv"
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/enginetest"
	"herdscope/engine/wire"
	"herdscope/scenarios"
)

// builtin is a scenario of the library with settings changed.
func builtin(t testing.TB, name string, settings ...string) scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(settings); i += 2 {
		if err := s.Set(settings[i], settings[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// checked runs a scenario in virtual time with every event held against the
// identities, and a snapshot every tenth of a second.
func checked(t testing.TB, s scenarios.Scenario) Result {
	t.Helper()
	var v *virtual
	checker := enginetest.NewChecker(func() engine.Policy { return v.fleet.Config().Policy })
	h := &headless{
		scenario: s, options: Options{Observers: []wire.Observer{checker}}, script: newScript(s.Timeline),
	}
	v, err := startVirtual(s, h.options)
	if err != nil {
		t.Fatal(err)
	}
	for v.now() < h.end() {
		if err := h.actVirtual(v); err != nil {
			t.Fatal(err)
		}
		if err := v.hub.snapshot(v.now()).Check(); err != nil {
			t.Fatalf("%s at %v: %v", s.Name, v.now().Duration(), err)
		}
	}
	h.window = v.hub.summary(v.now())
	if err := h.drainVirtual(context.Background(), v); err != nil {
		t.Fatal(err)
	}
	if err := checker.Finish(v.fleet.Counts()); err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	result := h.result(v.hub, v.now(), context.Background())
	if err := result.Summary.Check(); err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	agree(t, checker, result)
	return result
}

// agree holds the metrics against what the checker has counted on its own.
func agree(t testing.TB, c *enginetest.Checker, r Result) {
	t.Helper()
	ended := c.Outcomes()
	ended[wire.Unfinished] = r.Summary.Outcomes[wire.Unfinished]
	if ended != r.Summary.Outcomes {
		t.Errorf("outcomes are %v by the events, %v by the metrics", ended, r.Summary.Outcomes)
	}
	if c.Sent() != r.Summary.Attempts || c.Arrivals() != r.Summary.Arrivals {
		t.Errorf("%d sent and %d arrived by the events; %d and %d by the metrics",
			c.Sent(), c.Arrivals(), r.Summary.Attempts, r.Summary.Arrivals)
	}
}

func TestLibraryKeepsTheIdentities(t *testing.T) {
	for _, s := range scenarios.Library() {
		for seed := range uint64(3) {
			s.Seed = seed
			checked(t, s)
		}
	}
}

// digest is an observer that boils a run's events down to one number.
type digest struct{ sum uint64 }

func (d *digest) Observe(e wire.Event) {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %+v", d.sum, e)
	d.sum = h.Sum64()
}

func digestOf(t testing.TB, s scenarios.Scenario, others ...wire.Observer) uint64 {
	t.Helper()
	var d digest
	s.Duration = min(s.Duration, 15*time.Second)
	_, err := Headless(context.Background(), s, Options{Observers: append(others, &d)})
	if err != nil {
		t.Fatal(err)
	}
	return d.sum
}

func TestSameSeedSameEvents(t *testing.T) {
	for _, s := range scenarios.Library() {
		s.Seed = 42
		first, again := digestOf(t, s), digestOf(t, s)
		if first != again {
			t.Errorf("%s: two runs with seed 42 differ", s.Name)
		}
		s.Seed = 43
		if digestOf(t, s) == first {
			t.Errorf("%s: seeds 42 and 43 give the same run", s.Name)
		}
	}
}

// TestWatchingChangesNothing: one more observer, and the same run.
func TestWatchingChangesNothing(t *testing.T) {
	s := builtin(t, "restart")
	if digestOf(t, s) != digestOf(t, s, &digest{}) {
		t.Error("a second observer changes the run")
	}
}

// TestActionsAreReplayed: a timeline does what a hand did at the same instants.
func TestActionsAreReplayed(t *testing.T) {
	s := builtin(t, "restart")
	s.Timeline = []scenarios.Action{
		{At: clock.Instant(4 * time.Second), Kind: scenarios.SetKnob, Knob: "retry.jitter", Value: 1},
		{At: clock.Instant(9 * time.Second), Kind: scenarios.DoFault, Fault: s.Server.Faults[0].Name, Do: wire.FaultNow},
	}
	with := digestOf(t, s)
	if with != digestOf(t, s) {
		t.Error("the same timeline gives two runs")
	}
	s.Timeline = nil
	if with == digestOf(t, s) {
		t.Error("a timeline changes nothing")
	}
}
