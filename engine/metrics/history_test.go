package metrics

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// clockAfter plans a window every period.
func clockAfter(period time.Duration) func(clock.Instant) clock.Instant {
	return func(now clock.Instant) clock.Instant {
		return clock.Instant((now.Bin(period) + 1) * int64(period))
	}
}

// TestMergingKeepsTotals fills hours of history with numbers that tell the bins
// apart, and looks at it through windows of all lengths.
func TestMergingKeepsTotals(t *testing.T) {
	h := newHistory()
	const bins = 200_000 // 5.6 hours
	for n := int64(0); n < bins; n++ {
		b := h.newest()
		b.First, b.Bad, b.Busy = int32(n%7), 1, int32(n%1000)
		if n < bins-1 {
			h.open()
		}
	}
	for _, span := range []time.Duration{
		time.Second, time.Minute, 2 * time.Minute, 10 * time.Minute, 11 * time.Minute,
		20 * time.Minute, time.Hour, 4 * time.Hour, 24 * time.Hour,
	} {
		got, width := h.view(span)
		if len(got) > viewBins+1 {
			t.Errorf("%v: %d bins", span, len(got))
		}
		first := int64(got[0].Start / clock.Instant(binWidth))
		if covered := time.Duration(bins-first) * binWidth; covered < min(span, bins*binWidth) {
			t.Errorf("%v: only %v are covered", span, covered)
		}
		for i, b := range got {
			want := Bin{Start: got[0].Start.Add(time.Duration(i) * width)}
			for n := int64(want.Start) / int64(binWidth); n < min(bins, int64(want.Start.Add(width))/int64(binWidth)); n++ {
				want.add(&Bin{First: int32(n % 7), Bad: 1})
				want.Busy = int32(n % 1000)
			}
			if b != want {
				t.Fatalf("%v: bin %d is %+v, want %+v", span, i, b, want)
			}
		}
	}
}

func TestStateOfABinIsThatOfItsEnd(t *testing.T) {
	c := New(Config{Clients: 2})
	c.Observe(wire.Event{Kind: wire.RequestQueued, At: at(10 * ms), ID: id(0)})
	c.Observe(wire.Event{Kind: wire.RequestDequeued, At: at(150 * ms), ID: id(0), Delay: 140 * ms})
	c.Observe(wire.Event{Kind: wire.BreakerChanged, At: at(250 * ms), ID: id(1), To: wire.Open})
	s, _ := mustHold(t, c)
	if len(s.Bins) != 3 {
		t.Fatalf("%d bins", len(s.Bins))
	}
	for i, want := range []struct{ waiting, open int32 }{{1, 0}, {0, 0}, {0, 1}} {
		if b := s.Bins[i]; b.Waiting[0] != want.waiting || b.States[wire.Open] != want.open {
			t.Errorf("bin %d is %+v, want %+v", i, b, want)
		}
	}
}

// TestIdentitiesHold runs random traffic and checks every so often.
func TestIdentitiesHold(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		clients := rapid.IntRange(1, 50).Draw(rt, "clients")
		step := time.Duration(rapid.IntRange(1, 2000).Draw(rt, "step")) * time.Millisecond / 10
		c := New(Config{
			Clients: clients, BreakersOn: true, Workers: rapid.IntRange(0, 5).Draw(rt, "workers"),
			Base: time.Second, Cap: 8 * time.Second, Faults: []FaultPlan{{Name: "outage"}},
			EpochFraction: time.Duration(rapid.IntRange(0, 999).Draw(rt, "fraction")) * ms,
		})
		c.SetWatch(Watch{
			Span:       time.Duration(rapid.IntRange(0, 4000).Draw(rt, "span")) * time.Second,
			RasterRows: rapid.IntRange(0, 60).Draw(rt, "rows"),
			RasterCols: rapid.IntRange(0, 60).Draw(rt, "cols"),
		})
		traffic := newTraffic(rapid.Uint64().Draw(rt, "seed"), clients, step, c.Observe)
		for i := range 20 {
			traffic.run(rapid.IntRange(0, 200).Draw(rt, "steps"))
			switch i % 5 {
			case 1:
				c.Mark(c.now, "change")
			case 2:
				c.SetWorkers(rapid.IntRange(0, 9).Draw(rt, "workers"))
			case 3:
				c.Advance(c.now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(rt, "idle")) * ms))
				traffic.now = c.now
			}
			if err := c.Snapshot().Check(); err != nil {
				rt.Fatal(err)
			}
		}
		if err := c.Summary().Check(); err != nil {
			rt.Fatal(err)
		}
	})
}

// TestOddEventsDoNotPanic feeds events that fit nothing.
func TestOddEventsDoNotPanic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := New(Config{Clients: 2, Faults: []FaultPlan{{Name: "outage"}}})
		c.SetWatch(Watch{RasterRows: 3, RasterCols: 7})
		for range rapid.IntRange(0, 100).Draw(t, "events") {
			c.Observe(wire.Event{
				At:    clock.Instant(rapid.Int64Range(-int64(time.Hour), int64(time.Minute)).Draw(t, "at")),
				Since: clock.Instant(rapid.Int64().Draw(t, "since")),
				Until: clock.Instant(rapid.Int64().Draw(t, "until")),
				Delay: time.Duration(rapid.Int64().Draw(t, "delay")),
				ID: wire.AttemptID{
					Client:  wire.ClientID(rapid.Uint32().Draw(t, "client")),
					Request: wire.RequestID(rapid.Uint32Range(0, 3).Draw(t, "request")),
					Try:     rapid.Uint16().Draw(t, "try"),
				},
				Status:  rapid.Uint16().Draw(t, "status"),
				Kind:    wire.EventKind(rapid.IntRange(0, wire.NumEventKinds+1).Draw(t, "kind")),
				Class:   wire.Class(rapid.Byte().Draw(t, "class")),
				Scope:   rapid.Byte().Draw(t, "scope"),
				Outcome: wire.Outcome(rapid.Byte().Draw(t, "outcome")),
				Cause:   wire.Cause(rapid.Byte().Draw(t, "cause")),
				To:      wire.BreakerState(rapid.Byte().Draw(t, "to")),
				Fault:   rapid.Byte().Draw(t, "fault"),
				Warm:    rapid.Bool().Draw(t, "warm"),
			})
		}
		c.Snapshot()
		c.Summary()
	})
}
