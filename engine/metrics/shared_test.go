package metrics

import (
	"testing"
	"time"

	"herdscope/engine/wire"
)

// TestSharedBreakersAreNotCountedByClient opens the one breaker that 10 clients
// share for 5 of 10 s, and gives them their own for 10 s more.
func TestSharedBreakersAreNotCountedByClient(t *testing.T) {
	c := New(Config{Clients: 10, Scopes: 2, BreakersOn: true, BreakersShared: true})
	change := func(after time.Duration, shared bool, from, to wire.BreakerState) {
		c.Observe(wire.Event{
			Kind: wire.BreakerChanged, At: at(after), ID: id(7), Scope: 1, Shared: shared,
			From: from, To: to,
		})
	}
	is := func(shared bool, total, open int64, share float64) {
		t.Helper()
		s := c.Snapshot()
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		b := s.Breakers
		if b.Shared != shared || b.Total != total || b.Counts[wire.Open] != open || b.OpenShare != share {
			t.Errorf("%d breakers, %d open for %v of their time, shared %v; want %d, %d, %v, %v",
				b.Total, b.Counts[wire.Open], b.OpenShare, b.Shared, total, open, share, shared)
		}
	}
	change(5*time.Second, true, wire.Closed, wire.Open)
	c.Advance(at(10 * time.Second))
	is(true, 2, 1, 0.25)
	c.SetWatch(Watch{RasterRows: 5, RasterCols: 10})
	for i, state := range c.Snapshot().Raster.States {
		if state != wire.Open {
			t.Errorf("row %d of the raster is %v, but the breaker of all is open", i, state)
		}
	}
	change(10*time.Second, true, wire.Open, wire.Closed)
	c.SetBreakersShared(false)
	is(false, 20, 0, 0.25)
	c.Advance(at(20 * time.Second))
	is(false, 20, 0, 5.0/(20+200))
}
