package page

import (
	"testing"

	"pgregory.net/rapid"

	"herdscope/engine/wire"
)

// Every state that a breaker is in has a letter in the column, be it one of a
// thousand, and the column is full.
func TestSharesLeaveNobodyOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var counts [wire.NumBreakerStates]int64
		kinds, all := 0, int64(0)
		for s := range counts {
			counts[s] = rapid.SampledFrom([]int64{0, 0, 1, 3, 200, 100_000}).Draw(t, "count")
			if all += counts[s]; counts[s] > 0 {
				kinds++
			}
		}
		h := rapid.IntRange(kinds, 20).Draw(t, "height")
		got := shares(counts, h)
		if all == 0 {
			if got != nil {
				t.Fatalf("%v of no breakers", got)
			}
			return
		}
		var cells [wire.NumBreakerStates]int
		for _, s := range got {
			cells[s]++
		}
		for s, n := range counts {
			if (n > 0) != (cells[s] > 0) {
				t.Fatalf("%v: %v has %d of %d cells", counts, wire.BreakerState(s), cells[s], h)
			}
		}
		if len(got) != h {
			t.Fatalf("%d cells, want %d", len(got), h)
		}
	})
}
