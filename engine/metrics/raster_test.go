package metrics

import (
	"testing"
	"time"

	"herdscope/engine/wire"
)

func TestRowsHoldTheClientsTheySay(t *testing.T) {
	for _, clients := range []int{1, 2, 7, 40, 1000, 99_999} {
		for _, rows := range []int{1, 2, 3, 7, 40} {
			if rows > clients {
				continue
			}
			for client := range min(clients, 3000) {
				r := rowOf(client, clients, rows)
				if from, next := r*clients/rows, (r+1)*clients/rows; client < from || client >= next {
					t.Fatalf("client %d of %d is in row %d of %d, which holds %d..%d", client, clients, r, rows, from, next)
				}
			}
		}
	}
}

func TestRaster(t *testing.T) {
	c := New(Config{Clients: 4, Scopes: 2})
	if c.Snapshot().Raster != nil {
		t.Error("a raster that nobody watches")
	}
	c.SetWatch(Watch{Span: 10 * time.Second, RasterRows: 2, RasterCols: 10})
	arrived := func(now time.Duration, client int, try uint16) {
		id := id(client)
		id.Try = try
		c.Observe(wire.Event{Kind: wire.ServerArrived, At: at(now), ID: id})
	}
	arrived(4*time.Second, 0, 1) // too old
	arrived(16500*ms, 1, 1)
	arrived(16400*ms, 1, 2) // out of order
	arrived(19900*ms, 3, 1)
	arrived(20*time.Second, 2, 1)
	arrived(20*time.Second, 2, 1)
	c.Observe(wire.Event{Kind: wire.BreakerChanged, At: at(20 * time.Second), ID: id(0), Scope: 1, To: wire.Eligible})
	c.Observe(wire.Event{Kind: wire.BreakerChanged, At: at(20 * time.Second), ID: id(1), To: wire.HalfOpen})
	r := c.Snapshot().Raster
	if r.Rows != 2 || r.Cols != 10 || r.Start != at(11*time.Second) || r.Width != time.Second {
		t.Fatalf("raster is %+v", r)
	}
	want := map[int]uint16{0*10 + 5: 1, 1*10 + 8: 1, 1*10 + 9: 2}
	for cell, n := range r.First {
		if n != want[cell] {
			t.Errorf("first tries in cell %d: %d, want %d", cell, n, want[cell])
		}
	}
	for cell, n := range r.Retry {
		if (n == 1) != (cell == 5) {
			t.Errorf("retries in cell %d: %d", cell, n)
		}
	}
	if r.States[0] != wire.Eligible || r.States[1] != wire.Closed {
		t.Errorf("states are %v", r.States)
	}
}

func TestRasterHasNoMoreRowsThanClients(t *testing.T) {
	for _, tc := range []struct{ clients, rows, cols, want int }{
		{3, 40, 10, 3}, {0, 40, 10, 0}, {5, 2, 1 << 30, 0}, {5, -1, 10, 0},
	} {
		c := New(Config{Clients: tc.clients})
		c.SetWatch(Watch{RasterRows: tc.rows, RasterCols: tc.cols})
		r := c.Snapshot().Raster
		if (r == nil) != (tc.want == 0) || r != nil && r.Rows != tc.want {
			t.Errorf("%+v: raster is %+v", tc, r)
		}
	}
}
