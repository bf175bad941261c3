package metrics

import (
	"fmt"
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

func TestObserveDoesNotAllocate(t *testing.T) {
	c := New(Config{
		Clients: 1000, BreakersOn: true, Base: time.Second, Cap: 10 * time.Second,
		Faults: []FaultPlan{{Name: "outage"}},
	})
	// 100,000 steps are 50 s, so that notes and bins are at home in the measured
	// part as well.
	traffic := newTraffic(1, 1000, 500*time.Microsecond, c.Observe)
	traffic.run(100_000)
	if n := testing.AllocsPerRun(5, func() { traffic.run(10_000) }); n != 0 {
		t.Errorf("10,000 steps allocate %v times", n)
	}
}

// TestMemoryIsBounded runs for four hours and looks at everything that could grow.
func TestMemoryIsBounded(t *testing.T) {
	c := New(Config{Clients: 100, Faults: []FaultPlan{{Name: "outage"}}})
	traffic := newTraffic(2, 100, 150*time.Millisecond, c.Observe)
	traffic.run(100_000)
	if c.now < at(4*time.Hour) {
		t.Fatalf("the run ended after %v", c.now.Duration())
	}
	bins := 0
	for _, r := range c.history.levels {
		bins += len(r.bins)
	}
	if most := fineBins + 5*coarseBins; bins > most {
		t.Errorf("history has room for %d bins, want at most %d", bins, most)
	}
	if len(c.story.notes) != maxTold || len(c.story.marks) != maxTold {
		t.Errorf("%d notes and %d marks", len(c.story.notes), len(c.story.marks))
	}
	if len(c.queues.places.keys) > 256 {
		t.Errorf("room for %d waiting requests of 100 clients", len(c.queues.places.keys))
	}
	mustHold(t, c)
}

func BenchmarkObserve(b *testing.B) {
	for _, clients := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			c := New(Config{
				Clients: clients, BreakersOn: true, Base: 1200 * ms, Cap: 10 * time.Second,
			})
			// 2^20 events of a server that is busy with 2,000 steps a second.
			events := make([]wire.Event, 0, 1<<20)
			traffic := newTraffic(3, clients, 500*time.Microsecond, func(e wire.Event) {
				events = append(events, e)
			})
			for len(events) < 1<<20-100 {
				traffic.run(10)
			}
			end := traffic.now
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				e := events[i%len(events)]
				e.At += end * clock.Instant(i/len(events))
				c.Observe(e)
			}
		})
	}
}

func BenchmarkSnapshot(b *testing.B) {
	for _, tc := range []struct {
		name    string
		clients int
		waiting int
		watch   Watch
	}{
		{"clients=1000", 1000, 300, Watch{}},
		{"clients=1000/raster", 1000, 300, Watch{RasterRows: 40, RasterCols: 240}},
		{"clients=100000", 100_000, 1000, Watch{}},
		{"clients=100000/waiting", 100_000, 100_000, Watch{}},
		{"clients=1000/heat", 1000, 300, Watch{HeatRows: 20, HeatCols: 100}},
		{"clients=1000/lines", 1000, 300, Watch{Lines: true}},
		{"clients=1000/lanes", 1000, 300, Watch{BreakerRows: 40, BreakerCols: 80, Flips: 64}},
		{"clients=100000/lines", 100_000, 1000, Watch{Lines: true}},
		{"clients=100000/lanes", 100_000, 1000, Watch{BreakerRows: 40, BreakerCols: 80, Flips: 64}},
		{"clients=1000/hour", 1000, 300, Watch{Span: time.Hour}},
	} {
		b.Run(tc.name, func(b *testing.B) {
			c := New(Config{Clients: tc.clients, BreakersOn: true, Base: time.Second, Cap: 8 * time.Second})
			newTraffic(4, tc.clients, 500*time.Microsecond, c.Observe).run(200_000)
			for i := range tc.waiting {
				c.Observe(wire.Event{
					Kind: wire.RequestQueued, At: c.now,
					ID: wire.AttemptID{Client: wire.ClientID(i), Request: 1 << 30},
				})
			}
			if tc.watch.Span > 0 {
				c.Advance(at(tc.watch.Span))
			}
			c.SetWatch(tc.watch)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				c.Snapshot()
			}
		})
	}
}
