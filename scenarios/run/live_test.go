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

const ms = time.Millisecond

// slowest is how many times as long as on a machine that is not busy a live run
// may take to show what it is to show.
const slowest = 16

// stretched makes live runs until one has got enough done, each twice as long as
// the one before: how much that is in a given time, the machine says. run makes
// one of so many times the usual length.
func stretched(t *testing.T, run func(times time.Duration) (enough bool)) {
	t.Helper()
	for times := time.Duration(1); times <= slowest; times *= 2 {
		if run(times) {
			return
		}
	}
	t.Errorf("not enough is done in %d times the time", slowest)
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
	stretched(t, func(times time.Duration) bool {
		r := runLive(t, thousandHeld(t, times))
		if n := r.Summary.Outcomes[wire.Unfinished]; n != 0 {
			t.Errorf("%d unfinished", n)
		}
		return r.Summary.Reset >= 1000
	})
}

// thousandHeld has all clients hold a request when an outage begins; what comes
// after it is short. It takes so many times 1.2 s.
func thousandHeld(t *testing.T, times time.Duration) scenarios.Scenario {
	t.Helper()
	s := builtin(t, "restart", "server.service.mean", "1h", "retry.base", (300 * ms * times).String(),
		"retry.jitter", "full", "fault.restart.start", (600 * ms * times).String(),
		"fault.restart.length", (400 * ms * times).String(), "fault.restart.every", "1h")
	s.Timeline = []scenarios.Action{{
		At: clock.Instant(700 * ms * times), Kind: scenarios.SetKnob,
		Knob: "server.service.mean", Value: int64(50 * ms),
	}}
	s.Duration, s.Drain = 1200*ms*times, time.Minute
	return s
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
