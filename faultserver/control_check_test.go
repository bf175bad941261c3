//go:build check

package faultserver

import (
	"slices"
	"testing"
	"time"

	"herdscope/faultserver/fault"
)

// controlBound is how soon a change must be done (P-F1).
const controlBound = 100 * time.Millisecond

// P-F1: with a thousand requests stuck, 19 of 20 changes take effect within
// 100 ms, and so do 19 of 20 under load.
func TestPF1ControlIsPrompt(t *testing.T) {
	for way := range stuck {
		b, _ := hanging(t, way, 1000)
		var took []time.Duration
		for range 10 {
			took = append(took, steer(t, b)...)
			b.admin("DELETE", "/_fault/faults/quota", "")
			b.admin("POST", "/_fault/faults", `{"name": "stuck", "kind": "latency", "added": "1h"}`)
		}
		prompt(t, "1,000 stuck by "+way, took)
		began := time.Now()
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if closing := time.Since(began); closing > time.Second {
			t.Errorf("closing took %v, want a second at most", closing)
		}
	}

	loaded := newBench(t, fault.Config{}, func(c *Config) { c.Admin = DefaultAddr })
	prompt(t, "under load", changeUnderLoad(t, loaded, 1000))
}

func prompt(t *testing.T, what string, took []time.Duration) {
	t.Helper()
	slices.Sort(took)
	p95 := took[len(took)*95/100]
	t.Logf("%s: p50 %v, p95 %v, max %v of %d changes", what, took[len(took)/2], p95, took[len(took)-1], len(took))
	if p95 > controlBound {
		t.Errorf("%s: p95 is %v, want at most %v", what, p95, controlBound)
	}
}
