package run

import (
	"testing"
	"time"

	"herdscope/engine/wire"
)

// TestPagesUnderFaults: with pages that people leave, every built-in scenario
// keeps all identities, the drain included, and metrics see what events say.
func TestPagesUnderFaults(t *testing.T) {
	for _, name := range []string{"gateway-down", "rate-limit", "restart", "starvation"} {
		s := builtin(t, name, "arrival.patience", "3s")
		s.Fleet.Arrival.Chain = 3
		s.Duration = min(s.Duration, 20*time.Second)
		checked(t, s)

		log := logOf(wire.PageEnded)
		r := runVirtual(t, s, log).Summary
		var whole, failed int64
		for _, e := range log.events {
			switch {
			case !e.Good:
				failed++
			case !e.Warm:
				whole++
			}
		}
		if whole < r.Pages.Count || failed < r.PagesFailed {
			t.Errorf("%s: %d whole and %d failed pages by the events, %d and %d by the metrics",
				name, whole, failed, r.Pages.Count, r.PagesFailed)
		}
		if r.Pages.Count == 0 || r.PagesFailed == 0 || r.Outcomes[wire.Cancelled] == 0 {
			t.Errorf("%s: %d whole pages, %d failed, %d cancelled requests",
				name, r.Pages.Count, r.PagesFailed, r.Outcomes[wire.Cancelled])
		}
	}
}
