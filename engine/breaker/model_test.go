package breaker

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// twin is a breaker written for obviousness: it keeps every permit it gave as
// an object, every result it was told, and works the rest out anew each time.
type twin struct {
	state   wire.BreakerState
	opened  clock.Instant
	calls   []*ticket // given while closed, since it closed
	probes  []*ticket // given in this round
	results []Result  // of calls, since it closed
	late    uint32
	changes []Change
}

type ticket struct {
	start  clock.Instant
	fate   fate
	result Result
}

type fate int

const (
	outstanding fate = iota
	reported
	lapsed // the lease ran out
	stale  // the breaker has moved on
)

func (w *twin) count(is func(*ticket) bool) (n int) {
	for _, p := range w.probes {
		if is(p) {
			n++
		}
	}
	return n
}

func inFlight(p *ticket) bool { return p.fate == outstanding }
func isLapsed(p *ticket) bool { return p.fate == lapsed }
func isGood(p *ticket) bool   { return p.fate == reported && p.result == Success }

func (w *twin) enter(now clock.Instant, to wire.BreakerState, why wire.Cause) {
	w.changes = append(w.changes, Change{now, w.state, to, why})
	for _, p := range append(w.calls, w.probes...) {
		if p.fate == outstanding {
			p.fate = stale
		}
	}
	w.calls, w.probes, w.results = nil, nil, nil
	w.state, w.opened = to, now
}

// leaseEnd is when the lease of the probes in flight ends.
func (w *twin) leaseEnd(c *Config) (clock.Instant, bool) {
	if w.count(inFlight) == 0 {
		return clock.Never, false
	}
	youngest := w.probes[len(w.probes)-1]
	return youngest.start.Add(c.OpenFor), true
}

func (w *twin) catchUp(now clock.Instant, c *Config) {
	if c.Failures == 0 {
		w.results = nil
		if w.state != wire.Closed {
			w.enter(now, wire.Closed, wire.CauseNone)
		}
		return
	}
	if w.state == wire.Open && now >= w.opened.Add(c.OpenFor) {
		w.enter(now, wire.Eligible, wire.CauseElapsed)
	}
	if w.state != wire.HalfOpen {
		return
	}
	if end, ok := w.leaseEnd(c); ok && now >= end {
		for _, p := range w.probes {
			if p.fate == outstanding {
				p.fate = lapsed
			}
		}
		if w.count(isLapsed) >= c.Probes {
			w.enter(now, wire.Open, wire.CauseLease)
		}
		return
	}
	if w.count(isGood) >= min(c.Successes, c.Probes) {
		w.enter(now, wire.Closed, wire.CauseProbe)
	}
}

func (w *twin) allow(now clock.Instant, c *Config) *ticket {
	w.catchUp(now, c)
	t := &ticket{start: now}
	switch w.state {
	case wire.Closed:
		w.calls = append(w.calls, t)
		return t
	case wire.Eligible:
		w.enter(now, wire.HalfOpen, wire.CauseElapsed)
	case wire.Open:
		return nil
	}
	if w.count(inFlight)+w.count(isGood) >= c.Probes {
		return nil
	}
	w.probes = append(w.probes, t)
	return t
}

func (w *twin) report(now clock.Instant, c *Config, t *ticket, r Result) {
	w.catchUp(now, c)
	if t.fate != outstanding {
		w.late++
		return
	}
	t.fate, t.result = reported, r
	if w.state == wire.HalfOpen {
		w.judgeProbe(now, c, r)
		return
	}
	if c.Failures == 0 {
		return
	}
	w.results = append(w.results, r)
	if r == Failure && trailingFailures(w.results) >= c.Failures {
		w.enter(now, wire.Open, wire.CauseThreshold)
	}
}

func (w *twin) judgeProbe(now clock.Instant, c *Config, r Result) {
	if r == Failure {
		w.enter(now, wire.Open, wire.CauseProbe)
	} else if w.count(isGood) >= min(c.Successes, c.Probes) {
		w.enter(now, wire.Closed, wire.CauseProbe)
	}
}

