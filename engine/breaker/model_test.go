package breaker

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"herdscope/engine/clock"
)

// pair is a permit of the breaker and the twin's ticket for the same call.
type pair struct {
	p *Permit
	t *ticket
}

// model runs a breaker and its twin side by side.
type model struct {
	b       Breaker
	w       twin
	c       Config
	draw    func(*rapid.T) Config
	now     clock.Instant
	changes []Change
	open    []pair
}

func (m *model) allow(t *rapid.T) {
	var p Permit
	var ok bool
	p, ok, m.changes = m.b.Allow(m.now, &m.c, m.changes)
	want := m.w.allow(m.now, &m.c)
	if ok != (want != nil) || p.Held() != ok {
		t.Fatalf("allowed %v (held %v), twin %v", ok, p.Held(), want != nil)
	}
	if ok {
		m.open = append(m.open, pair{&p, want})
	}
}

func (m *model) which(t *rapid.T) int {
	if len(m.open) == 0 {
		t.Skip("nothing in flight")
	}
	return rapid.IntRange(0, len(m.open)-1).Draw(t, "which")
}

func (m *model) report(t *rapid.T) {
	i := m.which(t)
	call := Call{Result: Result(rapid.IntRange(0, 2).Draw(t, "result"))}
	call.Took = m.now.Sub(m.open[i].t.start)
	if rapid.IntRange(0, 3).Draw(t, "hinted") == 0 {
		call.NotBefore = m.now.Add(time.Duration(rapid.IntRange(-3, 15).Draw(t, "hint")) * time.Second)
	}
	m.changes = m.b.Report(m.now, &m.c, m.open[i].p, call, m.changes)
	m.w.report(m.now, &m.c, m.open[i].t, call)
	m.open = append(m.open[:i], m.open[i+1:]...)
}

// burst is some calls one after the other, of which the newest may be reported.
func (m *model) burst(t *rapid.T) {
	for range rapid.IntRange(1, 8).Draw(t, "calls") {
		m.allow(t)
		m.now = m.now.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "took")) * time.Second / 2)
		if len(m.open) > 0 {
			m.report(t)
		}
	}
}

func (m *model) overdue(t *rapid.T) {
	i := m.which(t)
	m.changes = m.b.Overdue(m.now, &m.c, m.open[i].p, m.changes)
	m.w.overdue(m.now, &m.c, m.open[i].t)
}

func (m *model) tick(*rapid.T) {
	m.changes = m.b.Tick(m.now, &m.c, m.changes)
	m.w.catchUp(m.now, &m.c)
}

// pass moves the time on, often to exactly the next deadline, and sometimes over
// a gap longer than any window.
func (m *model) pass(t *rapid.T) {
	at, ok := m.b.Deadline()
	if ok && at > m.now && at.Sub(m.now) < 24*time.Hour && rapid.Bool().Draw(t, "to the deadline") {
		m.now = at
		return
	}
	d := rapid.OneOf(rapid.IntRange(0, 30), rapid.IntRange(0, 600)).Draw(t, "tenths")
	m.now = m.now.Add(time.Duration(d) * 100 * time.Millisecond)
}

func (m *model) configure(t *rapid.T) { m.c = m.draw(t) }

