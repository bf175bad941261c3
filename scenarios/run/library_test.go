package run

import (
	"context"
	"errors"
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/enginetest"
	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/scenarios"
)

// runVirtual runs a scenario to its end in virtual time, with every event held
// against the identities. Its timeline must not change the policy.
func runVirtual(t testing.TB, s scenarios.Scenario, observers ...wire.Observer) Result {
	t.Helper()
	checker := enginetest.NewChecker(func() engine.Policy { return s.Fleet.Policy })
	r, err := Headless(context.Background(), s, Options{Observers: append(observers, checker)})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(checker.Err(), r.Summary.Check()); err != nil {
		t.Fatalf("%s, seed %d: %v", s.Name, s.Seed, err)
	}
	return r
}

// record keeps the events of the kinds that it is asked for.
type record struct {
	kinds  map[wire.EventKind]bool
	events []wire.Event
}

func logOf(kinds ...wire.EventKind) *record {
	l := &record{kinds: map[wire.EventKind]bool{}}
	for _, k := range kinds {
		l.kinds[k] = true
	}
	return l
}

func (l *record) Observe(e wire.Event) {
	if l.kinds[e.Kind] {
		l.events = append(l.events, e)
	}
}

// TestJitterFlattensTheRestart: at each of 20 seeds, full jitter lowers the peak
// of the arrivals at least fivefold.
func TestJitterFlattensTheRestart(t *testing.T) {
	for seed := range uint64(20) {
		none, full := builtin(t, "restart"), builtin(t, "restart", "retry.jitter", "full")
		none.Seed, full.Seed = seed, seed
		none.Duration, full.Duration = 25*time.Second, 25*time.Second // one outage and its waves
		a, b := runVirtual(t, none).Summary.Herd, runVirtual(t, full).Summary.Herd
		if a.PeakToMean < 5*b.PeakToMean {
			t.Errorf("seed %d: peak/mean %.1f without jitter, %.1f with", seed, a.PeakToMean, b.PeakToMean)
		}
	}
}

// TestRestartIsSteadyAtFirst: before the first outage the server sees a random
// stream of 200/s, from the first bin on.
func TestRestartIsSteadyAtFirst(t *testing.T) {
	s := builtin(t, "restart")
	s.Duration, s.Drain = 5*time.Second, 0
	h := runVirtual(t, s).Summary.Herd
	if h.PeakToMean > 2.2 || h.Arrivals < 880 || h.Arrivals > 1120 {
		t.Errorf("%d arrivals in 5 s with peak/mean %.1f; want about 1,000 at random", h.Arrivals, h.PeakToMean)
	}
}

// TestNoRetryWaveAtAnEdge: no retry wave of restart comes within 200 ms of an
// edge of the outage, so that nothing about it hangs on a hair.
func TestNoRetryWaveAtAnEdge(t *testing.T) {
	s := builtin(t, "restart")
	edges := logOf(wire.FaultBegan, wire.FaultEnded)
	waves := map[int64]int{}
	count := func(e wire.Event) {
		if e.Kind == wire.ServerArrived && e.ID.Try > 1 {
			waves[e.At.Bin(100*time.Millisecond)]++
		}
	}
	runVirtual(t, s, edges, observer(count))
	if len(edges.events) < 4 {
		t.Fatalf("only %d edges of outages", len(edges.events))
	}
	for _, e := range edges.events {
		for bin := e.At.Bin(100*time.Millisecond) - 2; bin < e.At.Bin(100*time.Millisecond)+2; bin++ {
			if waves[bin] > 50 {
				t.Errorf("%d retries arrive in the bin at %d00 ms, by the edge at %v", waves[bin], bin, e.At.Duration())
			}
		}
	}
}

// observer makes an observer of a function.
type observer func(wire.Event)

func (o observer) Observe(e wire.Event) { o(e) }

