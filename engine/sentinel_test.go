package engine_test

import (
	"math"
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/backoff"
	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// endOf submits one request whose attempts are all reset at once, from start on,
// and is how many there were and when the request ended.
func endOf(t *testing.T, p engine.Policy, start clock.Instant) (attempts int, end clock.Instant) {
	t.Helper()
	m := engine.New(1, 1, 1, &p)
	now := start
	out := m.Step(now, engine.Input{Kind: engine.Submit, Request: 1, Since: now}, nil)
	for range 200 {
		in := engine.Input{Kind: engine.Tick}
		for _, e := range out {
			switch {
			case e.Kind == engine.Send:
				attempts++
				in = engine.Input{
					Kind: engine.Answered, ID: e.Attempt.ID, Reply: wire.Reply{Kind: wire.ReplyReset},
				}
			case e.Kind == engine.Report && e.Event.Kind == wire.RequestDone:
				return attempts, e.Event.At
			}
		}
		if in.Kind == engine.Tick {
			at, ok := m.Deadline()
			if !ok {
				t.Fatalf("after %d attempts nothing is due, and the request has not ended", attempts)
			}
			now = at
		}
		out = m.Step(now, in, nil)
	}
	t.Fatalf("the request never ends: %d attempts", attempts)
	return 0, 0
}

// N-E6: no duration stands for something else. A wait of the longest length there
// is does not wrap past the total limit, a limit of a nanosecond is one, a limit
// of 0 is none, and to stop is never a wait.
func TestNE6NoSentinelIsTakenAsADuration(t *testing.T) {
	const start = clock.Instant(time.Hour)
	endless := backoff.Config{
		Curve: backoff.Fixed, Base: math.MaxInt64, Cap: math.MaxInt64, Multiplier: 2000,
	}
	none := backoff.Config{Curve: backoff.Fixed, Cap: time.Second, Multiplier: 2000}
	for _, tt := range []struct {
		name     string
		total    time.Duration
		attempts int
		backoff  backoff.Config
		want     int
	}{
		{"a wait of 292 years within 15 min", 15 * time.Minute, 10, endless, 1},
		{"a wait of 292 years without a limit", 0, 10, endless, 1},
		{"no wait, within a nanosecond", 1, 10, none, 10},
		{"no wait, without a limit", 0, 10, none, 10},
		{"no retries", 15 * time.Minute, 1, none, 1},
	} {
		p := plain()
		p.Retry.Total, p.Retry.Attempts, p.Retry.Backoff = tt.total, tt.attempts, tt.backoff
		attempts, end := endOf(t, p, start)
		if attempts != tt.want || end != start {
			t.Errorf("%s: %d attempts until %v; want %d until %v", tt.name, attempts, end, tt.want, start)
		}
	}
}

// N-E6: the number of tries has no magic values either.
func TestNE6AttemptsBelowOneAreRefused(t *testing.T) {
	for _, attempts := range []int{0, -1, math.MinInt} {
		p := plain()
		p.Retry.Attempts = attempts
		if p.Validate() == nil {
			t.Errorf("%d attempts are allowed", attempts)
		}
	}
}
