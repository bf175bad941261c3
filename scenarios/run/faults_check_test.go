//go:build check

package run

import (
	"math"
	"testing"
	"time"
)

// byOrder has the faults whose victims depend on the order of arrivals, and on
// when they come, each in a window of its own.
const byOrder = `
version: 1
name: by-order
seed: 7
fleet: {clients: 100}
arrival: {kind: poisson, rate: 400/s}
retry: {attempts: 2, base: 50ms, cap: 100ms, jitter: full, methods: all}
breaker: {failures: off}
queue: {limit: unlimited}
server: {workers: 20, backlog: 100, service: {mean: 20ms}}
faults:
  - {name: nth, kind: errors, start: 0s, nth: 10, status: 500}
  - {name: first, kind: errors, start: 1s, length: 1s, first: 100, status: 502}
  - {name: until, kind: errors, start: 3s, length: 1s, share: 0.5, until: 100, status: 504}
  - {name: quota, kind: quota, start: 5s, length: 2s, rate: 200/s, burst: 10}
  - {name: cut, kind: capacity, start: 8s, length: 1s, left: 0.2}
  - {name: reset, kind: outage, start: 11s, length: 500ms}
  - {name: refuse, kind: outage, how: refuse, start: 13s, length: 500ms}
  - {name: freeze, kind: outage, how: freeze, start: 15s, length: 200ms}
`

// TestSocketsAndModelAgreeInNumber: what depends on the order of arrivals is the
// same in number, to 3 % of all attempts; and what depends on identity alone is
// the same attempt for attempt over a longer run.
func TestSocketsAndModelAgreeInNumber(t *testing.T) {
	s := parsed(t, byOrder)
	s.Duration, s.Drain = 18*time.Second, time.Minute
	_, v := inVirtualTime(t, s)
	l := runLive(t, s)
	near(t, "attempts", l.Summary.Attempts, v.Summary.Attempts, v.Summary.Attempts)
	for o := range v.Summary.Outcomes {
		near(t, "outcomes", l.Summary.Outcomes[o], v.Summary.Outcomes[o], v.Summary.Requests)
	}
	for i, want := range v.Faults {
		got := l.Faults[i]
		t.Logf("%s: %d hits live, %d virtual", want.Name, got.Hits, want.Hits)
		if math.Abs(float64(got.Hits-want.Hits)) > 0.03*float64(v.Summary.Attempts) {
			t.Errorf("%s: %d hits live, %d virtual", want.Name, got.Hits, want.Hits)
		}
		if want.Hits == 0 {
			t.Errorf("%s hits nobody", want.Name)
		}
	}
	s = parsed(t, byIdentity)
	s.Duration, s.Drain = 20*time.Second, time.Minute
	virtual, _ := inVirtualTime(t, s)
	var live fates
	runLive(t, s, &live)
	if both := sameFates(t, virtual, &live); both < 10_000 {
		t.Errorf("only %d attempts in common", both)
	}
}