// TestRateLimitWaves: a date brings those who were turned away back as one, a
// delay in seconds does not; and nobody is ever early.
func TestRateLimitWaves(t *testing.T) {
	for form, ok := range map[string]func(float64) bool{
		"date":    func(share float64) bool { return share >= 0.9 },
		"seconds": func(share float64) bool { return share < 0.25 },
	} {
		s := runVirtual(t, builtin(t, "rate-limit", "fault.quota.retry_after", form)).Summary
		if s.Herd.Hinted < 1000 || !ok(s.Herd.HintedWaveShare) {
			t.Errorf("%s: %.3f of a wave in its fullest bin, of %d returns", form, s.Herd.HintedWaveShare, s.Herd.Hinted)
		}
		if s.Early != 0 || s.OnTime+s.Late != s.Herd.Hinted {
			t.Errorf("%s: %d early, %d on time, %d late, of %d", form, s.Early, s.OnTime, s.Late, s.Herd.Hinted)
		}
	}
}

func TestStarvationStarves(t *testing.T) {
	starving := logOf(wire.StarvationBegan, wire.StarvationEnded)
	s := runVirtual(t, builtin(t, "starvation"), starving).Summary
	oldest := s.Waits[wire.Background].Max
	critical := s.Latency[wire.Critical].P99
	if oldest <= 10*critical {
		t.Errorf("the oldest background wait is %v, critical p99 %v", oldest, critical)
	}
	began := 0
	for _, e := range starving.events {
		if e.Class != wire.Background {
			t.Errorf("%v of %v", e.Kind, e.Class)
		}
		if e.Kind == wire.StarvationBegan {
			began++
		}
	}
	if began == 0 || int64(began) != s.Starved[wire.Background] {
		t.Errorf("%d starvations by the events, %d by the summary", began, s.Starved[wire.Background])
	}
}

// TestGatewayDownGoesThroughAllStates: breakers open, probe and close, and no
// round has more than its one probe.
func TestGatewayDownGoesThroughAllStates(t *testing.T) {
	s := builtin(t, "gateway-down")
	changes := logOf(wire.BreakerChanged, wire.AttemptSent)
	summary := runVirtual(t, s, changes).Summary
	into := map[wire.BreakerState]int{}
	probes := map[wire.ClientID]int{}
	for _, e := range changes.events {
		switch {
		case e.Kind == wire.BreakerChanged:
			into[e.To]++
			probes[e.ID.Client] = 0
		case e.Probe:
			if probes[e.ID.Client]++; probes[e.ID.Client] > s.Fleet.Policy.Breaker.Probes {
				t.Errorf("client %d sent probe %d of a round", e.ID.Client, probes[e.ID.Client])
			}
		}
	}
	if into[wire.Open] < s.Fleet.Clients || into[wire.HalfOpen] < s.Fleet.Clients || into[wire.Closed] != s.Fleet.Clients {
		t.Errorf("transitions into open %d, half-open %d, closed %d", into[wire.Open], into[wire.HalfOpen], into[wire.Closed])
	}
	if summary.Opened != int64(into[wire.Open]) || summary.OpenShare < 0.3 {
		t.Errorf("summary: opened %d, open share %.2f", summary.Opened, summary.OpenShare)
	}
}

// TestTroubleComesSoonAndAgain: in every scenario of the library something goes
// wrong within 6 s and comes again, so that a dashboard always has it in view.
func TestTroubleComesSoonAndAgain(t *testing.T) {
	for _, s := range scenarios.Library() {
		edges := logOf(wire.FaultBegan)
		s.Duration, s.Drain = 130*time.Second, 0
		runVirtual(t, s, edges)
		if len(edges.events) < 3 || edges.events[0].At > clock.Instant(6*time.Second) {
			t.Errorf("%s: faults begin %d times in 130 s", s.Name, len(edges.events))
		}
	}
}

// TestHundredThousandClients: the largest fleet that is promised runs through an
// outage, and nothing of it is lost.
func TestHundredThousandClients(t *testing.T) {
	s := builtin(t, "restart", "fleet.clients", "100000", "fault.restart.start", "500ms")
	s.Duration, s.Drain = 2*time.Second, 0
	r := runVirtual(t, s).Summary
	if r.Requests < 100_000 || r.Reset < 100_000 {
		t.Errorf("%d requests, %d reset", r.Requests, r.Reset)
	}
}

