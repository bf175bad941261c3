package fleet_test

import (
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/breaker"
	"herdscope/engine/clock"
	"herdscope/engine/enginetest"
	"herdscope/engine/fleet"
	"herdscope/engine/knob"
	"herdscope/engine/wire"

	"pgregory.net/rapid"
)

// outage is a fleet against a server that answers each attempt after a moment,
// badly while it is down, with a Checker that sees all.
type outage struct {
	*rig
	checker  *enginetest.Checker
	attempts clock.Queue[wire.Attempt]
	down     func(clock.Instant) bool
	takes    time.Duration
	now      clock.Instant
	events   []wire.Event
}

func newOutage(t rapid.TB, c fleet.Config, down func(clock.Instant) bool) *outage {
	f, err := fleet.New(c, 1)
	if err != nil {
		t.Fatal(err)
	}
	o := &outage{rig: &rig{Fleet: f}, down: down, takes: 20 * time.Millisecond}
	o.checker = enginetest.NewChecker(func() engine.Policy { return o.Config().Policy })
	return o
}

func (o *outage) do(in fleet.Input) {
	for _, e := range o.Step(o.now, in, nil) {
		switch e.Kind {
		case engine.Send:
			o.attempts.Push(o.now.Add(o.takes), e.Attempt)
		case engine.Report:
			o.checker.Observe(e.Event)
			o.events = append(o.events, e.Event)
		}
	}
}

// next does what is due next, if that is not after the limit.
func (o *outage) next(limit clock.Instant) bool {
	at, _ := o.Deadline()
	due, ok := o.attempts.Peek()
	answers := ok && due <= at
	if at = min(at, due); at > limit {
		return false
	}
	o.now = max(o.now, at)
	if !answers {
		o.do(fleet.Input{Kind: fleet.Tick})
		return true
	}
	_, a, _ := o.attempts.Pop()
	reply := wire.Reply{Status: 200}
	if o.down(o.now) {
		reply.Status = 503
	}
	o.do(fleet.Input{Kind: fleet.Answered, ID: a.ID, Reply: reply})
	return true
}

// until does what is due next until a condition holds.
func (o *outage) until(t rapid.TB, condition func() bool) {
	t.Helper()
	for !condition() {
		if !o.next(seconds(60)) {
			t.Fatal("what is waited for has not come in a minute")
		}
	}
}

func (o *outage) is(state wire.BreakerState) func() bool {
	return func() bool { return o.Machine(0).Breaker(0) == state }
}

func (o *outage) run(t rapid.TB, limit clock.Instant) {
	t.Helper()
	for o.next(limit) {
	}
	o.now = limit
	if err := o.checker.Finish(o.Counts()); err != nil {
		t.Fatal(err)
	}
}

func (o *outage) set(t rapid.TB, name, value string) {
	t.Helper()
	i, ok := knob.Index(engine.Fields, name)
	if !ok {
		t.Fatal("no knob " + name)
	}
	v, err := engine.Fields[i].Parse(value)
	if err != nil {
		t.Fatal(err)
	}
	o.do(fleet.Input{Kind: fleet.Set, Knob: uint16(i), Value: v})
}

// gated is a fleet of n clients with one breaker, that probes n at a time.
func gated(n, probes int, when breaker.WhenOpen) fleet.Config {
	c := config(n, fleet.Arrival{Think: 50 * time.Millisecond})
	c.Policy.Breaker = breaker.Config{
		Shared: true, Failures: 5, OpenFor: time.Second, Probes: probes, Successes: probes,
		WhenOpen: when,
	}
	return c
}

func between(from, to float64) func(clock.Instant) bool {
	return func(now clock.Instant) bool { return now >= seconds(from) && now < seconds(to) }
}

// TestNE20ProbesOfAFleet counts the probes of every half-open round of a breaker
// that a thousand clients share: never more than it may start, be the others
// refused or waiting in line.
func TestNE20ProbesOfAFleet(t *testing.T) {
	for _, when := range []breaker.WhenOpen{breaker.Reject, breaker.Wait} {
		t.Run(when.String(), func(t *testing.T) {
			c := gated(1000, 3, when)
			c.Arrival.Think = 500 * time.Millisecond
			o := newOutage(t, c, between(1, 6))
			o.run(t, seconds(10))
			rounds, probes, closed := 0, 0, 0
			for _, e := range o.events {
				switch {
				case e.Kind == wire.BreakerChanged && !e.Shared:
					t.Fatalf("client %d has a breaker of its own: %+v", e.ID.Client, e)
				case e.Kind == wire.BreakerChanged && e.To == wire.HalfOpen:
					rounds, probes = rounds+1, 0
				case e.Kind == wire.BreakerChanged && e.To == wire.Closed:
					closed++
				case e.Kind == wire.AttemptSent && e.Probe:
					if probes++; probes > 3 {
						t.Fatalf("probe %d of 3, of client %d", probes, e.ID.Client)
					}
				}
			}
			if rounds < 4 || closed != 1 {
				t.Errorf("%d rounds, closed %d times; want 5 rounds and so the end", rounds, closed)
			}
		})
	}
}

