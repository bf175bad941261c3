package run

import (
	"context"
	"sync"
	"testing"
	"time"

	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
	"herdscope/scenarios"
)

// byIdentity has every kind of fault whose victims depend on who they are, open
// from the beginning, so that it matters to nobody when anything happens.
const byIdentity = `
version: 1
name: by-identity
seed: 7
fleet: {clients: 40}
arrival: {kind: closed, think: 20ms}
classes:
  critical: {weight: 1, path: /pay, method: POST}
  interactive: {weight: 2, path: /search, header: "X-Tenant: gold"}
retry: {attempts: 4, base: 10ms, cap: 20ms, jitter: full, methods: all}
breaker: {failures: off}
queue: {limit: unlimited}
server: {service: {mean: 2ms}}
faults:
  - {name: errors, kind: errors, start: 0s, share: 0.08, status: 502, body: "try again"}
  - {name: some-clients, kind: errors, start: 0s, clients: 0.2, share: 0.2, status: 500}
  - {name: payments, kind: errors, start: 0s, path: /pay, methods: POST, share: 0.1, status: 504}
  - {name: tenants, kind: errors, start: 0s, header: "x-tenant: gold", share: 0.05, status: 508}
  - {name: important, kind: errors, start: 0s, classes: critical, share: 0.05, status: 429}
  - {name: connections, kind: errors, start: 0s, unit: connection, share: 0.1, status: 505}
  - {name: newcomers, kind: errors, start: 0s, first: 2, per_client: on, status: 503}
  - {name: close-arrival, kind: close, point: arrival, start: 0s, share: 0.03}
  - {name: close-reply, kind: close, start: 0s, share: 0.03}
  - {name: close-header, kind: close, point: header, start: 0s, share: 0.03}
  - {name: reset-reply, kind: reset, start: 0s, share: 0.03}
  - {name: reset-body, kind: reset, point: body, start: 0s, share: 0.03}
  - {name: truncated, kind: truncated, start: 0s, share: 0.03}
  - {name: bad-chunk, kind: bad-chunk, start: 0s, share: 0.03}
  - {name: garbage, kind: garbage, start: 0s, share: 0.03}
  - {name: drip, kind: drip, over: 5ms, start: 0s, share: 0.03}
  - {name: slow-header, kind: slow-header, over: 5ms, start: 0s, share: 0.03}
  - {name: latency, kind: latency, added: 3ms, shape: exponential, wave: sine, period: 1s, start: 0s, share: 0.2}
`

// fates is how each attempt ended for its client.
type fates struct {
	mu sync.Mutex
	of map[wire.AttemptID]wire.Event
}

func (f *fates) Observe(e wire.Event) {
	if e.Kind != wire.AttemptEnded {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = make(map[wire.AttemptID]wire.Event)
	}
	f.of[e.ID] = e
}

func parsed(t testing.TB, text string) scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inVirtualTime is how a run in virtual time ends, and how its attempts do.
func inVirtualTime(t *testing.T, s scenarios.Scenario) (*fates, Result) {
	t.Helper()
	virtual := &fates{}
	r, err := Headless(context.Background(), s, Options{Observers: []wire.Observer{virtual}})
	if err != nil {
		t.Fatal(err)
	}
	return virtual, r
}

// TestSocketsAndModelPickTheSameVictims: who is hit, and how that ends for it, is
// the same in virtual time and over sockets, attempt for attempt. How many
// attempts there are is a matter of time, and so of the machine.
func TestSocketsAndModelPickTheSameVictims(t *testing.T) {
	s := parsed(t, byIdentity)
	s.Drain = time.Minute
	stretched(t, func(times time.Duration) bool {
		s.Duration = times * time.Second
		virtual, _ := inVirtualTime(t, s)
		var live fates
		runLive(t, s, &live)
		return sameFates(t, virtual, &live) >= 400
	})
}

// sameFates compares the attempts that both runs have, and returns how many those
// are.
func sameFates(t *testing.T, virtual, live *fates) (both int) {
	t.Helper()
	hit := 0
	for id, got := range live.of {
		want, ok := virtual.of[id]
		if !ok {
			continue
		}
		both++
		if want.Cause != wire.CauseStatus || want.Status != 200 {
			hit++
		}
		if got.Cause != want.Cause || got.Status != want.Status {
			t.Errorf("%v: %v %d over sockets, %v %d in virtual time",
				id, got.Cause, got.Status, want.Cause, want.Status)
		}
	}
	if hit < both/5 {
		t.Errorf("only %d of %d attempts in common are hit", hit, both)
	}
	return both
}

