package page

import (
	"testing"

	"pgregory.net/rapid"
)

// As time goes on, a value in the middle stays as it is: the chart scrolls, and
// does not tremble.
func TestSqueezedValuesDoNotTremble(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Float64Range(0, 1), 60, 200).Draw(t, "values")
		n := rapid.IntRange(2, 30).Draw(t, "n")
		size := len(all) - 1
		before, after := squeeze(all[:size], 0, n), squeeze(all[1:], 1, n)
		if len(before) > n+1 || len(after) > n+1 {
			t.Fatalf("%d and %d values for %d", len(before), len(after), n)
		}
		for i := 1; i+1 < len(before) && i+1 < len(after); i++ {
			if before[i] != after[i] {
				t.Fatalf("value %d was %v and is %v", i, before[i], after[i])
			}
		}
	})
}
