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
	stale     map[wire.AttemptID]bool // sent with a token of before
	refreshes int
	broken    int  // the first so many refreshes fail
	shared    bool // the token of one is that of all
}

func (x *expiry) reply(now clock.Instant, a wire.Attempt) wire.Reply {
	switch {
	case a.Class == wire.Critical:
		x.refreshes++
		if x.refreshes <= x.broken {
			return wire.Reply{Status: 500}
		}
		x.renewed[x.holder(a)] = true
	case now >= x.at && x.stale[a.ID]:
		return wire.Reply{Status: 401}
	}
	return wire.Reply{Status: 200}
}

// holder is the client whose token an attempt has.
func (x *expiry) holder(a wire.Attempt) wire.ClientID {
	if x.shared {
		return 0
	}
	return a.ID.Client
}

// spend runs a fleet of five in an open loop until 3 s, every reply after 50 ms.
func (x *expiry) spend(t *testing.T, c fleet.Config) *enginetest.Checker {
	t.Helper()
	f := newFleet(t, c, 1)
	checker := enginetest.NewChecker(func() engine.Policy { return f.Config().Policy })
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
				x.stale[e.Attempt.ID] = !x.renewed[x.holder(e.Attempt)]
				replies.Push(at.Add(50*time.Millisecond), e.Attempt)
			case engine.Report:
				checker.Observe(e.Event)
			}
		}
	}
	if err := checker.Finish(f.Counts()); err != nil {
		t.Error(err)
	}
	return checker
}

// expiring is five clients whose tokens expire at 1 s.
func expiring() (fleet.Config, *expiry) {
	c := config(5, fleet.Arrival{Kind: fleet.Poisson, Rate: 200_000})
	c.Policy.Auth.Refresh = true
	return c, &expiry{at: seconds(1), renewed: map[wire.ClientID]bool{}, stale: map[wire.AttemptID]bool{}}
}

// TestEachClientRefreshesItsTokenOnce lets all tokens of an open loop expire at
// once: nothing fails, and each client has refreshed exactly once.
func TestEachClientRefreshesItsTokenOnce(t *testing.T) {
	c, x := expiring()
	o := x.spend(t, c).Outcomes()
	if x.refreshes != 5 || o[wire.Failed] != 0 || o[wire.Succeeded] < 500 {
		t.Errorf("%d refreshes of 5 clients, outcomes %v", x.refreshes, o)
	}
}

// TestOneRefreshServesTheFleet: of five clients that share a token one refreshes
// it. Those that meet a 401 meanwhile wait, and one that meets it later has the
// new token already; nothing fails.
func TestOneRefreshServesTheFleet(t *testing.T) {
	c, x := expiring()
	c.Policy.Auth.Shared, x.shared = true, true
	o := x.spend(t, c).Outcomes()
	if x.refreshes != 1 || o[wire.Failed] != 0 || o[wire.Succeeded] < 500 {
		t.Errorf("%d refreshes for all, outcomes %v", x.refreshes, o)
	}
}

// TestAFailedRefreshFailsTheFleet: all who wait for a shared refresh fail with it,
// and the next 401 has another one made.
func TestAFailedRefreshFailsTheFleet(t *testing.T) {
	c, x := expiring()
	c.Policy.Auth.Shared, x.shared, x.broken = true, true, 1
	o := x.spend(t, c).Outcomes()
	if x.refreshes != 2 || o[wire.Failed] < 2 || o[wire.Succeeded] < 450 {
		t.Errorf("%d refreshes, outcomes %v", x.refreshes, o)
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
