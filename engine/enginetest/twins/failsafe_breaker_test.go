package twins_test

import (
	"testing"
	"time"

	"herdscope/engine/breaker"
	"herdscope/engine/clock"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"pgregory.net/rapid"
)

// TestBreakerAgreesWithFailsafe covers failures out of the last calls, and
// rounds of probes, for calls one after the other: failsafe-go has no
// generations, so those that overlap are in "Found by running".
func TestBreakerAgreesWithFailsafe(t *testing.T) {
	check(t, func(t *rapid.T) {
		ours := breaker.Breaker{}
		c := drawWindow(t)
		theirs := circuitbreaker.NewBuilder[any]().WithDelay(c.OpenFor).
			WithFailureThresholdRatio(uint(c.WindowFailures), uint(c.WindowCalls)).
			WithSuccessThreshold(uint(c.Probes)).Build()
		calls := failsafe.With(theirs)
		begin := time.Now()
		for range rapid.IntRange(1, 80).Draw(t, "calls") {
			time.Sleep(time.Duration(rapid.IntRange(0, 3).Draw(t, "pass")) * time.Second / 2)
			failed := rapid.Bool().Draw(t, "failed")
			want := theirCall(calls, failed)
			got := ourCall(&ours, clock.Instant(time.Since(begin)), &c, failed)
			if got != want {
				t.Fatalf("ours lets the call through: %v, failsafe-go: %v", got, want)
			}
			if word(theirs.State()) != ours.State().String() {
				t.Fatalf("ours is %v, failsafe-go %v", ours.State(), theirs.State())
			}
		}
	})
}

// drawWindow draws a breaker that opens after some failures of the last calls.
func drawWindow(t *rapid.T) breaker.Config {
	c := breaker.Config{
		Window: breaker.CountWindow, WindowCalls: rapid.IntRange(1, 12).Draw(t, "window"),
		OpenFor: time.Duration(rapid.IntRange(1, 4).Draw(t, "open for")) * time.Second,
		Probes:  rapid.IntRange(1, 4).Draw(t, "probes"),
	}
	c.WindowFailures = rapid.IntRange(1, c.WindowCalls).Draw(t, "failures")
	c.Successes = c.Probes
	return c
}

// theirCall says whether a call was let through.
func theirCall(calls failsafe.Executor[any], failed bool) (through bool) {
	_ = calls.Run(func() error {
		through = true
		if failed {
			return errFailed
		}
		return nil
	})
	return through
}

// ourCall is theirCall for a breaker of ours.
func ourCall(b *breaker.Breaker, now clock.Instant, c *breaker.Config, failed bool) bool {
	p, through, _ := b.Allow(now, c, nil)
	if !through {
		return false
	}
	end := breaker.Call{Result: breaker.Success}
	if failed {
		end.Result = breaker.Failure
	}
	b.Report(now, c, &p, end, nil)
	return true
}