func (m *model) check(t *rapid.T) {
	if diff := cmp.Diff(m.w.changes, m.changes); diff != "" {
		t.Fatalf("changes (-twin +breaker):\n%s", diff)
	}
	if m.b.State() != m.w.state || m.b.Late() != m.w.late || m.b.Spent() != 0 {
		t.Fatalf("%v with %d late, %d spent; twin %v with %d",
			m.b.State(), m.b.Late(), m.b.Spent(), m.w.state, m.w.late)
	}
	if m.b.Trips() != m.w.trips || m.b.Flaps() != m.w.flaps {
		t.Fatalf("%d trips, %d flaps; twin %d, %d", m.b.Trips(), m.b.Flaps(), m.w.trips, m.w.flaps)
	}
	if m.b.inFlight < 0 || m.b.overdue < 0 {
		t.Fatalf("%d in flight, %d overdue", m.b.inFlight, m.b.overdue)
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

// checkTally is B13: the running tally is what a recount finds.
func (m *model) checkTally(t *rapid.T) {
	if m.b.window == nil || m.b.window.shape != m.c.shape() || !m.b.counts() {
		t.Skip("no window in use")
	}
	want := tally{}
	for _, r := range m.w.recount(m.now, &m.c) {
		one := tally{calls: 1}
		if r.failed {
			one.failed = 1
		}
		if r.slow {
			one.slow = 1
		}
		want.plus(one)
	}
	if got := m.b.window.tally(m.now); got != want {
		t.Fatalf("tally %+v, recounted %+v", got, want)
	}
}

// drawBase draws when a breaker is open and how it closes.
func drawBase(t *rapid.T) Config {
	seconds := func(from, to int, label string) time.Duration {
		return time.Duration(rapid.IntRange(from, to).Draw(t, label)) * time.Second
	}
	return Config{
		OpenFor:    seconds(1, 6, "open for"),
		OpenGrowth: rapid.SampledFrom([]int64{0, 1500, 3000}).Draw(t, "growth"),
		OpenMax:    seconds(0, 1, "bounded") * 20,
		OpenJitter: rapid.SampledFrom([]int64{0, 300, 1000}).Draw(t, "jitter"),
		OpenHint:   rapid.Bool().Draw(t, "hint"),
		Stable:     seconds(0, 8, "stable"),
		Lease:      seconds(0, 3, "lease"),
		Probes:     rapid.IntRange(1, 4).Draw(t, "probes"),
		Successes:  rapid.IntRange(1, 4).Draw(t, "successes"),
		Verdict:    Verdict(rapid.IntRange(0, 1).Draw(t, "verdict")),
		Window:     Window(rapid.IntRange(0, 1).Draw(t, "window")),

		WindowCalls: rapid.SampledFrom([]int{1, 3, 5, 40}).Draw(t, "calls"),
		WindowTime:  seconds(1, 2, "window time") * 5,
		MinCalls:    rapid.IntRange(1, 6).Draw(t, "least"),
		SlowAfter:   seconds(1, 4, "slow after"),
	}
}

// rules are the ways to open, each of which is tried alone and all together.
var rules = []struct {
	name string
	set  func(*rapid.T, *Config)
}{
	{"consecutive", func(t *rapid.T, c *Config) {
		c.Failures = rapid.IntRange(1, 4).Draw(t, "failures")
	}},
	{"failures of window", func(t *rapid.T, c *Config) {
		c.WindowFailures = rapid.IntRange(1, 5).Draw(t, "failures of window")
	}},
	{"failure rate", func(t *rapid.T, c *Config) {
		c.FailureRate = rapid.SampledFrom([]int64{100, 333, 500, 1000}).Draw(t, "failure rate")
	}},
	{"slow rate", func(t *rapid.T, c *Config) {
		c.SlowRate = rapid.SampledFrom([]int64{200, 500, 1000}).Draw(t, "slow rate")
		c.SlowInFlight = rapid.Bool().Draw(t, "in flight")
	}},
}

func drawAny(t *rapid.T) Config {
	c := drawBase(t)
	for _, rule := range rules {
		if rapid.Bool().Draw(t, rule.name) {
			rule.set(t, &c)
		}
	}
	if rapid.IntRange(0, 4).Draw(t, "moded") == 0 {
		c.Mode = Mode(rapid.IntRange(0, 3).Draw(t, "mode"))
	}
	return c
}

func checkAgainstTwin(t *testing.T, draw func(*rapid.T) Config) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{draw: draw}
		m.configure(t)
		actions := map[string]func(*rapid.T){
			"":             m.check,
			"allow":        m.allow,
			"allow more":   m.allow,
			"report":       m.report,
			"report more":  m.report,
			"burst":        m.burst,
			"burst again":  m.burst,
			"overdue":      m.overdue,
			"pass":         m.pass,
			"tick":         m.tick,
			"tick is idle": m.checkTick,
			"recount":      m.checkTally,
			"configure":    m.configure,
		}
		if rapid.Bool().Draw(t, "steady") {
			delete(actions, "configure") // so that windows fill
		}
		t.Repeat(actions)
	})
}

// TestBreakerAgreesWithTwin does anything at all under each rule, and under any
// mixture of rules and modes that changes on the way.
func TestBreakerAgreesWithTwin(t *testing.T) {
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			checkAgainstTwin(t, func(t *rapid.T) Config {
				c := drawBase(t)
				rule.set(t, &c)
				return c
			})
		})
	}
	t.Run("any", func(t *testing.T) { checkAgainstTwin(t, drawAny) })
}
