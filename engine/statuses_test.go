package engine_test

import (
	"slices"
	"testing"

	"herdscope/engine"
	"herdscope/engine/knob"
)

func TestStatusSets(t *testing.T) {
	for _, tc := range []struct {
		set     engine.StatusSet
		has     []uint16
		has5xx  bool // but for hasNot
		hasNot  []uint16
		written string
	}{
		{engine.StatusTransient, []uint16{408, 425, 429, 500, 502, 503, 504}, false, nil, "transient"},
		{engine.StatusServer, nil, true, nil, "server"},
		{engine.StatusNone, nil, false, nil, "none"},
		{engine.StatusServer429, []uint16{429}, true, nil, "server_429"},
		{engine.StatusServer429Not501, []uint16{429}, true, []uint16{501}, "server_429_not_501"},
		{engine.StatusServer408429, []uint16{408, 429}, true, nil, "server_408_429"},
		{engine.StatusServer409, []uint16{409}, true, nil, "server_409"},
		{engine.StatusServer408409429, []uint16{408, 409, 429}, true, nil, "server_408_409_429"},
		{engine.StatusGateway, []uint16{500, 502, 503, 504}, false, nil, "gateway"},
		{engine.StatusGateway429, []uint16{429, 500, 502, 503, 504}, false, nil, "gateway_429"},
		{engine.StatusGateway408429, []uint16{408, 429, 500, 502, 503, 504}, false, nil, "gateway_408_429"},
		{engine.StatusKy, []uint16{408, 413, 429, 500, 502, 503, 504}, false, nil, "ky"},
		{engine.StatusGot, []uint16{408, 413, 429, 500, 502, 503, 504, 521, 522, 524}, false, nil, "got"},
		{engine.StatusHinted, []uint16{413, 429, 503}, false, nil, "hinted"},
		{engine.StatusUnavailable, []uint16{429, 502, 503, 504}, false, nil, "unavailable"},
		{99, nil, false, nil, "unknown"},
	} {
		if got := tc.set.String(); got != tc.written {
			t.Errorf("set %d is called %q, want %q", tc.set, got, tc.written)
		}
		for status := range uint16(700) {
			want := slices.Contains(tc.has, status) ||
				tc.has5xx && status/100 == 5 && !slices.Contains(tc.hasNot, status)
			if got := tc.set.Has(status); got != want {
				t.Errorf("%v has %d: %v", tc.set, status, got)
			}
		}
	}
}

func TestEveryErrorIsInStatusErrors(t *testing.T) {
	for status := range uint16(700) {
		want := status/100 == 4 || status/100 == 5
		if got := engine.StatusErrors.Has(status); got != want {
			t.Errorf("errors has %d: %v", status, got)
		}
	}
}

func TestKnobNamesEveryStatusSet(t *testing.T) {
	i, _ := knob.Index(engine.Fields, "retry.statuses")
	for set, name := range engine.Fields[i].Choices {
		if got := engine.StatusSet(set).String(); got != name {
			t.Errorf("the knob calls set %d %q, and it calls itself %q", set, name, got)
		}
	}
	if got := engine.StatusSet(len(engine.Fields[i].Choices)).String(); got != "unknown" {
		t.Errorf("the knob cannot choose %q", got)
	}
}
