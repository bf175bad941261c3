package run

import (
	"testing"
	"time"

	"herdscope/engine/preset"
	"herdscope/engine/wire"
)

// TestAReplacedConfigRetriesWithoutEnd: a hook that replaces the request loses
// the count of its retries, so that the naive interceptor goes on for as long as
// the server fails; only the engine's hard limit stops it. The same interceptor
// with its count gives up after three.
func TestAReplacedConfigRetriesWithoutEnd(t *testing.T) {
	for name, want := range map[string]int64{
		"axios-interceptor":     4,
		"axios-config-replaced": 1 + preset.MostRetries,
	} {
		s := builtin(t, "restart", "fleet.clients", "1", "arrival.think", "1h",
			"retry.preset", name, "fault.restart.start", "0s", "fault.restart.length", "10m",
			"fault.restart.every", "once")
		s.Duration, s.Drain, s.Timeline = time.Minute, 0, nil
		sent := logOf(wire.AttemptSent)
		r := runVirtual(t, s, sent)
		if got := int64(len(sent.events)); got != want {
			t.Errorf("%s: %d attempts of a request that always fails, want %d", name, got, want)
		}
		if r.Summary.Requests != 1 {
			t.Errorf("%s: %d requests, want 1", name, r.Summary.Requests)
		}
	}
}
