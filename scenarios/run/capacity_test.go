package run

import (
	"fmt"
	"testing"
	"time"

	"herdscope/engine/wire"
	"herdscope/scenarios"
)

// slowedDown is the setting that the README names.
const slowedDown = `version: 1
name: slowed-down
duration: 60s
fleet: {clients: %d}
arrival: {kind: closed, think: 0s}
server: {service: {mean: 342.857142ms, per_in_flight: 42.857143ms}}
network: {delay: 0s}
`

// TestSlowDownIsSeenByCallers: 6 callers wait 600 ms each, 20 wait 1.2 s.
func TestSlowDownIsSeenByCallers(t *testing.T) {
	for clients, want := range map[int]time.Duration{6: 600 * time.Millisecond, 20: 1200 * time.Millisecond} {
		s, err := scenarios.Parse("slow.yaml", fmt.Appendf(nil, slowedDown, clients))
		if err != nil {
			t.Fatal(err)
		}
		r := checked(t, s)
		got := r.Summary.Latency[wire.Interactive]
		if got.Count < 500 || got.P50.Round(5*time.Millisecond) != want {
			t.Errorf("%d clients: %+v, want a median of %v", clients, got, want)
		}
	}
}

// TestCapacityKeepsEveryIdentity: whatever a full server does, what metrics count
// is what events say, and nobody is lost.
func TestCapacityKeepsEveryIdentity(t *testing.T) {
	for i, full := range []string{"reject", "block", "drop-oldest"} {
		for _, order := range []string{"lifo", "codel", "adaptive-lifo", "priority"} {
			s := builtin(t, "restart",
				"server.workers", "5", "server.backlog", "20", "server.when_full", full, "server.order", order,
				"server.rejection_cost", "0.05", "server.abandoned", []string{"serve", "cancel"}[i%2],
				"server.cold_start.time", "3s", "server.service.shape", "pareto",
				"mix.critical.timeout", "500ms", "mix.interactive.timeout", "500ms")
			s.Duration = min(s.Duration, 15*time.Second)
			r := checked(t, s)
			if r.Summary.Rejected == 0 && full != "block" {
				t.Errorf("%s, %s: nobody was rejected", full, order)
			}
			if cancels := r.Summary.ServerCancelled > 0; cancels != (i%2 == 1) {
				t.Errorf("%s, %s: %d cancelled", full, order, r.Summary.ServerCancelled)
			}
			if r.Summary.BusyShare <= 0 || r.Summary.BusyShare > 1 {
				t.Errorf("%s, %s: busy for %v of the time", full, order, r.Summary.BusyShare)
			}
		}
	}
}

const shop = `version: 1
name: shop
duration: 10s
classes:
  critical: {path: /pay}
  interactive: {path: /search}
  background: {path: /report}
fleet: {clients: 60}
arrival: {kind: closed, think: 100ms}
server: {workers: 2, backlog: 5, service: {mean: 100ms}}
services:
  - {name: payments, routes: [/pay], workers: 20, service: {mean: 50ms}}
routes:
  - {path: /report, mean: 10ms}
`

// TestServicesDoNotSlowEachOther: the routes of an overloaded service suffer, those
// of another do not.
func TestServicesDoNotSlowEachOther(t *testing.T) {
	s, err := scenarios.Parse("shop.yaml", []byte(shop))
	if err != nil {
		t.Fatal(err)
	}
	r := checked(t, s)
	pay, search := r.Summary.Latency[wire.Critical], r.Summary.Latency[wire.Interactive]
	if pay.P99 > 60*time.Millisecond || search.P50 < 150*time.Millisecond || r.Summary.Rejected == 0 {
		t.Errorf("pay %+v, search %+v, %d rejected", pay, search, r.Summary.Rejected)
	}
}
