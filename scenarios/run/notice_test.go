package run

import (
	"strings"
	"testing"

	"herdscope/engine/metrics"
)

// TestNoticeSaysWhatHoldsRequestsBack: a pause is no mere limit, and a deadlock of
// nested requests is named, since no queue need be long in it.
func TestNoticeSaysWhatHoldsRequestsBack(t *testing.T) {
	waiting := metrics.Snapshot{Waiting: 500, Now: metrics.Headline{Offered: 100}}
	paused := waiting
	paused.Paused = 3
	for _, tt := range []struct {
		name     string
		snapshot metrics.Snapshot
		want     string
	}{
		{"nothing", metrics.Snapshot{}, ""},
		{"limits", waiting, "queue limits hold them back"},
		{"a pause", paused, "a limit of 0 pauses them"},
		{"deadlocks", metrics.Snapshot{Deadlocks: 7}, "7 deadlocks of nested requests"},
	} {
		got := notice(&tt.snapshot, condition{speed: 1})
		if !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
