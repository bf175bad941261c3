package engine_test

import (
	"fmt"
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/breaker"
	"herdscope/engine/clock"
	"herdscope/engine/wire"

	"pgregory.net/rapid"
)

// drawBreaker draws a breaker with every rule, mode and placement on or off. Its
// lease is OpenFor, since the Checker reckons with one length of it.
func drawBreaker(t *rapid.T) breaker.Config {
	tenths := func(most int, label string) time.Duration {
		return time.Duration(rapid.IntRange(1, most).Draw(t, label)) * 100 * time.Millisecond
	}
	rate := rapid.SampledFrom([]int64{0, 300, 1000})
	c := breaker.Config{
		Placement:    breaker.Placement(rapid.IntRange(0, 1).Draw(t, "placement")),
		WhenOpen:     breaker.WhenOpen(rapid.IntRange(0, 1).Draw(t, "when open")),
		Failures:     rapid.IntRange(0, 3).Draw(t, "failures"),
		Window:       breaker.Window(rapid.IntRange(0, 1).Draw(t, "window")),
		WindowCalls:  rapid.IntRange(0, 6).Draw(t, "calls"),
		FailureRate:  rate.Draw(t, "failure rate"),
		SlowRate:     rate.Draw(t, "slow rate"),
		SlowAfter:    tenths(20, "slow after"),
		SlowInFlight: rapid.Bool().Draw(t, "slow in flight"),
		MinCalls:     rapid.IntRange(1, 4).Draw(t, "least"),
		OpenGrowth:   rapid.SampledFrom([]int64{0, 2000}).Draw(t, "growth"),
		OpenJitter:   rapid.SampledFrom([]int64{0, 500}).Draw(t, "jitter"),
		OpenMax:      time.Minute,
		OpenHint:     rapid.Bool().Draw(t, "hint"),
		Probes:       rapid.IntRange(1, 3).Draw(t, "probes"),
		Verdict:      breaker.Verdict(rapid.IntRange(0, 1).Draw(t, "verdict")),
	}
	c.Successes = rapid.IntRange(1, c.Probes).Draw(t, "successes")
	if rapid.IntRange(0, 3).Draw(t, "moded") == 0 {
		c.Mode = breaker.Mode(rapid.IntRange(0, 3).Draw(t, "mode"))
	}
	return c
}

// TestMachineKeepsTheIdentitiesUnderEveryBreaker does anything at all to a
// machine whose breaker changes on the way.
func TestMachineKeepsTheIdentitiesUnderEveryBreaker(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPolicy(t)
		openFor := p.Breaker.OpenFor
		redraw := func() breaker.Config {
			c := drawBreaker(t)
			c.OpenFor = openFor
			return c
		}
		p.Breaker = redraw()
		h := newHand(p, rapid.Uint64().Draw(t, "seed"))
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			h.now = h.now.Add(time.Duration(rapid.IntRange(0, 700).Draw(t, "pass")) * time.Millisecond)
			if rapid.IntRange(0, 19).Draw(t, "retune") == 0 {
				h.policy.Breaker = redraw()
				h.step(engine.Input{Kind: engine.Changed})
			}
			h.anything(t)
			if err := h.checker.Finish(h.machine.Counts()); err != nil {
				t.Fatal(err)
			}
		}
		h.policy.Breaker.Mode = breaker.Normal // one forced open may wait for ever
		h.step(engine.Input{Kind: engine.Changed})
		h.comeToAnEnd(t)
	})
}

// story drives one machine with a breaker by hand.
type story struct {
	t      *testing.T
	hand   *hand
	events []wire.Event
}

func newStory(t *testing.T, c breaker.Config) *story {
	p := plain()
	p.Retry.Attempts, p.Breaker = 1, c
	return &story{t: t, hand: newHand(p, 1)}
}

func (s *story) step(in engine.Input) {
	h := s.hand
	for _, e := range h.machine.Step(h.now, in, nil) {
		if e.Kind == engine.Report {
			h.checker.Observe(e.Event)
			s.events = append(s.events, e.Event)
		}
	}
	if err := h.checker.Err(); err != nil {
		s.t.Fatal(err)
	}
}

// submit submits one more request and says whether it was sent.
func (s *story) submit(timeout time.Duration) (wire.AttemptID, bool) {
	s.hand.next++
	before := len(s.events)
	s.step(engine.Input{
		Kind: engine.Submit, Request: s.hand.next, Since: s.hand.now, Timeout: timeout,
	})
	id := wire.AttemptID{Client: 3, Request: s.hand.next, Try: 1}
	for _, e := range s.events[before:] {
		if e.Kind == wire.AttemptSent && e.ID == id {
			return id, true
		}
	}
	return id, false
}

func (s *story) reply(id wire.AttemptID, reply wire.Reply) {
	s.step(engine.Input{Kind: engine.Answered, ID: id, Reply: reply})
}