// TestSharedBreakerHasNoTimerInAMachine holds the machines' deadlines against the
// breaker's: it alone knows of the end of the open time.
func TestSharedBreakerHasNoTimerInAMachine(t *testing.T) {
	o := newOutage(t, gated(3, 1, breaker.Wait), between(0, 9))
	o.until(t, o.is(wire.Open))
	o.run(t, o.now.Add(100*time.Millisecond)) // all are in line by now
	opens, _ := o.Deadline()
	for i := range wire.ClientID(3) {
		if at, ok := o.Machine(i).Deadline(); ok && at <= opens {
			t.Errorf("client %d wants a Tick at %v, the breaker at %v", i, at, opens)
		}
	}
	if n := o.Counts().Queued; n < 1 {
		t.Errorf("%d requests wait for the breaker", n)
	}
}

// TestFirstInLineProbesFirst has five clients wait for a breaker, and lets it out
// one probe at a time: they go in the order in which they came to wait.
func TestFirstInLineProbesFirst(t *testing.T) {
	c := gated(5, 1, breaker.Wait)
	c.Policy.Breaker.Failures = 1
	o := newOutage(t, c, between(0, 20))
	var line, probed []wire.ClientID
	for len(probed) < 4 && o.now < seconds(20) {
		seen := len(o.events)
		o.next(seconds(20))
		for _, e := range o.events[seen:] {
			switch {
			case e.Kind == wire.RequestQueued:
				line = append(line, e.ID.Client)
			case e.Kind == wire.AttemptSent && e.Probe:
				probed = append(probed, e.ID.Client)
			}
		}
	}
	for i, client := range probed {
		if client != line[i] {
			t.Fatalf("probes of clients %v, but in line were %v", probed, line)
		}
	}
	if len(probed) < 4 {
		t.Errorf("only %v probed, of %v", probed, line)
	}
}

// TestLateResultOfAnotherClient has a client's call, admitted before the breaker
// opened, end well while another client probes: it neither closes nor reopens.
func TestLateResultOfAnotherClient(t *testing.T) {
	c := gated(2, 1, breaker.Reject)
	c.Policy.Breaker.Failures = 1
	o := newOutage(t, c, between(0, 9))
	o.takes = 500 * time.Millisecond
	o.until(t, func() bool { return o.attempts.Len() == 2 })
	_, slow, _ := o.attempts.Pop()
	o.until(t, o.is(wire.HalfOpen))
	o.do(fleet.Input{Kind: fleet.Answered, ID: slow.ID, Reply: wire.Reply{Status: 200}})
	if got := o.Machine(0).Breaker(0); got != wire.HalfOpen {
		t.Errorf("a late success made the breaker %v", got)
	}
	o.run(t, o.now.Add(time.Millisecond))
}

// TestSwitchingTheSharedBreaker opens it, puts it out of use and back: who waited
// goes at once, it comes back closed, and a probe of before is late.
func TestSwitchingTheSharedBreaker(t *testing.T) {
	o := newOutage(t, gated(4, 1, breaker.Wait), between(0, 9))
	o.until(t, o.is(wire.HalfOpen))
	o.run(t, o.now.Add(10*time.Millisecond))
	if o.Counts().Queued == 0 {
		t.Fatal("nobody waits for the probe")
	}
	for _, to := range []string{"off", "on"} {
		o.set(t, "breaker.shared", to)
		if n := o.Counts().Queued; n > 0 {
			t.Errorf("switched %s: %d requests wait for a breaker that is closed", to, n)
		}
		for i := range wire.ClientID(4) {
			if got := o.Machine(i).Breaker(0); got != wire.Closed {
				t.Errorf("switched %s: client %d has a breaker that is %v", to, i, got)
			}
		}
	}
	o.down = between(0, 0)
	o.run(t, seconds(20))
	if got := o.Machine(0).Breaker(0); got != wire.Closed {
		t.Errorf("at the end the breaker is %v", got)
	}
}

// TestBreakersOfTwoScopesWakeAtOnce has both breakers of a client open by failures
// of the same instant, and so become eligible together: the step for the one scope
// must not cost the client its place in line for the other.
func TestBreakersOfTwoScopesWakeAtOnce(t *testing.T) {
	c := gated(1, 1, breaker.Wait)
	c.Mix[wire.Critical] = fleet.Mix{Weight: 1, Scope: 1}
	c.Arrival = fleet.Arrival{Kind: fleet.Poisson, Rate: 40_000}
	c.Policy.Breaker.Failures, c.Policy.Retry.Attempts = 1, 1
	o := newOutage(t, c, between(0, 1e6))
	both := func() bool { return o.Machine(0).AwaitsBreaker(0) && o.Machine(0).AwaitsBreaker(1) }
	o.set(t, "breaker.mode", "forced_open")
	o.until(t, both)
	o.set(t, "breaker.mode", "normal")
	o.until(t, both)
	o.down = between(0, 0)
	o.do(fleet.Input{Kind: fleet.Stop})
	o.run(t, o.now.Add(time.Minute))
	if o.Unfinished() > 0 {
		t.Errorf("requests never end: %+v", o.Counts())
	}
}

