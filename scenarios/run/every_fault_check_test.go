//go:build check

package run

import (
	"math"
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

// everyFault has each kind of fault, and each manner of an outage. Whom those hit
// that are meant for /search and /report is a matter of who asks, and they are on
// from the beginning, so that it matters to nobody when that is. /pay has those
// that depend on the order, each in a window of its own; the last is a refusal,
// which spares nobody. The black hole ends before that: a listener that closes
// resets what hangs in it, where the model has lost it for good.
//
// Each client has one request at a time, and so one connection. It rests for
// 1.2 s after a request and for 100 ms at most before a retry: both are half a
// second from the 600 ms after which an idle connection is closed. So no request
// crosses a close, and both drivers close the same connections. They are closed
// from the beginning: a window that began later would close at once all that have
// been idle for longer, and meet who just then comes back. The model finds out
// about a close when the client comes back, and not at all if the black hole then
// takes the request: that is 1 % to 2 % of the attempts, and inside the bound.
const everyFault = `
version: 1
name: every-fault
seed: 7
fleet: {clients: 480}
arrival: {kind: closed, think: 1200ms, think_shape: fixed}
classes:
  critical: {weight: 2, path: /pay, method: POST}
  interactive: {weight: 3, path: /search}
  background: {weight: 1, path: /report, timeout: 2s}
retry: {attempts: 2, base: 50ms, cap: 100ms, jitter: full, methods: all}
breaker: {failures: off}
queue: {limit: unlimited}
server: {workers: 8, backlog: 40, service: {mean: 40ms}}
services:
  - {name: lookups, routes: [/search, /report], service: {mean: 5ms}}
faults:
  - {name: errors, kind: errors, path: /search, start: 0s, share: 0.05, status: 502}
  - {name: some-clients, kind: errors, path: /search, start: 0s, clients: 0.2, share: 0.2, status: 500}
  - {name: newcomers, kind: errors, path: /search, start: 0s, first: 1, per_client: on, status: 504}
  - {name: wave, kind: latency, path: /search, start: 0s, share: 0.5, added: 20ms, wave: square, period: 2s}
  - {name: close, kind: close, path: /search, start: 0s, share: 0.04}
  - {name: reset, kind: reset, point: body, path: /search, start: 0s, share: 0.04}
  - {name: truncated, kind: truncated, path: /search, start: 0s, share: 0.04}
  - {name: garbage, kind: garbage, path: /search, start: 0s, share: 0.04}
  - {name: bad-chunk, kind: bad-chunk, path: /search, start: 0s, share: 0.04}
  - {name: drip, kind: drip, path: /search, start: 0s, share: 0.04, over: 20ms}
  - {name: slow-header, kind: slow-header, path: /search, start: 0s, share: 0.04, over: 20ms}
  - {name: hole, kind: outage, how: black-hole, path: /report, clients: 0.5, start: 0s, length: 12s}
  - {name: idle, kind: idle-close, start: 0s, length: 10s, after: 600ms, race: none}
  - {name: nth, kind: errors, path: /pay, start: 0s, nth: 10, status: 500}
  - {name: first, kind: errors, path: /pay, start: 1s, length: 1s, first: 50, status: 502}
  - {name: until, kind: errors, path: /pay, start: 3s, length: 1s, share: 0.5, until: 200, status: 504}
  - {name: quota, kind: quota, path: /pay, start: 5s, length: 2s, rate: 25/s, burst: 10}
  - {name: cut, kind: capacity, start: 8s, length: 1s, left: 0.25}
  - {name: away, kind: outage, path: /pay, start: 10500ms, length: 1300ms}
  - {name: freeze, kind: outage, how: freeze, start: 13s, length: 400ms}
  - {name: refuse, kind: outage, how: refuse, start: 15s, length: 500ms}
`

// TestEveryFaultIsTheSameBothWays: one scenario with all of them, in virtual time
// and over sockets. What goes by identity is the same attempt for attempt, as long as
// its faults are on and the server does not refuse; what goes by order, and how often an idle connection is
// closed, is the same in number, to 3 % of the attempts of all.
func TestEveryFaultIsTheSameBothWays(t *testing.T) {
	s := parsed(t, everyFault)
	s.Duration, s.Drain = 17*time.Second, time.Minute
	everyKindIsIn(t, s.Server.Faults)
	virtual, v := inVirtualTime(t, s)
	live := &fates{}
	l := runLive(t, s, live)
	t.Logf("%d attempts live, %d virtual", l.Summary.Attempts, v.Summary.Attempts)
	near(t, "attempts", l.Summary.Attempts, v.Summary.Attempts, v.Summary.Attempts)
	for o := range v.Summary.Outcomes {
		near(t, wire.Outcome(o).String(), l.Summary.Outcomes[o], v.Summary.Outcomes[o], v.Summary.Requests)
	}
	for i, want := range v.Faults {
		got := l.Faults[i]
		t.Logf("%s: %d hits live, %d virtual", want.Name, got.Hits, want.Hits)
		near(t, want.Name, got.Hits, want.Hits, v.Summary.Attempts)
		if bound := hitBound(want.Hits); math.Abs(float64(got.Hits-want.Hits)) > bound {
			t.Errorf("%s: %d hits live, %d virtual, more than %.0f apart",
				want.Name, got.Hits, want.Hits, bound)
		}
		if got.Hits == 0 || want.Hits == 0 {
			t.Errorf("%s hits nobody", want.Name)
		}
	}
	for _, part := range []struct {
		class wire.Class
		until time.Duration
		least int
	}{{wire.Interactive, 15 * time.Second, 2500}, {wire.Background, 12 * time.Second, 600}} {
		both := sameFates(t, virtual.before(part.until, part.class), live.before(part.until, part.class))
		if both < part.least {
			t.Errorf("only %d attempts of %v in common", both, part.class)
		}
	}
}

// hitBound is how far the hits of a fault may be apart. Of few hits, 3 % of all
// attempts would be many. But who just rests when a window begins is another in
// each run, most of all where the window is shorter than the rest, so that the
// hits stray by their square root, and by more where they are what is left of the
// arrivals. Six of those and 3 % are allowed.
func hitBound(hits int64) float64 { return 0.03*float64(hits) + 6*math.Sqrt(float64(hits)) }

// before is the attempts of a class that have ended before a moment.
func (f *fates) before(end time.Duration, class wire.Class) *fates {
	part := &fates{of: make(map[wire.AttemptID]wire.Event)}
	for id, e := range f.of {
		if e.Class == class && e.At < clock.Instant(end) {
			part.of[id] = e
		}
	}
	return part
}

// everyKindIsIn fails the test if a kind of fault, or a manner of an outage, is not
// among the faults.
func everyKindIsIn(t *testing.T, faults []fault.Fault) {
	t.Helper()
	kinds, manners := make(map[fault.Kind]bool), make(map[fault.Manner]bool)
	for i := range faults {
		kinds[faults[i].Kind] = true
		if faults[i].Kind == fault.Outage {
			manners[faults[i].How] = true
		}
	}
	for k, name := range fault.KindNames() {
		if !kinds[fault.Kind(k)] {
			t.Errorf("there is no fault of the kind %s", name)
		}
	}
	for m, name := range fault.MannerNames() {
		if !manners[fault.Manner(m)] {
			t.Errorf("there is no outage in the manner %s", name)
		}
	}
}
