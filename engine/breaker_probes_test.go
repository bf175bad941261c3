package engine_test

import (
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/breaker"
	"herdscope/engine/wire"
)

// endings are all the ways in which a request can end that a breaker has to do
// with, or may only seem to.
var endings = map[string]func(s *story){
	"ok":      func(s *story) { s.answer(wire.Reply{Status: 200}) },
	"error":   func(s *story) { s.answer(wire.Reply{Status: 503}) },
	"ignored": func(s *story) { s.answer(wire.Reply{Status: 404}) },
	"reset":   func(s *story) { s.answer(wire.Reply{Kind: wire.ReplyReset}) },
	"refused": func(s *story) { s.answer(wire.Reply{Kind: wire.ReplyRefused}) },
	"cancel before send": func(s *story) {
		s.limit(1)
		s.submit(0)
		id, _ := s.submit(0) // no slot for it
		s.step(engine.Input{Kind: engine.Cancel, Request: id.Request})
		s.step(engine.Input{Kind: engine.Cancel, Request: id.Request - 1})
	},
	"cancel during": func(s *story) {
		id, _ := s.submit(0)
		s.pass(time.Second)
		s.step(engine.Input{Kind: engine.Cancel, Request: id.Request})
	},
	// B10: a sender that panics, or exits its goroutine, never answers: no more than
	// a server that hangs, and a client without a timeout.
	"hang, panic, goexit": func(s *story) { s.submit(0) },
	"timeout": func(s *story) {
		s.submit(time.Second)
		s.pass(2 * time.Second)
	},
	"local rejection": func(s *story) {
		s.limit(1)
		s.hand.policy.Queue.Capacity = 1
		id, _ := s.submit(0)
		s.submit(0)
		s.submit(0) // no room for it
		s.reply(id, wire.Reply{Status: 404})
	},
	"budget denial": func(s *story) {
		s.hand.policy.Retry.Attempts = 2
		id, _ := s.submit(0)
		s.step(engine.Input{
			Kind: engine.Answered, ID: id, Reply: wire.Reply{Status: 503}, Retry: engine.RetryNever,
		})
		s.hand.policy.Retry.Attempts = 1
	},
	"deadline in queue": func(s *story) {
		s.limit(1)
		s.hand.policy.Queue.Class[wire.Critical].Deadline = time.Second
		s.submit(0)
		s.submit(0)
		s.pass(2 * time.Second)
		s.hand.policy.Queue.Class[wire.Critical].Deadline = 0
	},
	"deadline in backoff": func(s *story) {
		s.hand.policy.Retry.Attempts = 3
		s.hand.policy.Queue.Class[wire.Critical].Deadline = 1500 * time.Millisecond
		s.answer(wire.Reply{Kind: wire.ReplyReset})
		s.pass(2 * time.Second)
		s.hand.policy.Retry.Attempts = 1
		s.hand.policy.Queue.Class[wire.Critical].Deadline = 0
	},
}

func (s *story) limit(slots int) { s.hand.policy.Queue.Limit = slots }

// answer sends a request and answers it a second later.
func (s *story) answer(reply wire.Reply) {
	id, _ := s.submit(0)
	s.pass(time.Second)
	s.reply(id, reply)
}

// N-E19: whatever a probe's end, one open time later a healthy server has the
// breaker closed within two more; with the retries outside and inside, and with
// calls that are refused or that wait.
func TestNE19EveryEndingLeadsBackToClosed(t *testing.T) {
	for name, end := range endings {
		for _, c := range []breaker.Config{
			{},
			{Placement: breaker.PerRequest},
			{WhenOpen: breaker.Wait},
			{Probes: 3, Successes: 2, Verdict: breaker.OfRound},
			{SlowRate: 500, SlowAfter: 500 * time.Millisecond, SlowInFlight: true, MinCalls: 100},
		} {
			c.Failures, c.OpenFor = 1, 10*time.Second
			c.Probes = max(c.Probes, 1)
			s := newStory(t, c)
			s.open()
			end(s)
			s.limit(0)
			s.pass(c.OpenFor)
			healed := s.hand.now.Add(2 * c.OpenFor)
			for heard := len(s.events); s.state() != wire.Closed && s.hand.now <= healed; {
				s.submit(0)
				for ; heard < len(s.events); heard++ {
					if e := s.events[heard]; e.Kind == wire.AttemptSent {
						s.reply(e.ID, wire.Reply{Status: 200})
					}
				}
				s.pass(100 * time.Millisecond)
			}
			if s.state() != wire.Closed {
				t.Errorf("%s, %+v: %v two open times later", name, c, s.state())
			}
		}
	}
}

// N-E20: ten thousand requests at the half-open instant, with results that give
// permits back and results that come late.
func TestNE20NoMoreProbesThanAllowed(t *testing.T) {
	for _, probes := range []int{1, 3, 10} {
		s := newStory(t, breaker.Config{
			Failures: 1, OpenFor: 10 * time.Second, Probes: probes, Successes: probes,
		})
		late, _ := s.submit(0)
		s.open()
		var sent []wire.AttemptID
		for range 10_000 {
			if id, ok := s.submit(0); ok {
				sent = append(sent, id)
			}
		}
		s.reply(late, wire.Reply{Status: 200})
		s.reply(sent[0], wire.Reply{Status: 404})
		again, ok := s.submit(0)
		_, more := s.submit(0)
		if len(sent) != probes || !ok || more {
			t.Fatalf("%d probes of %d; one more after an ignored one %v, two more %v",
				len(sent), probes, ok, more)
		}
		for _, id := range append(sent[1:], again) {
			if s.state() != wire.HalfOpen {
				t.Fatalf("%v before the last probe", s.state())
			}
			s.reply(id, wire.Reply{Status: 200})
		}
		if s.state() != wire.Closed {
			t.Fatalf("%v after %d good probes", s.state(), probes)
		}
	}
}
