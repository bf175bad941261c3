package metrics

import (
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

const ms = time.Millisecond

// at is the moment d after the start of a run.
func at(d time.Duration) clock.Instant { return clock.Instant(d) }

// id is the first try of the first request of a client.
func id(client int) wire.AttemptID {
	return wire.AttemptID{Client: wire.ClientID(client), Request: 1, Try: 1}
}

// mustHold checks a snapshot and a summary of the collector and returns both.
func mustHold(t testing.TB, c *Collector) (*Snapshot, Summary) {
	t.Helper()
	s, sum := c.Snapshot(), c.Summary()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	if err := sum.Check(); err != nil {
		t.Fatal(err)
	}
	return s, sum
}

func TestNothingHappened(t *testing.T) {
	for name, c := range map[string]Config{
		"empty": {}, "clients": {Clients: 10, Scopes: 2, BreakersOn: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := New(c)
			mustHold(t, c)
			c.Advance(at(30 * time.Second))
			c.Advance(clock.Never)
			s, sum := mustHold(t, c)
			if s.At != at(30*time.Second) || s.Window != 10*time.Second {
				t.Errorf("at %v, window %v", s.At.Duration(), s.Window)
			}
			if sum.Herd.Bins != 300 || sum.Herd.Chance != 0 {
				t.Errorf("herd is %+v", sum.Herd)
			}
		})
	}
}

// oneRequest is the events of a request that waits, is tried twice and
// succeeds.
func oneRequest(client int, class wire.Class, from clock.Instant) []wire.Event {
	first := wire.AttemptID{Client: wire.ClientID(client), Request: 1}
	try1, try2 := first, first
	try1.Try, try2.Try = 1, 2
	after := func(d time.Duration) clock.Instant { return from.Add(d) }
	events := []wire.Event{
		{Kind: wire.RequestBegan, At: from, Since: from, ID: first},
		{Kind: wire.RequestQueued, At: from, ID: first},
		{Kind: wire.RequestDequeued, At: after(200 * ms), ID: first, Delay: 200 * ms},
		{Kind: wire.AttemptSent, At: after(200 * ms), ID: try1, Delay: 200 * ms},
		{Kind: wire.ServerArrived, At: after(201 * ms), ID: try1},
		{Kind: wire.ServerRejected, At: after(201 * ms), ID: try1, Status: 503, Fault: wire.NoFault},
		{Kind: wire.AttemptEnded, At: after(202 * ms), ID: try1, Status: 503, Cause: wire.CauseStatus},
		{Kind: wire.RetryScheduled, At: after(202 * ms), ID: try1, Delay: 800 * ms},
		{Kind: wire.AttemptSent, At: after(1002 * ms), ID: try2},
		{Kind: wire.ServerArrived, At: after(1003 * ms), ID: try2},
		{Kind: wire.ServerBegan, At: after(1003 * ms), ID: try2, Fault: wire.NoFault},
		{Kind: wire.ServerDone, At: after(1103 * ms), ID: try2, Status: 200, Delay: 100 * ms},
		{Kind: wire.AttemptEnded, At: after(1104 * ms), ID: try2, Status: 200, Cause: wire.CauseStatus},
		{Kind: wire.RequestDone, At: after(1104 * ms), ID: try2, Delay: 1104 * ms, Outcome: wire.Succeeded},
	}
	for i := range events {
		events[i].Class = class
	}
	return events
}

func TestOneRequest(t *testing.T) {
	c := New(Config{Clients: 1, Workers: 1})
	type state struct{ unfinished, inFlight, waiting, sleeping, busy int64 }
	want := map[wire.EventKind]state{
		wire.RequestQueued:  {unfinished: 1, waiting: 1},
		wire.AttemptSent:    {unfinished: 1, inFlight: 1},
		wire.RetryScheduled: {unfinished: 1, sleeping: 1},
		wire.ServerBegan:    {unfinished: 1, inFlight: 1, busy: 1},
		wire.RequestDone:    {},
	}
	for _, e := range oneRequest(0, wire.Interactive, at(time.Second)) {
		c.Observe(e)
		s, _ := mustHold(t, c)
		got := state{s.Outcomes[wire.Unfinished], s.InFlight, s.Waiting, s.Sleeping, s.Server.Busy}
		if w, ok := want[e.Kind]; ok && got != w {
			t.Errorf("after %v: %+v, want %+v", e.Kind, got, w)
		}
	}
	c.Advance(at(4 * time.Second))
	s, sum := mustHold(t, c)
	if q := s.Queues[wire.Interactive]; q.Count != 2 || q.Max != 200*ms {
		t.Errorf("waits are %+v", q)
	}
	if p := sum.Latency[wire.Interactive]; p.Count != 1 || p.P99 != 1104*ms {
		t.Errorf("latency is %+v", p)
	}
	if sum.BusyShare != 0.025 || sum.Amplification != 2 || sum.Goodput != 0.25 {
		t.Errorf("summary is %+v", sum)
	}
	if sum.Statuses[200] != 1 || sum.Statuses[503] != 1 || len(sum.Statuses) != 2 {
		t.Errorf("statuses are %v", sum.Statuses)
	}
	if s.Now.Amplification != 2 || s.Now.P50 != 1104*ms || s.Now.P99 != 0 {
		t.Errorf("headline is %+v", s.Now)
	}
}
