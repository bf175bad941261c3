package metrics

import (
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

func TestLimitsAreAveragedOverThoseThatMoved(t *testing.T) {
	c := New(Config{Clients: 3, Scopes: 2})
	if v := c.Snapshot().Limits; v != (LimitView{}) {
		t.Errorf("before any move: %+v", v)
	}
	move := func(at time.Duration, client wire.ClientID, scope uint8, limit int32) {
		c.Observe(wire.Event{
			Kind: wire.LimitChanged, At: clock.Instant(at), Scope: scope, Limit: limit,
			ID: wire.AttemptID{Client: client},
		})
	}
	move(10*time.Millisecond, 0, 0, 20)
	move(20*time.Millisecond, 2, 1, 10)
	move(150*time.Millisecond, 0, 0, 6)
	move(160*time.Millisecond, 9, 0, 99) // nobody of this run
	if v := c.Snapshot().Limits; v.Moved != 2 || v.Mean != 8 {
		t.Errorf("limits are %+v, want 2 of mean 8", v)
	}
	c.Advance(clock.Instant(250 * time.Millisecond))
	bins := c.Snapshot().Bins
	if bins[0].Limit != 15 || bins[1].Limit != 8 {
		t.Errorf("limits at the ends of bins are %v and %v, want 15 and 8", bins[0].Limit, bins[1].Limit)
	}
}

// TestPausedScopesAreCounted: each once, until it is resumed.
func TestPausedScopesAreCounted(t *testing.T) {
	c := New(Config{Clients: 2, Scopes: 2})
	for _, e := range []wire.Event{
		{Kind: wire.ScopePaused}, {Kind: wire.ScopePaused, Scope: 1},
		{Kind: wire.ScopePaused, ID: wire.AttemptID{Client: 1}}, {Kind: wire.ScopeResumed, Scope: 1},
	} {
		c.Observe(e)
	}
	s := c.Snapshot()
	if err := s.Check(); err != nil || s.Paused != 2 {
		t.Errorf("%d scopes are paused, %v", s.Paused, err)
	}
}
