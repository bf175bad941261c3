package metrics

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// exactPercentile is the nearest rank of a sorted list.
func exactPercentile(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*percent+99)/100-1]
}

// near says whether a percentile is the exact one or too high by as much as it
// may be.
func near(got, exact time.Duration, tolerance float64) bool {
	return got >= exact && float64(got-exact) <= max(float64(leastTime), tolerance*float64(exact))
}

// checkPercentiles compares a Percentiles with the exact ones (field bug P-L4).
func checkPercentiles(t rapid.TB, got Percentiles, values []time.Duration, tolerance float64) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(values))
	for percent, p := range map[int]time.Duration{50: got.P50, 90: got.P90, 99: got.P99} {
		if exact := exactPercentile(sorted, percent); !near(p, exact, tolerance) {
			t.Errorf("n=%d: p%d is %v, exactly %v", len(values), percent, p, exact)
		}
	}
	if exact := exactPercentile(sorted, 100); got.Max != exact {
		t.Errorf("n=%d: max is %v, exactly %v", len(values), got.Max, exact)
	}
	if got.Count != int64(len(values)) {
		t.Errorf("count is %d, want %d", got.Count, len(values))
	}
	if got.P50 > got.P90 || got.P90 > got.P99 || got.P99 > got.Max {
		t.Errorf("n=%d: %+v is not in order", len(values), got)
	}
}

// sets are the shapes of values that percentiles have gone wrong with.
var sets = map[string]func(i int) time.Duration{
	"all equal":   func(int) time.Duration { return 41 * ms },
	"all zero":    func(int) time.Duration { return 0 },
	"two values":  func(i int) time.Duration { return time.Duration(1+i%2*9999) * ms },
	"ascending":   func(i int) time.Duration { return time.Duration(i) * ms },
	"heavy tail":  func(i int) time.Duration { return time.Millisecond << (i * 7 % 21) },
	"nanoseconds": func(i int) time.Duration { return time.Duration(i) },
	"days":        func(i int) time.Duration { return time.Duration(1+i%3) * 7 * time.Hour },
}

func TestPL4PercentilesOfFewSamples(t *testing.T) {
	for name, set := range sets {
		t.Run(name, func(t *testing.T) {
			latency, waits := newTimes(latencyDigits), newTimes(waitDigits)
			var values []time.Duration
			for n := range 201 {
				checkPercentiles(t, latency.percentiles(), values, 0.001)
				checkPercentiles(t, waits.percentiles(), values, 0.008)
				latency.record(set(n))
				waits.record(set(n))
				values = append(values, set(n))
			}
		})
	}
}

func TestPL4PercentilesOfAnySamples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nanos := rapid.SliceOfN(rapid.Int64Range(0, int64(2*time.Hour)), 0, 300).Draw(t, "values")
		set := newTimes(latencyDigits)
		values := make([]time.Duration, len(nanos))
		for i, n := range nanos {
			values[i] = time.Duration(n)
			set.record(values[i])
		}
		checkPercentiles(t, set.percentiles(), values, 0.001)
	})
}

// TestPL4HeadlineWantsEnoughSamples: a p99 of fewer than 100 is not told.
func TestPL4HeadlineWantsEnoughSamples(t *testing.T) {
	for _, n := range []int{0, 1, 2, 9, 99, 100, 101} {
		c := New(Config{Clients: 1})
		for i := range n {
			c.Observe(wire.Event{Kind: wire.RequestBegan, At: at(time.Second), Since: at(time.Second)})
			c.Observe(wire.Event{
				Kind: wire.RequestDone, Outcome: wire.Succeeded,
				At: at(time.Second), Delay: time.Duration(1+i) * ms,
			})
		}
		s, sum := mustHold(t, c)
		if s.Now.Count != int64(n) || (s.Now.P99 != 0) != (n >= 100) {
			t.Errorf("n=%d: headline is %+v", n, s.Now)
		}
		if p := sum.Latency[0]; p.Count != int64(n) || (p.P99 != 0) != (n > 0) {
			t.Errorf("n=%d: latency is %+v", n, p)
		}
	}
}

