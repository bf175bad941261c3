package engine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/backoff"
	"herdscope/engine/breaker"
	"herdscope/engine/budget"
	"herdscope/engine/clock"
	"herdscope/engine/knob"
	"herdscope/engine/limiter"
	"herdscope/engine/queue"
	"herdscope/engine/wire"
)

// FuzzPolicy reads settings, one "name=value" a line, as files and flags have
// them. What is accepted must be in range and survive being written down; a
// policy that is valid as a whole must carry requests to their end.
func FuzzPolicy(f *testing.F) {
	f.Add(written(sound()))
	f.Add(written(busyPolicy()))
	f.Add("retry.base=24h\nretry.cap=1ms")
	f.Add("retry.multiplier=1e3\nretry.base=-1s\nretry.attempts=0x10\nretry.jitter=Full")
	f.Add("queue.limit=1\nqueue.critical.least=1\nbreaker.failures=1\nbreaker.probes=2")
	f.Add("retry.attempts=9223372036854775808\nretry.total=1h30m\nretry.jitter\n=\n\x00=1")
	f.Fuzz(func(t *testing.T, text string) {
		p := sound()
		for line := range strings.Lines(text) {
			setKnob(t, &p, strings.TrimSuffix(line, "\n"))
		}
		if p.Validate() == nil {
			endureFailures(t, p)
		}
	})
}

// written is every field of a policy, a line each.
func written(p engine.Policy) string {
	var b strings.Builder
	for _, f := range engine.Fields {
		b.WriteString(f.Name + "=" + f.Format(f.Get(&p)) + "\n")
	}
	return b.String()
}

// setKnob sets the field that a line names, if it can be read.
func setKnob(t *testing.T, p *engine.Policy, line string) {
	name, text, _ := strings.Cut(line, "=")
	i, known := knob.Index(engine.Fields, name)
	if !known {
		return
	}
	f := engine.Fields[i]
	v, err := f.Parse(text)
	if err != nil {
		if refused := (*knob.Error)(nil); !errors.As(err, &refused) {
			t.Fatalf("%q: %v is no knob.Error", line, err)
		}
		return
	}
	if err := f.Check(v); err != nil {
		t.Fatalf("%q is read as %d, which is not allowed: %v", line, v, err)
	}
	if again, err := f.Parse(f.Format(v)); err != nil || again != v {
		t.Fatalf("%q is %d, written as %q, and read again as %d: %v", line, v, f.Format(v), again, err)
	}
	f.Set(p, v)
	if got := f.Get(p); got != v {
		t.Fatalf("%q sets %d", line, got)
	}
}

// endureFailures has a few requests fail a few times under the policy. They have
// a day at most, since a class that is left no slot has to wait for ever.
func endureFailures(t *testing.T, p engine.Policy) {
	if p.Retry.Total == 0 {
		p.Retry.Total = 24 * time.Hour
	}
	h := newHand(p, 1)
	for class := range wire.NumClasses {
		h.next++
		h.step(engine.Input{
			Kind: engine.Submit, Request: h.next, Class: wire.Class(class), Timeout: time.Second,
		})
	}
	for range 10 {
		if len(h.out) > 0 {
			id := h.out[0]
			h.drop(id)
			h.step(engine.Input{Kind: engine.Answered, ID: id, Reply: wire.Reply{Status: 503}})
		} else {
			h.tick(clock.Never)
		}
	}
	h.comeToAnEnd(t)
	// A policy that asks for waits above its cap gets them, and the Checker
	// would count that as a mistake.
	if err := h.checker.Finish(h.machine.Counts()); err != nil && p.Retry.Backoff.CapRule != backoff.CapOvershoot {
		t.Fatal(err)
	}
}

// FuzzMachine reads a policy and inputs from bytes and holds every event against
// the Checker. When the bytes are used up, every request must come to an end.
func FuzzMachine(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte("\x04\x01\x01\x01\x00\x02\x00\x02\x00" + strings.Repeat("\x00\x00\x00\x01\x03\x07\x02\x00\x00\x05", 8)))
	f.Add([]byte(strings.Repeat("submit, answer, tick, cancel, change; ", 6)))
	f.Add([]byte(strings.Repeat("\x03\x01\x02\x00\xff\x10\x04\x05", 24)))
	f.Fuzz(func(t *testing.T, data []byte) {
		b := &tape{left: data[:min(len(data), 4096)]}
		h := newHand(b.policy(), uint64(b.upto(255)))
		for len(b.left) > 0 {
			h.now = h.now.Add(time.Duration(b.upto(7)) * 100 * time.Millisecond)
			b.play(h)
			if err := h.checker.Finish(h.machine.Counts()); err != nil {
				t.Fatal(err)
			}
		}
		h.policy.Breaker.Mode = breaker.Normal // one forced open may wait for ever
		h.step(engine.Input{Kind: engine.Changed})
		h.comeToAnEnd(t)
		if err := h.checker.Finish(h.machine.Counts()); err != nil {
			t.Fatal(err)
		}
	})
}

// tape is bytes that are read as choices. Beyond its end there are only zeros.
type tape struct{ left []byte }

// upto is a number from 0 to most.
func (b *tape) upto(most int) int {
	if len(b.left) == 0 {
		return 0
	}
	v := int(b.left[0])
	b.left = b.left[1:]
	return v % (most + 1)
}

