package run

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/enginetest"
	"herdscope/engine/wire"
	"herdscope/scenarios"

	"go.uber.org/goleak"
)

// ends holds the events of each end of a live run against the identities. The
// two ends are two goroutines, so that only within each is time in order.
type ends struct {
	clients, server *enginetest.Checker
	// refused counts the attempts that found no listener.
	refused *atomic.Int64
}

func watchEnds(p engine.Policy) ends {
	policy := func() engine.Policy { return p }
	return ends{enginetest.NewChecker(policy), enginetest.NewChecker(policy), new(atomic.Int64)}
}

func (e ends) Observe(ev wire.Event) {
	switch ev.Kind {
	case wire.ServerArrived, wire.ServerBegan, wire.ServerDone, wire.ServerRejected, wire.ServerReset,
		wire.ServerReturned, wire.ServerRepeated, wire.ServerCancelled, wire.ServerReplayed,
		wire.FaultBegan, wire.FaultEnded, wire.FaultStruck, wire.FaultMissed,
		wire.ServerSwallowed:
		e.server.Observe(ev)
	default:
		if ev.Kind == wire.AttemptEnded && ev.Cause == wire.CauseRefused {
			e.refused.Add(1)
		}
		e.clients.Observe(ev)
	}
}

// runLive runs a scenario over HTTP to its end, and holds it against the
// identities and both ends' counts against each other.
func runLive(t *testing.T, s scenarios.Scenario, others ...wire.Observer) Result {
	t.Helper()
	watch := watchEnds(s.Fleet.Policy)
	r, err := Headless(context.Background(), s, Options{Live: true, Observers: append(others, watch)})
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.clients.Err(); err != nil {
		t.Errorf("clients: %v", err)
	}
	if err := watch.server.Err(); err != nil {
		t.Errorf("server: %v", err)
	}
	if err := r.Summary.Check(); err != nil {
		t.Error(err)
	}
	// A listener that closes loses what is on its way to it unseen.
	whole := watch.refused.Load() == 0 && r.Summary.Outcomes[wire.Unfinished] == 0
	if whole && watch.clients.Sent() != watch.server.Arrivals() {
		t.Errorf("%d attempts sent, %d arrived", watch.clients.Sent(), watch.server.Arrivals())
	}
	return r
}

func TestLiveRunKeepsTheIdentities(t *testing.T) {
	defer goleak.VerifyNone(t)
	s := builtin(t, "restart", "fleet.clients", "60", "server.service.mean", "100ms",
		"retry.base", "200ms", "fault.restart.start", "400ms", "fault.restart.length", "300ms",
		"fault.restart.every", "1s")
	s.Duration, s.Drain = 1500*time.Millisecond, time.Minute
	r := runLive(t, s)
	if r.Summary.Outcomes[wire.Unfinished] != 0 || r.Summary.Reset == 0 || r.Summary.Retries == 0 {
		t.Errorf("%d unfinished, %d reset, %d retries",
			r.Summary.Outcomes[wire.Unfinished], r.Summary.Reset, r.Summary.Retries)
	}
}

// TestThousandResetsAreCountedTheSameAtBothEnds resets 1,000 live connections at
// once, and the retries that come back while the outage lasts.
func TestThousandResetsAreCountedTheSameAtBothEnds(t *testing.T) {
	s := builtin(t, "restart", "server.service.mean", "1h", "retry.base", "300ms",
		"retry.jitter", "full", "fault.restart.start", "600ms", "fault.restart.length", "400ms",
		"fault.restart.every", "1h")
	// All hold a request when the outage begins; what comes after it is short.
	s.Timeline = []scenarios.Action{{
		At: clock.Instant(700 * time.Millisecond), Kind: scenarios.SetKnob,
		Knob: "server.service.mean", Value: int64(50 * time.Millisecond),
	}}
	s.Duration, s.Drain = 1200*time.Millisecond, time.Minute
	r := runLive(t, s)
	if r.Summary.Outcomes[wire.Unfinished] != 0 || r.Summary.Reset < 1000 {
		t.Errorf("%d unfinished, %d reset", r.Summary.Outcomes[wire.Unfinished], r.Summary.Reset)
	}
}

// busiest is an observer that finds the most attempts that were with a worker at
// once.
type busiest struct{ now, most int }

func (b *busiest) Observe(e wire.Event) {
	switch e.Kind {
	case wire.ServerBegan:
		b.now++
		b.most = max(b.most, b.now)
	case wire.ServerDone:
		b.now--
	}
}

// TestServerSeesNoMoreThanTheLimit is field bug N-E36: a slot is held until the
// response has ended, so that the server's own gauge never shows more attempts
// than the client has slots.
func TestServerSeesNoMoreThanTheLimit(t *testing.T) {
	s := scenarios.Default()
	s.Name = "limit"
	for _, setting := range [][2]string{
		{"fleet.clients", "1"}, {"arrival.kind", "poisson"}, {"arrival.rate", "200"},
		{"queue.limit", "4"}, {"server.service.mean", "30ms"}, {"retry.attempts", "1"},
	} {
		if err := s.Set(setting[0], setting[1]); err != nil {
			t.Fatal(err)
		}
	}
	s.Duration, s.Drain = time.Second, time.Minute
	var virtual, live busiest
	runVirtual(t, s, &virtual)
	runLive(t, s, &live)
	if virtual.most != 4 || live.most != 4 {
		t.Errorf("at most %d at once in virtual time, %d live; the limit is 4", virtual.most, live.most)
	}
}

// TestAbortedLiveRunLeavesNothingBehind ends a run in the middle of an outage.
func TestAbortedLiveRunLeavesNothingBehind(t *testing.T) {
	defer goleak.VerifyNone(t)
	s := builtin(t, "restart", "fleet.clients", "100", "fault.restart.start", "100ms")
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	r, err := Headless(ctx, s, Options{Live: true})
	if err != nil || !r.Aborted {
		t.Errorf("aborted %v, error %v", r.Aborted, err)
	}
}
