package engine_test

import (
	"flag"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestAMillionSteps walks a hundred machines through ten thousand inputs each,
// with policies that change underway, and holds every step against the Checker.
// Long walks find what short ones cannot: tables that fill up, and numbers that
// wrap or drift. The walks are the same each time, unless -rapid.seed says
// otherwise.
func TestAMillionSteps(t *testing.T) {
	fixSeed(t, "20260101")
	steps := 10_000
	if testing.Short() {
		steps = 100
	}
	rapid.Check(t, func(t *rapid.T) {
		h := newHand(drawPolicy(t), rapid.Uint64().Draw(t, "seed"))
		for range steps {
			h.now = h.now.Add(time.Duration(rapid.IntRange(0, 700).Draw(t, "pass")) * time.Millisecond)
			h.anything(t)
			if err := h.checker.Finish(h.machine.Counts()); err != nil {
				t.Fatal(err)
			}
		}
		h.comeToAnEnd(t)
	})
}

// fixSeed lets the property tests of t draw from a seed, if the command line
// names none.
func fixSeed(t *testing.T, seed string) {
	given := flag.Lookup("rapid.seed")
	if given.Value.String() != given.DefValue {
		return
	}
	if err := given.Value.Set(seed); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = given.Value.Set(given.DefValue) })
}
