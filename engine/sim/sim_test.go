package sim_test

import (
	"strings"
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/sim"
	"herdscope/engine/wire"
)

// shop is a server that answers each attempt after a fixed time.
type shop struct {
	takes   time.Duration
	due     clock.Queue[wire.AttemptID]
	left    []wire.AttemptID
	arrived []clock.Instant
}

func (s *shop) Deadline() (clock.Instant, bool) { return s.due.Peek() }

func (s *shop) Step(
	now clock.Instant, in wire.ServerInput, out []wire.ServerEffect,
) []wire.ServerEffect {
	switch in.Kind {
	case wire.ServerArrive:
		s.arrived = append(s.arrived, now)
		s.due.Push(now.Add(s.takes), in.Attempt.ID)
	case wire.ServerLeave:
		s.left = append(s.left, in.Attempt.ID)
	case wire.ServerTick:
		for at, ok := s.due.Peek(); ok && at <= now; at, ok = s.due.Peek() {
			_, id, _ := s.due.Pop()
			out = append(out, wire.ServerEffect{
				Kind: wire.ServerReply, ID: id, Reply: wire.Reply{Status: 200},
			})
		}
	}
	return out
}

// asker is a fleet that sends one attempt at each of the given moments.
type asker struct {
	at      []clock.Instant
	warm    bool
	answers []clock.Instant
	aborts  clock.Instant
}

func (a *asker) Deadline() (clock.Instant, bool) {
	if len(a.at) == 0 {
		return clock.Never, false
	}
	return a.at[0], true
}

func (a *asker) Step(now clock.Instant, in fleet.Input, out []engine.Effect) []engine.Effect {
	if in.Kind == fleet.Answered {
		a.answers = append(a.answers, now)
		return out
	}
	for len(a.at) > 0 && a.at[0] <= now {
		a.at = a.at[1:]
		attempt := wire.Attempt{ID: wire.AttemptID{Client: 9, Request: 1, Try: 1}, Warm: a.warm}
		out = append(out, engine.Effect{Kind: engine.Send, Attempt: attempt})
		if a.aborts > 0 {
			out = append(out, engine.Effect{Kind: engine.Abort, Attempt: attempt})
		}
	}
	return out
}

func TestMessagesTakeTheDelayEachWay(t *testing.T) {
	server := &shop{takes: 10 * time.Millisecond}
	clients := &asker{at: []clock.Instant{5_000_000}}
	s := sim.New(sim.Config{Fleet: clients, Server: server, Delay: time.Millisecond})
	if err := s.RunUntil(clock.Instant(time.Second)); err != nil {
		t.Fatal(err)
	}
	if len(server.arrived) != 1 || server.arrived[0] != 6_000_000 {
		t.Errorf("arrived at %v, want 6 ms", server.arrived)
	}
	if len(clients.answers) != 1 || clients.answers[0] != 17_000_000 {
		t.Errorf("answered at %v, want 17 ms", clients.answers)
	}
	if s.Now() != clock.Instant(time.Second) {
		t.Errorf("stands at %v", s.Now().Duration())
	}
}

func TestWarmAttemptsAreAtTheServerAlready(t *testing.T) {
	server := &shop{takes: time.Millisecond}
	s := sim.New(sim.Config{
		Fleet: &asker{at: []clock.Instant{0}, warm: true}, Server: server, Delay: time.Second,
	})
	if err := s.RunUntil(0); err != nil {
		t.Fatal(err)
	}
	if len(server.arrived) != 1 || server.arrived[0] != 0 {
		t.Errorf("arrived at %v, want 0", server.arrived)
	}
}

func TestAbortFollowsItsAttempt(t *testing.T) {
	server := &shop{takes: time.Minute}
	s := sim.New(sim.Config{Fleet: &asker{at: []clock.Instant{1}, aborts: 1}, Server: server})
	if err := s.RunUntil(clock.Instant(time.Second)); err != nil {
		t.Fatal(err)
	}
	if len(server.arrived) != 1 || len(server.left) != 1 {
		t.Errorf("%d arrived, %d left; want 1 of each", len(server.arrived), len(server.left))
	}
}

// spinner is a fleet that is always due now.
type spinner struct{}

func (spinner) Deadline() (clock.Instant, bool) { return 0, true }

func (spinner) Step(_ clock.Instant, _ fleet.Input, out []engine.Effect) []engine.Effect {
	return append(out, engine.Effect{
		Kind: engine.Report, Event: wire.Event{ID: wire.AttemptID{Client: 41}},
	})
}

func TestAStuckRunNamesTheClient(t *testing.T) {
	s := sim.New(sim.Config{Fleet: spinner{}, Server: &shop{}, MaxAtOnce: 1000})
	err := s.RunUntil(clock.Instant(time.Second))
	if err == nil || !strings.Contains(err.Error(), "client 41") {
		t.Errorf("error %v, want one that names client 41", err)
	}
}
