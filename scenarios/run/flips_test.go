package run

import (
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
	"herdscope/scenarios"
)

// failing is one client of a server that answers a share of all attempts with
// 503, behind a breaker that one failure opens.
func failing(t *testing.T, share, think, openFor string) scenarios.Scenario {
	t.Helper()
	s := builtin(t, "gateway-down", "fleet.clients", "1", "arrival.kind", "closed",
		"arrival.think", think, "arrival.think_shape", "fixed", "retry.attempts", "1", "breaker.failures", "1",
		"breaker.failure_rate", "off", "breaker.slow_rate", "off", "breaker.open_jitter", "0",
		"breaker.open_for", openFor, "breaker.open_growth", "off", "breaker.lease", "1s",
		"breaker.probes", "1", "breaker.successes", "1")
	f, err := scenarios.Parse("faults", []byte(
		"version: 1\nname: x\nfaults:\n  - {name: bad, kind: errors, share: "+share+
			", start: 0s, length: 10m}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s.Server.Faults, s.Timeline = f.Server.Faults, nil
	return s
}

// P-F4: a breaker is seen to be eligible at the true moment, also while nobody
// calls.
func TestPF4EligibleWithoutTraffic(t *testing.T) {
	s := failing(t, "1", "20s", "10s")
	s.Duration, s.Drain = 40*time.Second, 0
	changes := logOf(wire.BreakerChanged)
	runVirtual(t, s, changes)
	if len(changes.events) < 2 {
		t.Fatalf("%d changes, want 2 at least: %v", len(changes.events), changes.events)
	}
	opened, eligible := changes.events[0], changes.events[1]
	if opened.To != wire.Open || eligible.To != wire.Eligible {
		t.Errorf("to %v, then to %v", opened.To, eligible.To)
	}
	if got := eligible.At.Sub(opened.At); got != 10*time.Second {
		t.Errorf("eligible after %v, want 10 s", got)
	}
}

// P-F4: flips that are faster than any frame are all in the log, and it counts as
// many as the summary.
func TestPF4EveryFlipIsInTheLog(t *testing.T) {
	s := failing(t, "0.5", "1ms", "1ms")
	s.Duration, s.Drain = 20*time.Second, 0
	changes := logOf(wire.BreakerChanged)
	summary := runVirtual(t, s, changes).Summary
	counts, last := map[wire.BreakerState]int64{}, wire.Closed
	at := clock.Instant(0)
	for _, e := range changes.events {
		if e.From != last || e.At < at {
			t.Fatalf("%v at %v follows %v at %v: a flip is missing", e, e.At, last, at)
		}
		last, at = e.To, e.At
		counts[e.To]++
	}
	if counts[wire.Open] < 300 {
		t.Errorf("opened %d times: too few to show anything", counts[wire.Open])
	}
	b := summary
	if b.Opened != counts[wire.Open] || b.HalfOpened != counts[wire.HalfOpen] ||
		b.Closed != counts[wire.Closed] {
		t.Errorf("the summary has %+v, the log %v", b, counts)
	}
}
