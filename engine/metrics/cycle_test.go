package metrics

import (
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// outages makes a run with a fault every 25 s from 5 s on, and a rate of requests
// per second that depends on the time since the last one began and on the
// settings.
func outages(c *Collector, from, to time.Duration, rate func(since time.Duration) int) {
	for at := from; at < to; at += 100 * time.Millisecond {
		since := (at - 5*time.Second) % (25 * time.Second)
		if since == 0 && at >= 5*time.Second {
			c.Observe(wire.Event{Kind: wire.FaultBegan, At: clock.Instant(at)})
			c.Observe(wire.Event{Kind: wire.FaultEnded, At: clock.Instant(at + 50*time.Millisecond)})
		}
		for range rate(since) / 10 {
			c.Observe(wire.Event{Kind: wire.RequestBegan, At: clock.Instant(at), Since: clock.Instant(at)})
		}
	}
	c.Advance(clock.Instant(to))
}

// TestWasIsOfTheSameMomentOfTheFaultBefore: a change made in a quiet time is
// judged, in the next outage, by the outage before it.
func TestWasIsOfTheSameMomentOfTheFaultBefore(t *testing.T) {
	c := New(Config{Clients: 1, Faults: []FaultPlan{{Name: "outage", Next: never}}})
	old := func(since time.Duration) int { return 100 + 10*int(since/time.Second) }
	outages(c, 0, 25*time.Second, old)
	c.Mark(clock.Instant(25*time.Second), "jitter=full")
	quiet := c.Snapshot().Was
	outages(c, 25*time.Second, 38500*time.Millisecond, func(time.Duration) int { return 50 })
	s := c.Snapshot()
	// Ten seconds of the old rate, ending 8 s after its outage began.
	if want := 100.0 + 10*3.5; s.Was == quiet || s.Was.Offered < want*0.5 || s.Was.Offered > want*1.5 {
		t.Errorf("8 s into the outage, offered was %.0f/s; when the change was made, %.0f/s",
			s.Was.Offered, quiet.Offered)
	}
	early := s.Was.Offered
	outages(c, 38500*time.Millisecond, 45500*time.Millisecond, func(time.Duration) int { return 50 })
	if later := c.Snapshot().Was.Offered; later <= early {
		t.Errorf("later in the outage offered was %.0f/s, earlier %.0f/s; it grew then", later, early)
	}
}

// TestWasIsOfTheChangeWhereNothingElseIsKnown: before another fault has begun.
func TestWasIsOfTheChangeWhereNothingElseIsKnown(t *testing.T) {
	c := New(Config{Clients: 1, Faults: []FaultPlan{{Name: "outage", Next: never}}})
	outages(c, 0, 20*time.Second, func(time.Duration) int { return 100 })
	now := c.Snapshot().Now
	c.Mark(clock.Instant(20*time.Second), "jitter=full")
	outages(c, 20*time.Second, 28*time.Second, func(time.Duration) int { return 50 })
	if was := c.Snapshot().Was; was != now {
		t.Errorf("was %+v, and then %+v", now, was)
	}
}

func never(clock.Instant) clock.Instant { return clock.Never }
