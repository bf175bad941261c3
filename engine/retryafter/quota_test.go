package retryafter

import (
	"testing"

	"herdscope/engine/wire"
)

func TestFormatOfAQuota(t *testing.T) {
	for _, tc := range []struct {
		q            wire.Quota
		policy, rest string
	}{
		{wire.Quota{}, "", ""},
		{wire.Quota{Units: 100, Window: 10, Remaining: 50, Reset: 30},
			`"default";q=100;w=10`, `"default";r=50;t=30`},
		{wire.Quota{Units: 5}, `"default";q=5`, `"default";r=0;t=0`},
	} {
		if got := FormatPolicy(tc.q); got != tc.policy {
			t.Errorf("policy of %+v: %s, want %s", tc.q, got, tc.policy)
		}
		if got := FormatQuota(tc.q); got != tc.rest {
			t.Errorf("rest of %+v: %s, want %s", tc.q, got, tc.rest)
		}
	}
}
