package fleet_test

import (
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/wire"
)

// TestLongJobsTakeTurnsInAScopeOfTheirOwn: a client's exports, which take a
// minute each and have a limit of 1, never run two at a time; the other scope,
// with six slots, answers at once whatever they do.
func TestLongJobsTakeTurnsInAScopeOfTheirOwn(t *testing.T) {
	const api, exports = 0, 1
	c := config(3, fleet.Arrival{Kind: fleet.Poisson, Rate: 300})
	c.Mix[wire.Interactive] = fleet.Mix{Weight: 9, Scope: api}
	c.Mix[wire.Background] = fleet.Mix{Weight: 1, Scope: exports}
	c.Policy.Queue.Limit = 6
	c.Policy.Queue.Scope[exports].Limit = 1
	f := newFleet(t, c, 2)

	var replies clock.Queue[wire.AttemptID]
	running, jobs, most := map[wire.ClientID]int{}, 0, 0
	scopes := map[wire.AttemptID]uint8{}
	step := func(now clock.Instant, in fleet.Input) {
		for _, e := range f.Step(now, in, nil) {
			switch {
			case e.Kind == engine.Send && e.Attempt.Scope == exports:
				jobs++
				running[e.Attempt.ID.Client]++
				most = max(most, running[e.Attempt.ID.Client])
				scopes[e.Attempt.ID] = exports
				replies.Push(now.Add(time.Minute), e.Attempt.ID)
			case e.Kind == engine.Send:
				replies.Push(now.Add(10*time.Millisecond), e.Attempt.ID)
			case e.Kind == engine.Report && e.Event.Kind == wire.RequestQueued && e.Event.Scope == api:
				t.Errorf("%v waits behind an export", e.Event.ID)
			}
		}
	}
	for now := clock.Instant(0); now < seconds(600); {
		due, _ := f.Deadline()
		answered, id, ok := replies.Pop()
		if !ok || due <= answered {
			if ok {
				replies.Push(answered, id)
			}
			now = due
			step(now, fleet.Input{Kind: fleet.Tick})
			continue
		}
		now = answered
		if scopes[id] == exports {
			running[id.Client]--
		}
		step(now, fleet.Input{Kind: fleet.Answered, ID: id, Reply: wire.Reply{Status: 200}})
	}
	if most != 1 || jobs < 12 {
		t.Errorf("%d exports ran, up to %d at a time", jobs, most)
	}
}
