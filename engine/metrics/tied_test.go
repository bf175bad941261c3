package metrics

import (
	"testing"

	"herdscope/engine/wire"
)

// TestTiedRequestsAreSomewhere: whoever shares a flight or waits for nested requests is
// neither on the wire nor in backoff, and the sums are right when they end.
func TestTiedRequestsAreSomewhere(t *testing.T) {
	c := New(Config{Clients: 1})
	see := func(kind wire.EventKind, id wire.RequestID, change ...func(*wire.Event)) {
		e := wire.Event{Kind: kind, ID: wire.AttemptID{Request: id, Try: 1}, Status: 200}
		for _, f := range change {
			f(&e)
		}
		c.Observe(e)
	}
	holds := func(inFlight, sharing, nesting int64) {
		t.Helper()
		s := c.Snapshot()
		if s.InFlight != inFlight || s.Sharing != sharing || s.Nesting != nesting || s.Sleeping != 0 {
			t.Errorf("%d in flight, %d share, %d nest, %d sleep", s.InFlight, s.Sharing, s.Nesting, s.Sleeping)
		}
		if err := s.Check(); err != nil {
			t.Error(err)
		}
	}
	end := func(o wire.Outcome, shared, nesting bool) func(*wire.Event) {
		return func(e *wire.Event) { e.Outcome, e.Shared, e.Nesting = o, shared, nesting }
	}
	see(wire.RequestBegan, 1)
	see(wire.AttemptSent, 1)
	see(wire.RequestBegan, 2)
	see(wire.RequestJoined, 2, func(e *wire.Event) { e.Leader = 1 })
	holds(1, 1, 0)
	see(wire.RequestDone, 1, end(wire.Cancelled, true, false)) // the flight goes on for the second
	holds(1, 0, 0)
	see(wire.AttemptEnded, 1)
	see(wire.RequestDone, 2, end(wire.Succeeded, false, false))
	holds(0, 0, 0)

	see(wire.RequestBegan, 3)
	see(wire.AttemptSent, 3)
	see(wire.AttemptEnded, 3)
	see(wire.RequestNesting, 3)
	holds(0, 0, 1)
	see(wire.RequestBegan, 4)
	see(wire.NestedDeadlock, 4, func(e *wire.Event) { e.Parent = 3 })
	see(wire.RequestDone, 4, end(wire.Failed, false, false))
	see(wire.RequestDone, 3, end(wire.Failed, false, true))
	holds(0, 0, 0)
	if s := c.Summary(); s.Joined != 1 || s.Deadlocks != 1 || s.Check() != nil {
		t.Errorf("%d joined, %d deadlocks, %v", s.Joined, s.Deadlocks, s.Check())
	}
}
