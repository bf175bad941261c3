package metrics

import (
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

func TestFaultPlansComeAndGo(t *testing.T) {
	c := New(Config{Faults: []FaultPlan{{Name: "down"}}})
	c.Observe(wire.Event{Kind: wire.FaultBegan, At: 1, Fault: 0})
	c.Observe(wire.Event{Kind: wire.ServerRejected, At: 2, Fault: 0})
	c.SetFaultPlan(2, FaultPlan{Name: "burst", Length: time.Second})
	c.Observe(wire.Event{Kind: wire.FaultBegan, At: 3, Fault: 2})
	c.SetFaultPlan(0, FaultPlan{Name: "down", Length: time.Minute})
	views := c.FaultViews()
	if len(views) != 2 || views[0].Hits != 1 || views[0].Length != time.Minute || views[1].Name != "burst" || !views[1].On {
		t.Errorf("faults %+v, want down with its hit and its new length, and burst", views)
	}
	if i, ok := c.FaultIndex("burst"); i != 2 || !ok {
		t.Errorf("burst is at %d, %v, want 2", i, ok)
	}
	c.SetFaultPlan(0, FaultPlan{})
	c.SetFaultPlan(0, FaultPlan{Name: "other"})
	if views = c.FaultViews(); len(views) != 2 || views[0].Name != "other" || views[0].Hits != 0 || views[0].On {
		t.Errorf("faults %+v, want other without hits at the place of down", views)
	}
	if _, ok := c.FaultIndex("down"); ok {
		t.Error("down is still there")
	}
}

// A raster grows with the clients that are met.
func TestClientsAreLearned(t *testing.T) {
	c := New(Config{})
	c.SetWatch(Watch{RasterRows: 4, RasterCols: 10, Span: time.Second})
	c.Advance(clock.Instant(time.Second))
	if s := c.Snapshot(); s.Raster != nil || s.Clients != 0 {
		t.Errorf("nobody has come: %+v", s.Raster)
	}
	for client := range 2 {
		c.SetClients(client + 1)
		c.Observe(wire.Event{
			Kind: wire.ServerArrived, At: clock.Instant(time.Second),
			ID: wire.AttemptID{Client: wire.ClientID(client), Request: 1, Try: 1},
		})
	}
	s := c.Snapshot()
	if s.Clients != 2 || s.Raster == nil || s.Raster.Rows != 2 {
		t.Fatalf("clients %d, raster %+v, want 2 and 2 rows", s.Clients, s.Raster)
	}
	for row := range 2 {
		if got := s.Raster.First[row*s.Raster.Cols+s.Raster.Cols-1]; got != 1 {
			t.Errorf("row %d has %d arrivals in its last column, want 1", row, got)
		}
	}
}