// pass lets time pass, deadlines included.
func (s *story) pass(d time.Duration) {
	until := s.hand.now.Add(d)
	for {
		at, ok := s.hand.machine.Deadline()
		if !ok || at > until {
			break
		}
		s.hand.now = at
		s.step(engine.Input{Kind: engine.Tick})
	}
	s.hand.now = until
}

func (s *story) state() wire.BreakerState { return s.hand.machine.Breaker(0) }

// open opens the breaker by one failure and waits until a probe may go out.
func (s *story) open() {
	s.t.Helper()
	id, _ := s.submit(0)
	s.reply(id, wire.Reply{Kind: wire.ReplyReset})
	if s.state() != wire.Open {
		s.t.Fatalf("%v after a failure", s.state())
	}
	s.pass(s.hand.policy.Breaker.OpenFor)
}

// N-E22: a caller that gives up says nothing about the server; an attempt that
// times out does.
func TestNE22CancelsDoNotOpenTimeoutsDo(t *testing.T) {
	s := newStory(t, breaker.Config{FailureRate: 500, OpenFor: 10 * time.Second, Probes: 1})
	for range 100 {
		id, _ := s.submit(0)
		s.step(engine.Input{Kind: engine.Cancel, Request: id.Request})
	}
	if s.state() != wire.Closed {
		t.Fatalf("%v after a hundred cancels", s.state())
	}
	for range 100 {
		s.submit(time.Second)
	}
	s.pass(time.Second)
	if s.state() != wire.Open {
		t.Fatalf("%v after a hundred timeouts", s.state())
	}
}

// B11: what is refused here, by the queue or by the breaker itself, does
// not count.
func TestB11LocalRejectionsDoNotCount(t *testing.T) {
	s := newStory(t, breaker.Config{Failures: 2, OpenFor: 10 * time.Second, Probes: 1})
	s.limit(1)
	s.hand.policy.Queue.Capacity = 1
	first, _ := s.submit(0)
	for range 50 {
		s.submit(0)
	}
	if s.state() != wire.Closed {
		t.Fatalf("%v after a full queue", s.state())
	}
	s.reply(first, wire.Reply{Status: 503})
	if s.state() != wire.Closed {
		t.Fatalf("%v after one failure", s.state())
	}
}

// B18: a refusal says until when; the machine says it too.
func TestB18RefusalCarriesTheRemainingTime(t *testing.T) {
	s := newStory(t, breaker.Config{Failures: 1, OpenFor: 10 * time.Second, Probes: 1})
	id, _ := s.submit(0)
	s.reply(id, wire.Reply{Status: 503})
	s.pass(4 * time.Second)
	refused := func() wire.Event {
		s.submit(0)
		e := s.events[len(s.events)-1]
		if e.Kind != wire.RequestDone || e.Outcome != wire.ShortCircuited {
			t.Fatalf("%v ends %v", e.Kind, e.Outcome)
		}
		return e
	}
	if e := refused(); e.Until.Duration() != 10*time.Second {
		t.Errorf("refused until %v", e.Until.Duration())
	}
	if d := s.hand.machine.BreakerRemaining(s.hand.now, 0); d != 6*time.Second {
		t.Errorf("%v remaining", d)
	}
	s.hand.policy.Breaker.Mode = breaker.ForcedOpen
	s.step(engine.Input{Kind: engine.Changed})
	if e := refused(); e.Until != clock.Never {
		t.Errorf("refused until %v though forced open", e.Until)
	}
}

// B20: each scope of each client has a breaker of its own.
func TestB20EachScopeHasItsOwn(t *testing.T) {
	s := newStory(t, breaker.Config{Failures: 1, OpenFor: 10 * time.Second, Probes: 1})
	id, _ := s.submit(0)
	s.reply(id, wire.Reply{Status: 503})
	if a, b := s.hand.machine.Breaker(0), s.hand.machine.Breaker(1); a != wire.Open || b != wire.Closed {
		t.Errorf("%v and %v after a failure in the first scope", a, b)
	}
}

// B16: transitions are reported in order, each from the state that the one
// before led to, over a thousand of them.
func TestB16TransitionsWithoutGaps(t *testing.T) {
	s := newStory(t, breaker.Config{
		Failures: 1, OpenFor: time.Second, Probes: 1, OpenJitter: 500, Stable: time.Minute,
	})
	for range 250 {
		s.open()
		s.pass(time.Second)
		id, _ := s.submit(0)
		s.reply(id, wire.Reply{Status: 200})
	}
	state, changes := wire.Closed, 0
	for _, e := range s.events {
		if e.Kind != wire.BreakerChanged {
			continue
		}
		if e.From != state {
			t.Fatalf("change %d leads from %v, but it was %v", changes, e.From, state)
		}
		state = e.To
		changes++
	}
	if changes != 1000 {
		t.Errorf("%d changes in 250 cycles", changes)
	}
}