func (b *tape) yes() bool { return b.upto(1) == 1 }

func (b *tape) policy() engine.Policy {
	p := busyPolicy()
	p.Retry.Attempts = 1 + b.upto(4)
	p.Retry.Network, p.Retry.Timeouts, p.Retry.RetryAfter = b.yes(), b.yes(), b.yes()
	p.Retry.Methods = engine.MethodSet(b.upto(2))
	p.Retry.Backoff.Jitter = backoff.Jitter(b.upto(len(backoff.JitterNames()) - 1))
	p.Retry.RetryAfterMax = time.Duration(b.upto(4)) * time.Second
	p.Retry.RetryAfterOver = engine.HintRule(b.upto(int(engine.HintIgnore)))
	p.Breaker = b.breaker()
	p.Budget.Kind = budget.Kind(b.upto(budget.NumKinds - 1))
	p.Limiter = limiter.Config{
		Kind: limiter.Kind(b.upto(limiter.NumKinds - 1)), Min: 1, Limit: 1 + b.upto(2), Max: 5,
	}
	p.Transport.Conns = b.upto(3)
	p.Queue.Limit, p.Queue.Capacity = b.upto(5)+engine.Unlimited, b.upto(4)
	p.Queue.Order = queue.Order(b.upto(len(queue.OrderNames()) - 1))
	for c := range p.Queue.Class {
		p.Queue.Class[c] = engine.ClassQueue{
			Most: b.upto(2), Deadline: time.Duration(b.upto(5)) * time.Second,
			StarvedAfter: time.Duration(b.upto(2)) * time.Second,
		}
	}
	p.Queue.PromoteAfter = time.Duration(b.upto(3)) * 700 * time.Millisecond
	return p
}

func (b *tape) breaker() breaker.Config {
	c := breaker.Config{
		Mode:      breaker.Mode(max(0, b.upto(9)-6)),
		Placement: breaker.Placement(b.upto(len(breaker.PlacementNames()) - 1)),
		WhenOpen:  breaker.WhenOpen(b.upto(len(breaker.WhenOpenNames()) - 1)),
		Failures:  b.upto(3),
		Window:    breaker.Window(b.upto(len(breaker.WindowNames()) - 1)), WindowCalls: b.upto(6),
		WindowFailures: b.upto(3), FailureRate: int64(b.upto(2)) * 500, MinCalls: b.upto(3),
		SlowRate: int64(b.upto(2)) * 500, SlowAfter: time.Duration(b.upto(20)) * 100 * time.Millisecond,
		SlowInFlight: b.yes(),
		OpenFor:      time.Duration(1+b.upto(3)) * time.Second, OpenGrowth: 1000 + int64(b.upto(2))*500,
		Probes: 1 + b.upto(2),
	}
	c.Successes = 1 + b.upto(c.Probes-1)
	return c
}

// play feeds one input.
func (b *tape) play(h *hand) {
	switch b.upto(8) {
	case 0, 1, 2:
		h.next++
		h.step(engine.Input{
			Kind: engine.Submit, Request: h.next, Since: h.now,
			Class: wire.Class(b.upto(wire.NumClasses - 1)), Method: wire.Method(b.upto(int(wire.Patch))),
			Scope: uint8(b.upto(1)), Timeout: time.Duration(b.upto(3)) * time.Second,
			Retry: engine.RetryOption(b.upto(int(engine.RetryAllowed))),
		})
	case 3, 4:
		b.answer(h, h.out)
	case 5:
		b.answer(h, h.aborted)
	case 6:
		h.step(engine.Input{Kind: engine.Cancel, Request: wire.RequestID(b.upto(int(h.next) + 1))})
	case 7:
		b.turn(h)
	case 8:
		h.step(engine.Input{
			Kind: engine.SetClass, Request: wire.RequestID(b.upto(int(h.next) + 1)),
			Class: wire.Class(b.upto(wire.NumClasses - 1)),
		})
	}
}

// answer brings a reply to one of the attempts, late or not.
func (b *tape) answer(h *hand, ids []wire.AttemptID) {
	if len(ids) == 0 {
		h.tick(clock.Never)
		return
	}
	id := ids[b.upto(len(ids)-1)]
	in := engine.Input{Kind: engine.Answered, ID: id}
	in.Reply.Kind = wire.ReplyKind(b.upto(int(wire.ReplyRefused)))
	if in.Reply.Kind == wire.ReplyResponse {
		in.Reply.Status = []uint16{200, 204, 302, 404, 408, 429, 500, 503}[b.upto(7)]
		in.Reply.Hint.Form = wire.HintForm(b.upto(int(wire.HintAsctimeDate)))
		in.NotBefore = h.now.Add(time.Duration(b.upto(11)-2) * time.Second)
	}
	h.drop(id)
	h.step(in)
}

// turn commits an attempt, or changes what of the policy the Checker allows to.
func (b *tape) turn(h *hand) {
	if len(h.out) > 0 && b.yes() {
		h.step(engine.Input{Kind: engine.Commit, ID: h.out[b.upto(len(h.out)-1)]})
		return
	}
	before := h.policy
	h.policy = b.policy()
	h.policy.Retry.Attempts = before.Retry.Attempts
	h.policy.Breaker.OpenFor = before.Breaker.OpenFor
	h.policy.Limiter = before.Limiter
	h.step(engine.Input{Kind: engine.Changed})
}
