package faultserver

import (
	"net/http/httptest"
	"testing"

	"herdscope/engine/wire"
)

func TestKeyOfARequest(t *testing.T) {
	const own = `"00c0ffee00c0ffee"`
	for _, tt := range []struct {
		name, attempt, field string
		want                 uint64
	}{
		{"of the fleet", "417.12.3.critical.0.-", own, 0x00c0ffee00c0ffee},
		{"of the fleet, without", "417.12.3.critical.0.-", "", 0},
		{"foreign", "", "order-417", wire.ParseKey("order-417")},
		{"foreign, without", "", "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest("POST", "/pay", nil)
			for field, value := range map[string]string{
				wire.AttemptHeader: tt.attempt, "idempotency-key": tt.field,
			} {
				if value != "" {
					r.Header.Set(field, value)
				}
			}
			a, err := new(Server).identify(r, 0)
			if err != nil || a.attempt.Key != tt.want || a.attempt.Method != wire.Post {
				t.Errorf("identified as %+v, %v; want the key %#x", a, err, tt.want)
			}
		})
	}
}
