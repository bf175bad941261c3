package run

import (
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
	"herdscope/scenarios"
)

// clickers is a fleet whose users order, a fifth of them twice within 300 ms, from a
// server that takes half a second.
func clickers(t testing.TB, settings ...string) scenarios.Scenario {
	t.Helper()
	s := scenarios.Default()
	s.Duration = 20 * time.Second
	s.Fleet.Arrival.Kind, s.Fleet.Arrival.Double = fleet.Poisson, 200
	s.Fleet.Mix[wire.Interactive].Method = wire.Post
	s.Server.Service = fault.Service{Shape: fault.FixedShape, Mean: 500 * time.Millisecond}
	s.Server.Workers = 0
	for i := 0; i+1 < len(settings); i += 2 {
		if err := s.Set(settings[i], settings[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestNE37OneWriteAtTheServer: who clicks twice orders twice, unless the second shares
// the flight of the first.
func TestNE37OneWriteAtTheServer(t *testing.T) {
	naive := runVirtual(t, clickers(t)).Summary
	shared := runVirtual(t, clickers(t, "dedup.window", "1s")).Summary
	if naive.Duplicates < 300 || naive.Joined != 0 {
		t.Errorf("without sharing %d duplicates, %d joined", naive.Duplicates, naive.Joined)
	}
	if shared.Duplicates != 0 || shared.Joined != naive.Duplicates {
		t.Errorf("with sharing %d duplicates, and %d joined; want none, and %d",
			shared.Duplicates, shared.Joined, naive.Duplicates)
	}
	if shared.Requests != naive.Requests || shared.Attempts != naive.Attempts-shared.Joined {
		t.Errorf("%d and %d requests, %d and %d attempts", naive.Requests, shared.Requests,
			naive.Attempts, shared.Attempts)
	}
}

// TestNE30LanesHaveNoDeadlock: parents that keep their slots hold each other up where
// what is nested in them takes the same slots, and each such deadlock is named in the
// moment in which it arises.
func TestNE30LanesHaveNoDeadlock(t *testing.T) {
	for nested, deadlocks := range map[string]bool{"lane": false, "shared": true} {
		s := clickers(t, "queue.limit", "2", "queue.nested", nested, "queue.nested_limit", "2")
		s.Fleet.Arrival.Nested = 2
		log := logOf(wire.NestedDeadlock, wire.RequestDone)
		r := runVirtual(t, s, log).Summary
		if deadlocks != (r.Deadlocks > 0) || r.Outcomes[wire.Succeeded] == 0 {
			t.Errorf("%s: %d deadlocks, outcomes %v", nested, r.Deadlocks, r.Outcomes)
		}
		named := map[wire.AttemptID]clock.Instant{}
		for _, e := range log.events {
			if e.Kind == wire.NestedDeadlock {
				named[e.ID] = e.At
				continue
			}
			if at, ok := named[e.ID]; ok && (at != e.At || e.Cause != wire.CauseNestedDeadlock) {
				t.Fatalf("%s: %v ended %v later for %v", nested, e.ID, e.At.Sub(at), e.Cause)
			}
		}
	}
}

// TestTiedRequestsUnderFaults holds both, in pages that people leave, against the
// identities and every snapshot.
func TestTiedRequestsUnderFaults(t *testing.T) {
	for _, name := range []string{"gateway-down", "restart", "starvation"} {
		for nested := range 2 {
			s := builtin(t, name, "arrival.patience", "3s", "arrival.double", "0.3", "arrival.double_gap", "20ms",
				"dedup.window", "1s", "dedup.methods", "all", "queue.nested", "shared", "queue.limit", "2")
			s.Fleet.Arrival.Chain, s.Fleet.Arrival.Nested = 2, nested
			s.Duration = min(s.Duration, 15*time.Second)
			r := checked(t, s).Summary
			if nested == 0 && r.Joined == 0 || nested == 1 && r.Deadlocks == 0 {
				t.Errorf("%s: %d joined, %d deadlocks", name, r.Joined, r.Deadlocks)
			}
		}
	}
}