// TestASharedBreakerOfManyIsAsOwnOfOne has a fleet of one client do the same with
// either breaker, event for event.
func TestASharedBreakerOfManyIsAsOwnOfOne(t *testing.T) {
	var runs [2][]wire.Event
	for i, shared := range []bool{true, false} {
		c := gated(1, 2, breaker.Wait)
		c.Policy.Breaker.Shared = shared
		o := newOutage(t, c, between(1, 4))
		o.run(t, seconds(8))
		for _, e := range o.events {
			e.Shared = false
			runs[i] = append(runs[i], e)
		}
	}
	if len(runs[0]) != len(runs[1]) || len(runs[0]) < 50 {
		t.Fatalf("%d events with a shared breaker, %d without", len(runs[0]), len(runs[1]))
	}
	for i := range runs[0] {
		if runs[0][i] != runs[1][i] {
			t.Fatalf("event %d: %+v with a shared breaker, %+v without", i, runs[0][i], runs[1][i])
		}
	}
}

// TestFleetKeepsTheIdentities does anything at all to a small fleet whose breaker
// is shared or not, and switches that back and forth; in the end all ends.
func TestFleetKeepsTheIdentities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := gated(rapid.IntRange(1, 6).Draw(t, "clients"), rapid.IntRange(1, 3).Draw(t, "probes"),
			breaker.WhenOpen(rapid.IntRange(0, 1).Draw(t, "when open")))
		c.Arrival = fleet.Arrival{Kind: fleet.Poisson, Rate: 40_000}
		c.Policy.Breaker.Shared = rapid.Bool().Draw(t, "shared")
		c.Policy.Breaker.Failures = rapid.IntRange(1, 3).Draw(t, "failures")
		c.Policy.Retry.Attempts = rapid.IntRange(1, 3).Draw(t, "attempts")
		c.Policy.Queue.Limit = rapid.IntRange(0, 2).Draw(t, "limit")
		c.Policy.Queue.Class[wire.Interactive].Deadline = 3 * time.Second
		c.Mix[wire.Critical] = fleet.Mix{Weight: 1, Scope: 1}
		bad := rapid.IntRange(0, 1<<16).Draw(t, "bad")
		o := newOutage(t, c, func(now clock.Instant) bool {
			return bad>>(int64(now)/int64(300*time.Millisecond)%16)&1 > 0
		})
		for range rapid.IntRange(1, 12).Draw(t, "acts") {
			o.run(t, o.now.Add(time.Duration(rapid.IntRange(0, 900).Draw(t, "pass"))*time.Millisecond))
			o.act(t)
		}
		o.down = between(0, 0)
		o.do(fleet.Input{Kind: fleet.Stop})
		o.set(t, "breaker.mode", "normal")
		o.run(t, o.now.Add(time.Minute))
		if o.Unfinished() > 0 {
			t.Fatalf("requests never end: %+v", o.Counts())
		}
	})
}

func (o *outage) act(t *rapid.T) {
	switch rapid.IntRange(0, 3).Draw(t, "act") {
	case 0:
		o.set(t, "breaker.shared", rapid.SampledFrom([]string{"on", "off"}).Draw(t, "to"))
	case 1:
		o.set(t, "breaker.when_open", rapid.SampledFrom([]string{"reject", "wait"}).Draw(t, "to"))
	case 2:
		o.set(t, "breaker.mode", rapid.SampledFrom([]string{
			"normal", "forced_open", "disabled", "metrics_only",
		}).Draw(t, "to"))
	case 3:
		id := wire.AttemptID{
			Client:  wire.ClientID(rapid.IntRange(0, o.Config().Clients-1).Draw(t, "client")),
			Request: wire.RequestID(rapid.IntRange(1, 60).Draw(t, "request")),
		}
		o.do(fleet.Input{Kind: fleet.Cancel, ID: id})
	}
}

func TestSharedBreakerDoesNotAllocate(t *testing.T) {
	o := newOutage(t, gated(50, 1, breaker.Wait), between(0, 1e6))
	out := make([]engine.Effect, 0, 4096)
	var sent []wire.AttemptID
	turn := func() {
		at, _ := o.Deadline()
		out = o.Step(at, fleet.Input{Kind: fleet.Tick}, out[:0])
		sent = sent[:0]
		for _, e := range out {
			if e.Kind == engine.Send {
				sent = append(sent, e.Attempt.ID)
			}
		}
		for _, id := range sent {
			out = o.Step(at, fleet.Input{
				Kind: fleet.Answered, ID: id, Reply: wire.Reply{Status: 503},
			}, out[:0])
		}
	}
	for range 3000 {
		turn()
	}
	if n := testing.AllocsPerRun(5, func() {
		for range 1000 {
			turn()
		}
	}); n != 0 {
		t.Errorf("%v allocations in 1,000 turns", n)
	}
}
