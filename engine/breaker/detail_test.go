package breaker

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"herdscope/engine/clock"
)

// TestLookingChangesNothing has one of two breakers looked at all the time, also
// ahead of the calls: it shows what its window holds, and both stay the same.
func TestLookingChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Config{
			Window:      rapid.SampledFrom([]Window{CountWindow, TimeWindow}).Draw(t, "window"),
			WindowCalls: 7, WindowTime: time.Second, FailureRate: 800, MinCalls: 5,
			OpenFor: 300 * time.Millisecond,
		}
		a, b := New(1), New(1)
		now := clock.Instant(0)
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			now = now.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "ms")) * time.Millisecond)
			call := Call{Result: rapid.SampledFrom([]Result{Success, Failure}).Draw(t, "result")}
			b.Detail(now.Add(time.Hour), &c)
			for _, x := range []*Breaker{&a, &b} {
				if p, ok, _ := x.Allow(now, &c, nil); ok {
					x.Report(now, &c, &p, call, nil)
				}
			}
			got := b.Detail(now, &c)
			if want := a.window.tally(now); got.Calls != want.calls || got.Failed != want.failed {
				t.Fatalf("looks like %d of %d calls, is %d of %d", got.Failed, got.Calls, want.failed, want.calls)
			}
			if a.state != b.state || a.until != b.until || a.trips != b.trips {
				t.Fatalf("%+v became %+v by being looked at", a, b)
			}
		}
	})
}
