package metrics

import (
	"testing"
	"time"

	"herdscope/engine/wire"
)

// TestAChangeOfClassKeepsTheAge moves one of two that wait in the background to
// the interactive, between two that wait there: it is counted where it is, as old
// as it is, and overtaken or not by when it joined.
func TestAChangeOfClassKeepsTheAge(t *testing.T) {
	c := New(Config{Clients: 1})
	tell := func(kind wire.EventKind, after time.Duration, request wire.RequestID, class wire.Class, delay time.Duration) {
		c.Observe(wire.Event{
			Kind: kind, At: at(after), Delay: delay, Class: class, Was: wire.Background,
			ID: wire.AttemptID{Request: request},
		})
	}
	for i, class := range []wire.Class{
		wire.Interactive, wire.Background, wire.Interactive, wire.Background,
	} {
		when := time.Duration(i) * time.Second
		tell(wire.RequestBegan, when, wire.RequestID(i+1), class, 0)
		tell(wire.RequestQueued, when, wire.RequestID(i+1), class, 0)
	}
	tell(wire.ClassChanged, 5*time.Second, 2, wire.Interactive, 0)
	tell(wire.ClassChanged, 5*time.Second, 9, wire.Interactive, 0) // is not there
	c.Advance(at(10 * time.Second))
	s := c.Snapshot()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	for class, want := range map[wire.Class]QueueView{
		wire.Interactive: {Waiting: 3, Oldest: 10 * time.Second},
		wire.Background:  {Waiting: 1, Oldest: 7 * time.Second},
	} {
		if q := s.Queues[class]; q.Waiting != want.Waiting || q.Oldest != want.Oldest {
			t.Errorf("%v: %d wait, the oldest for %v; want %d and %v",
				class, q.Waiting, q.Oldest, want.Waiting, want.Oldest)
		}
	}
	// The background starts, and goes before all three that had joined earlier.
	tell(wire.RequestDequeued, 11*time.Second, 4, wire.Background, 8*time.Second)
	tell(wire.AttemptSent, 11*time.Second, 4, wire.Background, 8*time.Second)
	sum := c.Summary()
	if got := sum.Overtaken[wire.Interactive]; got != 3 {
		t.Errorf("%d of the interactive were overtaken, want 3", got)
	}
	if sum.ClassChanges != 2 {
		t.Errorf("%d changes of class, want 2", sum.ClassChanges)
	}
}

// TestAFlightChangesItsClassByItself has the request that began a flight, and then the
// flight, change from the background to the interactive: the first is a change of the
// request and not of what waits in the queue, the second the reverse.
func TestAFlightChangesItsClassByItself(t *testing.T) {
	c := New(Config{Clients: 1})
	c.SetWatch(Watch{HeatRows: 2, HeatCols: 2})
	tell := func(kind wire.EventKind, request, leader wire.RequestID, class wire.Class, flight bool) {
		c.Observe(wire.Event{
			Kind: kind, At: at(time.Second), Class: class, Was: wire.Background, Leader: leader,
			Shared: flight, ID: wire.AttemptID{Request: request},
		})
	}
	tell(wire.RequestBegan, 1, 0, wire.Background, false)
	tell(wire.RequestQueued, 1, 0, wire.Background, false)
	tell(wire.RequestBegan, 2, 0, wire.Background, false)
	tell(wire.RequestJoined, 2, 1, wire.Background, false)
	check := func(waits, open wire.Class) {
		t.Helper()
		c.Advance(at(2 * time.Second))
		s := c.Snapshot()
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		if s.Queues[waits].Waiting != 1 {
			t.Errorf("nobody waits as %v: %+v", waits, s.Queues)
		}
		if s.Latency.Classes[open].Open == 0 {
			t.Errorf("nobody is under way as %v: %+v", open, s.Latency.Classes)
		}
		if got := c.Summary().ClassChanges; got != 1 {
			t.Errorf("%d changes of class, want that of the request", got)
		}
	}
	tell(wire.ClassChanged, 1, 1, wire.Interactive, false)
	check(wire.Background, wire.Interactive)
	tell(wire.ClassChanged, 1, 0, wire.Interactive, true)
	check(wire.Interactive, wire.Interactive)
}
