package engine_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"herdscope/engine/breaker"
	"herdscope/engine/wire"
)

// TestNoHeadWaitsForItsTurn does anything at all to a machine: after each step
// there is a reason for every head that waits, other than that nobody has looked.
func TestNoHeadWaitsForItsTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPolicy(t)
		p.Breaker.WhenOpen = breaker.WhenOpen(rapid.IntRange(0, 1).Draw(t, "when open"))
		h := newHand(p, rapid.Uint64().Draw(t, "seed"))
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			h.now = h.now.Add(time.Duration(rapid.IntRange(0, 700).Draw(t, "pass")) * time.Millisecond)
			h.anything(t)
			for s := range uint8(2) {
				for c := range wire.Class(wire.NumClasses) {
					if h.machine.Why(s, c) == wire.WaitTurn {
						t.Fatalf("the head of %v in scope %d could start", c, s)
					}
				}
			}
		}
	})
}