func TestHeadlineForgetsAfterTenSeconds(t *testing.T) {
	c := New(Config{Clients: 1})
	done := func(second int, latency time.Duration) {
		now := at(time.Duration(second)*time.Second + 500*ms)
		c.Observe(wire.Event{Kind: wire.RequestBegan, At: now, Since: now})
		c.Observe(wire.Event{Kind: wire.RequestDone, At: now, Outcome: wire.Succeeded, Delay: latency})
	}
	done(0, time.Minute)
	for second := 1; second <= 9; second++ {
		done(second, time.Second)
	}
	if s, _ := mustHold(t, c); s.Now.Count != 10 || s.Now.Max != time.Minute {
		t.Errorf("headline is %+v", s.Now)
	}
	done(10, 2*time.Second)
	if s, _ := mustHold(t, c); s.Now.Count != 10 || s.Now.Max != 2*time.Second {
		t.Errorf("headline is %+v", s.Now)
	}
	c.Advance(at(25 * time.Second))
	if s, _ := mustHold(t, c); s.Now != (Headline{}) {
		t.Errorf("headline of nothing is %+v", s.Now)
	}
}

// TestWaitsIncludeThoseThatGoOn compares with the exact waits while requests
// come and go.
func TestWaitsIncludeThoseThatGoOn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := New(Config{Clients: 8})
		since := map[int]clock.Instant{}
		var over []time.Duration
		now := clock.Instant(0)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 300).Draw(t, "gap")) * ms)
			client := rapid.IntRange(0, 7).Draw(t, "client")
			id := wire.AttemptID{Client: wire.ClientID(client), Request: 1}
			if began, waits := since[client]; waits {
				c.Observe(wire.Event{Kind: wire.RequestDequeued, At: now, ID: id, Delay: now.Sub(began)})
				over = append(over, now.Sub(began))
				delete(since, client)
			} else {
				c.Observe(wire.Event{Kind: wire.RequestQueued, At: now, ID: id})
				since[client] = now
			}
		}
		oldest := time.Duration(0)
		for _, began := range since {
			over = append(over, now.Sub(began))
			oldest = max(oldest, now.Sub(began))
		}
		sum := c.Summary()
		checkPercentiles(t, sum.Waits[0], over, 0.008)
		view := c.queues.view(0, c.now)
		if sum.Oldest[0] != oldest || view.Oldest != oldest || view.Waiting != int64(len(since)) {
			t.Errorf("oldest is %v and %v, want %v", sum.Oldest[0], view.Oldest, oldest)
		}
	})
}

func TestWaitOfAnAttemptIsCountedOnce(t *testing.T) {
	c := New(Config{Clients: 2})
	events := []wire.Event{
		{Kind: wire.RequestQueued, ID: id(0)},
		{Kind: wire.RequestDequeued, ID: id(0)}, // in the same moment
		{Kind: wire.BreakerChanged, ID: id(0), To: wire.HalfOpen},
		{Kind: wire.AttemptSent, ID: id(0)},
		{Kind: wire.AttemptSent, ID: id(1)},               // found a slot at once
		{Kind: wire.RequestQueued, ID: id(0)},             // its retry waits
		{Kind: wire.RequestDequeued, ID: id(0)},           // and ends unsent
		{Kind: wire.AttemptSent, ID: id(1), Delay: 0},     // a retry at once
		{Kind: wire.RequestDequeued, ID: id(1), Delay: 9}, // never was queued
	}
	for _, e := range events {
		c.Observe(e)
	}
	if n := c.Summary().Waits[0].Count; n != 4 {
		t.Errorf("%d waits, want 4", n)
	}
}

func TestPlacesAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, twin := newTable[place](), map[uint64]place{}
		for range rapid.IntRange(0, 500).Draw(t, "steps") {
			key := rapid.Uint64Range(0, 150).Draw(t, "key") << 28 // many share a home
			_, has := twin[key]
			switch rapid.IntRange(0, 2).Draw(t, "do") {
			case 0:
				v := place{index: rapid.Int32().Draw(t, "index")}
				if p.put(key, v) == (has || key == 0) {
					t.Fatalf("put %d: has it: %v", key, has)
				}
				if !has && key != 0 {
					twin[key] = v
				}
			case 1:
				v, ok := p.take(key)
				if ok != has || v != twin[key] {
					t.Fatalf("take %d: %v, %v, want %v, %v", key, v, ok, twin[key], has)
				}
				delete(twin, key)
			case 2:
				if has {
					p.at(key).index = 7
					twin[key] = place{index: 7, node: twin[key].node, class: twin[key].class}
				}
			}
			if p.n != len(twin) {
				t.Fatalf("%d keys, want %d", p.n, len(twin))
			}
		}
	})
}