func trailingFailures(results []Result) (n int) {
	for _, r := range results {
		switch r {
		case Failure:
			n++
		case Success:
			n = 0
		}
	}
	return n
}

// pair is a permit of the breaker and the twin's ticket for the same call.
type pair struct {
	p Permit
	t *ticket
}

// model runs a breaker and its twin side by side.
type model struct {
	b       Breaker
	w       twin
	c       Config
	now     clock.Instant
	changes []Change
	open    []pair
}

func (m *model) allow(t *rapid.T) {
	var p Permit
	var ok bool
	p, ok, m.changes = m.b.Allow(m.now, &m.c, m.changes)
	want := m.w.allow(m.now, &m.c)
	if ok != (want != nil) {
		t.Fatalf("allowed %v, twin %v", ok, want != nil)
	}
	if ok {
		m.open = append(m.open, pair{p, want})
	}
}

func (m *model) report(t *rapid.T) {
	if len(m.open) == 0 {
		t.Skip("nothing in flight")
	}
	i := rapid.IntRange(0, len(m.open)-1).Draw(t, "which")
	r := Result(rapid.IntRange(0, 2).Draw(t, "result"))
	m.changes = m.b.Report(m.now, &m.c, m.open[i].p, r, m.changes)
	m.w.report(m.now, &m.c, m.open[i].t, r)
	m.open = append(m.open[:i], m.open[i+1:]...)
}

func (m *model) tick(*rapid.T) {
	m.changes = m.b.Tick(m.now, &m.c, m.changes)
	m.w.catchUp(m.now, &m.c)
}

// pass moves the time on, often to exactly the next deadline.
func (m *model) pass(t *rapid.T) {
	at, ok := m.b.Deadline()
	if ok && at > m.now && rapid.Bool().Draw(t, "to the deadline") {
		m.now = at
		return
	}
	m.now = m.now.Add(time.Duration(rapid.IntRange(0, 8).Draw(t, "pass")) * time.Second)
}

func (m *model) configure(t *rapid.T) {
	m.c = Config{
		Failures:  rapid.IntRange(0, 4).Draw(t, "failures"),
		OpenFor:   time.Duration(rapid.IntRange(1, 6).Draw(t, "open for")) * time.Second,
		Probes:    rapid.IntRange(1, 4).Draw(t, "probes"),
		Successes: rapid.IntRange(1, 4).Draw(t, "successes"),
	}
}

func (m *model) check(t *rapid.T) {
	if diff := cmp.Diff(m.w.changes, m.changes); diff != "" {
		t.Fatalf("changes (-twin +breaker):\n%s", diff)
	}
	if m.b.State() != m.w.state || m.b.Late() != m.w.late {
		t.Fatalf("%v with %d late, twin %v with %d",
			m.b.State(), m.b.Late(), m.w.state, m.w.late)
	}
	if m.b.inFlight < 0 {
		t.Fatalf("%d in flight", m.b.inFlight)
	}
}

// checkTick asserts that a tick leaves no deadline in the past, and that
// another at the same moment changes nothing.
func (m *model) checkTick(t *rapid.T) {
	m.tick(t)
	if at, ok := m.b.Deadline(); ok && at <= m.now {
		t.Fatalf("deadline %d at %d after a tick", at, m.now)
	}
	before, n := m.b, len(m.changes)
	m.tick(t)
	if m.b != before || len(m.changes) != n {
		t.Fatalf("an early tick changed %+v to %+v", before, m.b)
	}
}

func TestBreakerAgreesWithTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{}
		m.configure(t)
		t.Repeat(map[string]func(*rapid.T){
			"":             m.check,
			"allow":        m.allow,
			"allow more":   m.allow,
			"report":       m.report,
			"report more":  m.report,
			"pass":         m.pass,
			"tick":         m.tick,
			"tick is idle": m.checkTick,
			"configure":    m.configure,
		})
	})
}
