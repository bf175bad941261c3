//go:build check

package run

import (
	"math"
	"testing"

	"herdscope/engine/wire"
)

// TestLiveAgreesWithVirtual runs every scenario that is the same work in both
// drivers, and compares: attempts and outcomes within 3 %, the peak of restart
// within 35 %.
func TestLiveAgreesWithVirtual(t *testing.T) {
	for _, name := range []string{"restart", "rate-limit", "gateway-down", "starvation"} {
		s := builtin(t, name)
		live, virtual := runLive(t, s).Summary, runVirtual(t, s).Summary
		t.Logf("%s: attempts %d live, %d virtual; peak/mean %.1f and %.1f; outcomes %v and %v", name,
			live.Attempts, virtual.Attempts, live.Herd.PeakToMean, virtual.Herd.PeakToMean,
			live.Outcomes, virtual.Outcomes)
		near(t, name+": attempts", live.Attempts, virtual.Attempts, virtual.Attempts)
		for o := range live.Outcomes {
			what := name + ": " + wire.Outcome(o).String()
			near(t, what, live.Outcomes[o], virtual.Outcomes[o], virtual.Requests)
		}
		off := math.Abs(live.Herd.PeakToMean/virtual.Herd.PeakToMean - 1)
		if name == "restart" && off > 0.35 {
			t.Errorf("restart: peak/mean is off by %.0f %%", 100*off)
		}
	}
}

// near says whether two counts differ by at most 3 % of the whole.
func near(t *testing.T, what string, live, virtual, whole int64) {
	t.Helper()
	if diff := math.Abs(float64(live - virtual)); diff > 0.03*float64(whole) {
		t.Errorf("%s: %d live, %d virtual", what, live, virtual)
	}
}
