package fleet_test

import (
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/enginetest"
	"herdscope/engine/fleet"
	"herdscope/engine/wire"
)

// expiry is a server whose tokens end at a moment: each client's attempts are
// answered 401 from then on, until it has refreshed.
type expiry struct {
	at        clock.Instant
	renewed   map[wire.ClientID]bool
	refreshes int
}

func (x *expiry) reply(now clock.Instant, a wire.Attempt) wire.Reply {
	switch {
	case a.Class == wire.Critical:
		x.refreshes++
		x.renewed[a.ID.Client] = true
	case now >= x.at && !x.renewed[a.ID.Client]:
		return wire.Reply{Status: 401}
	}
	return wire.Reply{Status: 200}
}

// TestEachClientRefreshesItsTokenOnce lets all tokens of an open loop expire at
// once: nothing fails, and each client has refreshed exactly once.
func TestEachClientRefreshesItsTokenOnce(t *testing.T) {
	c := config(5, fleet.Arrival{Kind: fleet.Poisson, Rate: 200_000})
	c.Policy.Auth.Refresh = true
	f := newFleet(t, c, 1)
	checker := enginetest.NewChecker(func() engine.Policy { return f.Config().Policy })
	x := &expiry{at: seconds(1), renewed: map[wire.ClientID]bool{}}
	var replies clock.Queue[wire.Attempt]
	var out []engine.Effect
	for {
		in := fleet.Input{Kind: fleet.Tick}
		at, _ := f.Deadline()
		if due, ok := replies.Peek(); ok && due <= at {
			_, a, _ := replies.Pop()
			at, in = due, fleet.Input{Kind: fleet.Answered, ID: a.ID, Reply: x.reply(due, a)}
		}
		if at > seconds(3) {
			break
		}
		out = f.Step(at, in, out[:0])
		for _, e := range out {
			switch e.Kind {
			case engine.Send:
				replies.Push(at.Add(50*time.Millisecond), e.Attempt)
			case engine.Report:
				checker.Observe(e.Event)
			}
		}
	}
	if err := checker.Finish(f.Counts()); err != nil {
		t.Error(err)
	}
	o := checker.Outcomes()
	if x.refreshes != 5 || o[wire.Failed] != 0 || o[wire.Succeeded] < 500 {
		t.Errorf("%d refreshes of 5 clients, outcomes %v", x.refreshes, o)
	}
}

// TestARefreshIsNotATurn of a closed-loop client: it goes on to think when its
// own request has ended, once.
func TestARefreshIsNotATurn(t *testing.T) {
	c := config(1, fleet.Arrival{Think: time.Second, ThinkFixed: true})
	c.Policy.Auth.Refresh = true
	f := newFleet(t, c, 1)
	at, _ := f.Deadline()
	sent := f.Step(at, fleet.Input{Kind: fleet.Tick}, nil)
	status := []uint16{401, 200, 200}
	for range 3 {
		var id wire.AttemptID
		for _, e := range sent {
			if e.Kind == engine.Send {
				id = e.Attempt.ID
			}
		}
		at = at.Add(10 * time.Millisecond)
		sent = f.Step(at, fleet.Input{
			Kind: fleet.Answered, ID: id, Reply: wire.Reply{Status: status[0]},
		}, nil)
		status = status[1:]
		if next, ok := f.Deadline(); len(status) > 0 && ok {
			t.Fatalf("something is due at %v, amid the refresh", next.Duration())
		}
	}
	if next, ok := f.Deadline(); !ok || next != at.Add(time.Second) || f.Unfinished() != 0 {
		t.Errorf("next turn at %v, %d unfinished", next.Duration(), f.Unfinished())
	}
}