// B17: clients whose breakers open at the same moment do not probe together.
func TestB17ClientsOfAFleetProbeApart(t *testing.T) {
	seen := map[clock.Instant]string{}
	p := plain()
	p.Breaker = breaker.Config{Failures: 1, OpenFor: time.Second, OpenJitter: 1000, Probes: 1}
	for client := range wire.ClientID(50) {
		m := engine.New(client, 1, 2, &p)
		for scope := range uint8(2) {
			m.Step(0, engine.Input{Kind: engine.Submit, Request: 1 + wire.RequestID(scope), Scope: scope}, nil)
			m.Step(0, engine.Input{
				Kind:  engine.Answered,
				ID:    wire.AttemptID{Client: client, Request: 1 + wire.RequestID(scope), Try: 1},
				Reply: wire.Reply{Kind: wire.ReplyReset},
			}, nil)
			until := clock.Instant(0).Add(m.BreakerRemaining(0, scope))
			name := fmt.Sprintf("client %d, scope %d", client, scope)
			if other, taken := seen[until]; taken {
				t.Errorf("%s and %s probe together", name, other)
			}
			seen[until] = name
		}
	}
}

// B19: where each request counts once, it counts with its last result, and a
// change of the placement under way does not lose or double one.
func TestB19PlacementChangesUnderWay(t *testing.T) {
	s := newStory(t, breaker.Config{
		Failures: 2, OpenFor: 10 * time.Second, Probes: 1, Placement: breaker.PerRequest,
	})
	s.hand.policy.Retry.Attempts = 3
	id, _ := s.submit(0)
	s.reply(id, wire.Reply{Status: 503})
	s.hand.policy.Breaker.Placement = breaker.PerAttempt
	s.pass(time.Second) // the retry asks anew; the first attempt has counted now
	id.Try++
	s.reply(id, wire.Reply{Status: 503})
	if s.state() != wire.Open {
		t.Fatalf("%v after two attempts", s.state())
	}
}

func TestStepWithWindowsDoesNotAllocate(t *testing.T) {
	p := busyPolicy()
	p.Breaker = breaker.Config{
		Failures: 5, Window: breaker.TimeWindow, FailureRate: 240, SlowRate: 500,
		SlowAfter: 5 * time.Millisecond, SlowInFlight: true, MinCalls: 50,
		OpenFor: time.Second, OpenGrowth: 2000, OpenMax: time.Minute, OpenJitter: 500, OpenHint: true,
		Probes: 3, Successes: 2, Verdict: breaker.OfRound, WhenOpen: breaker.Wait,
	}
	l := newLoad(&p, 16)
	for range 100_000 {
		l.step()
	}
	if n := testing.AllocsPerRun(5, func() {
		for range 10_000 {
			l.step()
		}
	}); n != 0 {
		t.Errorf("%v allocations in 10,000 steps", n)
	}
}

func TestBreakerSettingsMustAgree(t *testing.T) {
	for _, tt := range []struct {
		spoil func(*breaker.Config)
		want  string
	}{
		{func(c *breaker.Config) { c.SlowRate = 500 },
			`breaker.slow_rate: "0.5" needs breaker.slow_after; allowed: off`},
		{func(c *breaker.Config) { c.WindowFailures, c.WindowCalls = 6, 5 },
			`breaker.window_failures: "6" is more than breaker.window_calls; allowed: 1 to 5, or off`},
		{func(c *breaker.Config) { c.WindowFailures = 101 },
			`breaker.window_failures: "101" is more than breaker.window_calls; ` +
				`allowed: 1 to 100, or off`},
		{func(c *breaker.Config) { c.WindowFailures, c.Window = 101, breaker.TimeWindow }, ""},
		{func(c *breaker.Config) { c.OpenMax = time.Millisecond },
			`breaker.open_max: "1ms" is below breaker.open_for; allowed: 1s or more, or none`},
		{func(c *breaker.Config) { c.Placement, c.WhenOpen = breaker.PerRequest, breaker.Wait },
			`breaker.when_open: "wait" needs breaker.placement attempt; allowed: reject`},
		{func(c *breaker.Config) { c.FailureRate = 1001 },
			`breaker.failure_rate: "1.001" is out of range; allowed: 0.001 to 1, or off`},
	} {
		p := sound()
		tt.spoil(&p.Breaker)
		got := ""
		if err := p.Validate(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("\n got %s\nwant %s", got, tt.want)
		}
	}
}

// BenchmarkStepBreaker is a Step of a busy machine with a breaker of each kind.
func BenchmarkStepBreaker(b *testing.B) {
	for _, bm := range []struct {
		name string
		c    breaker.Config
	}{
		{"off", breaker.Config{}},
		{"consecutive", breaker.Config{Failures: 50}},
		{"count window", breaker.Config{FailureRate: 900}},
		{"time window", breaker.Config{Window: breaker.TimeWindow, FailureRate: 900}},
		{"slow in flight", breaker.Config{
			Window: breaker.TimeWindow, SlowRate: 900, SlowAfter: time.Second, SlowInFlight: true,
		}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			p := busyPolicy()
			bm.c.OpenFor, bm.c.Probes = time.Second, 1
			p.Breaker = bm.c
			l := newLoad(&p, 4)
			b.ReportAllocs()
			for b.Loop() {
				l.step()
			}
		})
	}
}