// TestOfferedAndSentAreKeptApart is field bug P-L1: a fleet that cannot send
// what it is asked for says so, and never in the server's name.
func TestOfferedAndSentAreKeptApart(t *testing.T) {
	s := scenarios.Default()
	s.Name = "slow"
	for knob, text := range map[string]string{
		"fleet.clients": "5", "arrival.kind": "poisson", "arrival.rate": "1000",
		"queue.limit": "1", "server.service.mean": "200ms",
	} {
		if err := s.Set(knob, text); err != nil {
			t.Fatal(err)
		}
	}
	s.Duration = 20 * time.Second
	var last *metrics.Snapshot
	v, err := startVirtual(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.sim.RunUntil(clock.Instant(s.Duration)); err != nil {
		t.Fatal(err)
	}
	last = v.hub.snapshot(v.now())
	if last.Now.Offered < 900 || last.Now.Sent > 30 {
		t.Errorf("offered %.0f/s, sent %.0f/s; want about 1000 and 25", last.Now.Offered, last.Now.Sent)
	}
	if last.Waiting < 18_000 {
		t.Errorf("%d wait, want nearly all of 20,000", last.Waiting)
	}
	if n := notice(last, v.condition()); n == "" {
		t.Error("no notice says what holds the requests back")
	}
}

// TestEveryRequestIsCounted is field bug P-L5: whatever goes wrong, the outcomes
// sum to the requests.
func TestEveryRequestIsCounted(t *testing.T) {
	dead := builtin(t, "restart", "fault.restart.start", "0s", "fault.restart.length", "24s")
	dead.Duration, dead.Drain = 20*time.Second, 0
	broken := builtin(t, "gateway-down", "fault.outage.start", "0s", "breaker.failures", "1", "breaker.open_for", "1h")
	broken.Duration = 20 * time.Second
	slow := builtin(t, "restart", "server.service.mean", "1h", "server.service.shape", "fixed")
	slow.Duration, slow.Drain = 4*time.Second, 0
	for _, s := range []scenarios.Scenario{dead, broken, slow} {
		r := checked(t, s).Summary
		if r.Outcomes[wire.Succeeded] > r.Requests/10 {
			t.Errorf("%s: %d of %d succeeded", s.Name, r.Outcomes[wire.Succeeded], r.Requests)
		}
	}
}

// TestCutAndDrain is field bug P-L6: what is under way at the end is a kind of
// its own when it is cut, and has its own end when it may drain; the rates are
// those of the time that was measured, either way.
func TestCutAndDrain(t *testing.T) {
	s := builtin(t, "restart")
	s.Duration, s.Drain = 6*time.Second, 0
	cut := checked(t, s).Summary
	if cut.Outcomes[wire.Unfinished] < 900 || cut.Outcomes[wire.Failed] != 0 {
		t.Errorf("cut in the outage: %d unfinished, %d failed", cut.Outcomes[wire.Unfinished], cut.Outcomes[wire.Failed])
	}
	s.Drain = 5 * time.Minute
	drained := checked(t, s).Summary
	if drained.Outcomes[wire.Unfinished] != 0 || drained.Requests != cut.Requests {
		t.Errorf("drained: %d unfinished of %d; %d began when cut",
			drained.Outcomes[wire.Unfinished], drained.Requests, cut.Requests)
	}
	if drained.Duration != cut.Duration || drained.Goodput != cut.Goodput {
		t.Errorf("goodput %.2f/s over %v when drained, %.2f/s over %v when cut",
			drained.Goodput, drained.Duration, cut.Goodput, cut.Duration)
	}
}

// TestAbortedRunIsWhatItWas: a context that ends stops the run, and the result
// says so.
func TestAbortedRunIsWhatItWas(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := Headless(ctx, builtin(t, "restart"), Options{})
	if err != nil || !r.Aborted || r.Summary.Check() != nil {
		t.Errorf("aborted %v, error %v, check %v", r.Aborted, err, r.Summary.Check())
	}
}
