package run

import (
	"testing"

	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/scenarios"
)

// expiry has all tokens run out at once, for a second.
const expiry = `version: 1
name: expiry
duration: 10s
drain: 5s
fleet: {clients: 20}
arrival: {kind: poisson, rate: 200/s}
auth: {refresh: on}
faults:
  - {name: expired, kind: errors, start: 3s, length: 1s, share: 0.5, status: 401}
`

// Each refresh is a request of its own, and those that meet a 401 too have failed.
func TestRefreshesAreInTheSummary(t *testing.T) {
	s, err := scenarios.Parse("expiry.yaml", []byte(expiry))
	if err != nil {
		t.Fatal(err)
	}
	got := runVirtual(t, s).Summary
	if r := got.Refreshes; r.Begun == 0 || r.Failed == 0 || r.Failed >= r.Begun ||
		r.Begun > got.Statuses[401] {
		t.Errorf("%+v after %d times 401", r, got.Statuses[401])
	}
	if err := s.Set("auth.refresh", "off"); err != nil {
		t.Fatal(err)
	}
	off := runVirtual(t, s).Summary
	if off.Refreshes != (metrics.Refreshes{}) || off.Outcomes[wire.Failed] == 0 {
		t.Errorf("off: %+v, %d failed", off.Refreshes, off.Outcomes[wire.Failed])
	}
}