// TestPL10IdleClosesAreTheSameBothWays: P-L10: each client has one connection,
// asks every 120 ms, and finds it closed every time. The model finds out when the
// client comes back, the sockets when they close.
func TestPL10IdleClosesAreTheSameBothWays(t *testing.T) {
	const clients = 5
	s := parsed(t, `
version: 1
name: idle
fleet: {clients: 5}
arrival: {kind: closed, think: 120ms, think_shape: fixed}
server: {service: {mean: 1ms}}
faults:
  - {name: idle, kind: idle-close, start: 0s, after: 30ms, race: none}
`)
	s.Drain = time.Minute
	check := func(r Result) (enough bool) {
		requests, hits := r.Summary.Requests, r.Faults[0].Hits
		if hits > requests || hits < requests-2*clients {
			t.Errorf("live %v: %d connections closed in %d requests", r.Live, hits, requests)
		}
		if r.Summary.Outcomes[wire.Succeeded] != requests {
			t.Errorf("live %v: %d of %d requests succeeded", r.Live, r.Summary.Outcomes[wire.Succeeded], requests)
		}
		return requests >= 8*clients
	}
	stretched(t, func(times time.Duration) bool {
		s.Duration = 1200 * ms * times
		_, v := inVirtualTime(t, s)
		if !check(v) {
			t.Errorf("%d requests in virtual time", v.Summary.Requests)
		}
		return check(runLive(t, s))
	})
}

// TestABlackHoleTakesTheSameBothWays: it swallows a class of requests, all of them,
// and those alone. They have a timeout, since nothing else ends them; the class has
// no others, so that no slow machine makes one more of those that end by it.
func TestABlackHoleTakesTheSameBothWays(t *testing.T) {
	s := parsed(t, `
version: 1
name: hole
seed: 7
fleet: {clients: 40}
arrival: {kind: closed, think: 20ms}
classes:
  interactive: {weight: 16, path: /search}
  background: {weight: 1, path: /report, timeout: 250ms}
retry: {attempts: 2, base: 10ms, cap: 20ms, jitter: full, methods: all}
breaker: {failures: off}
queue: {limit: unlimited}
server: {service: {mean: 2ms}}
faults:
  - {name: hole, kind: outage, how: black-hole, path: /report, start: 0s}
  - {name: errors, kind: errors, start: 0s, share: 0.3, status: 502}
`)
	s.Drain = time.Minute
	stretched(t, func(times time.Duration) bool {
		s.Duration = times * time.Second
		virtual, v := inVirtualTime(t, s)
		if hits, timeouts := v.Faults[0].Hits, virtual.timeouts(); hits == 0 || hits != timeouts {
			t.Errorf("%d are swallowed, %d end by their timeout", hits, timeouts)
		}
		var live fates
		l := runLive(t, s, &live)
		// The time of some may be over before they are on the wire.
		hits, timeouts := l.Faults[0].Hits, live.timeouts()
		if hits > timeouts {
			t.Errorf("over sockets %d are swallowed, %d end by their timeout", hits, timeouts)
		}
		return sameFates(t, virtual, &live) >= 400 && hits >= 20
	})
}

// timeouts is how many attempts have ended by their timeout.
func (f *fates) timeouts() (n int64) {
	for _, e := range f.of {
		if e.Cause == wire.CauseTimeout {
			n++
		}
	}
	return n
}

// TestEveryKindKeepsTheIdentities runs each kind of fault, in each of its ways,
// in virtual time, with every event and every snapshot held against what has to
// add up.
func TestEveryKindKeepsTheIdentities(t *testing.T) {
	s := builtin(t, "restart", "fleet.clients", "50", "retry.base", "100ms", "mix.interactive.timeout", "1s",
		"arrival.think", "100ms", "server.workers", "40", "server.service.mean", "20ms")
	s.Duration, s.Drain = 6*time.Second, time.Minute
	with := func(f fault.Fault) {
		f.Name, f.Start, f.Length, f.Every = "f", time.Second, time.Second, 2*time.Second
		s.Server.Faults = []fault.Fault{f}
		r := checked(t, s)
		if r.Faults[0].Hits == 0 {
			t.Errorf("%v %v %v hits nobody", f.Kind, f.How, f.Point)
		}
	}
	for k := range fault.Kind(fault.NumKinds) {
		f := fault.NewFault(k)
		f.Added, f.After, f.Limit.Rate, f.Left = 100*time.Millisecond, 20*time.Millisecond, 1000, 10
		ways := 1
		switch k {
		case fault.Outage:
			ways = len(fault.MannerNames())
		case fault.Close, fault.Reset:
			ways = len(fault.PointNames())
		}
		for way := range ways {
			f.How, f.Point = fault.Manner(way), fault.Point(way)
			if k != fault.Outage {
				f.How = 0
			}
			if k != fault.Close && k != fault.Reset {
				f.Point = 0
			}
			with(only(f))
		}
	}
}

// only is a fault with the fields that do not belong to its kind as they were.
func only(f fault.Fault) fault.Fault {
	standard := fault.NewFault(f.Kind)
	for i := range fault.FaultFields {
		field := &fault.FaultFields[i]
		if !field.BelongsTo(f.Kind) {
			field.Set(&f, field.Get(&standard))
		}
	}
	return f
}
