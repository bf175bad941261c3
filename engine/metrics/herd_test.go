package metrics

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herdscope/engine/clock"
	"herdscope/engine/rng"
	"herdscope/engine/wire"
)

// uniform is the i-th number of a random stream, in [0, 1).
func uniform(seed, i uint64) float64 {
	return float64(rng.At(seed, rng.ArrivalGap, i, 0, 0)>>11) / (1 << 53)
}

// poisson is the arrivals of a random stream of a rate per second.
func poisson(seed uint64, rate float64, length time.Duration) (times []clock.Instant) {
	now := 0.0
	for i := uint64(0); ; i++ {
		now -= math.Log(1-uniform(seed, i)) / rate
		if t := at(time.Duration(now * 1e9)); t < at(length) {
			times = append(times, t)
			continue
		}
		return times
	}
}

// scattered is n arrivals anywhere in a time.
func scattered(seed uint64, n int, length time.Duration) (times []clock.Instant) {
	for i := range n {
		times = append(times, at(time.Duration(uniform(seed, uint64(i))*float64(length))))
	}
	slices.Sort(times)
	return times
}

// every is arrivals at equal distances, n at each of them.
func every(gap time.Duration, n int, length time.Duration) (times []clock.Instant) {
	for t := clock.Instant(0); t < at(length); t = t.Add(gap) {
		for range n {
			times = append(times, t)
		}
	}
	return times
}

// arrive observes first tries at the given times, refused at once, and lets the
// run end.
func arrive(t *testing.T, c *Collector, times []clock.Instant, length time.Duration) Herd {
	t.Helper()
	for i, now := range times {
		e := wire.Event{Kind: wire.ServerArrived, At: now, ID: wire.AttemptID{Request: wire.RequestID(i + 1), Try: 1}}
		c.Observe(e)
		e.Kind, e.Fault = wire.ServerRejected, wire.NoFault
		c.Observe(e)
	}
	c.Advance(at(length))
	_, sum := mustHold(t, c)
	return sum.Herd
}

var backoffOf = Config{Clients: 1, Base: 1200 * ms, Cap: 10 * time.Second}

// spread is the random spread of a Fano factor: sqrt(2/(bins-1)).
func spread(bins int64) float64 { return math.Sqrt(2 / float64(bins-1)) }

func TestRandomStreamsStayAtTheirFloors(t *testing.T) {
	const length = 1000 * time.Second
	streams := map[string][]clock.Instant{
		"poisson":  poisson(1, 200, length),
		"rare":     poisson(5, 0.1, length),
		"slow":     poisson(2, 5, length),
		"fast":     poisson(3, 2000, length),
		"anywhere": scattered(4, 200_000, length),
	}
	for name, times := range streams {
		t.Run(name, func(t *testing.T) {
			h := arrive(t, New(backoffOf), times, length)
			if h.Arrivals != int64(len(times)) || h.Bins != 10_000 {
				t.Fatalf("%d arrivals in %d bins", h.Arrivals, h.Bins)
			}
			for i, f := range h.Fano {
				if off := math.Abs(f - 1); off > 4*spread(h.Bins/foldings[i]) || !h.Enough[i] {
					t.Errorf("fano at %d bins is %v, enough %v", foldings[i], f, h.Enough[i])
				}
			}
			if h.PeakToMean < 0.7*h.Chance || h.PeakToMean > 1.5*h.Chance {
				t.Errorf("peak/mean is %v, chance %v", h.PeakToMean, h.Chance)
			}
			// Rayleigh: n R^2 exceeds z with probability exp(-z); 12 periods.
			if n := float64(h.Arrivals); n*h.R*h.R > 12 || h.R == 0 {
				t.Errorf("R is %v at %v, floor %v", h.R, h.Period, h.Floor)
			}
			if want := 0.886 / math.Sqrt(float64(h.Arrivals)); math.Abs(h.Floor/want-1) > 0.01 {
				t.Errorf("floor is %v, want %v", h.Floor, want)
			}
		})
	}
}

func TestPeriodicStreamIsBelowPoisson(t *testing.T) {
	const length = 200 * time.Second
	h := arrive(t, New(backoffOf), every(5*ms, 1, length), length)
	if h.PeakToMean != 1 || h.Fano != [3]float64{} || h.R > 1e-6 {
		t.Errorf("herd is %+v", h)
	}
	if h.Enough != [3]bool{true, true, false} {
		t.Errorf("enough is %v of 2000, 200 and 20 bins", h.Enough)
	}
}

func TestSingleBurst(t *testing.T) {
	const n, length = 1000, 100 * time.Second
	burst := make([]clock.Instant, n)
	for i := range burst {
		burst[i] = at(42 * time.Second)
	}
	h := arrive(t, New(backoffOf), burst, length)
	if h.PeakToMean != 1000 { // C/w: it can be no more
		t.Errorf("peak/mean is %v", h.PeakToMean)
	}
	if want := n * (1 - 1.0/1000); math.Abs(h.Fano[0]/want-1) > 0.01 {
		t.Errorf("fano is %v, want %v", h.Fano[0], want)
	}
	if math.Abs(h.R-1) > 1e-6 {
		t.Errorf("R is %v", h.R)
	}
}

func TestWavesOfABackoffAreFound(t *testing.T) {
	const length = 120 * time.Second
	for _, period := range []time.Duration{1200 * ms, 4800 * ms, time.Second} {
		h := arrive(t, New(backoffOf), every(period, 100, length), length)
		if h.Period != period || math.Abs(h.R-1) > 1e-6 {
			t.Errorf("waves every %v: R is %v at %v", period, h.R, h.Period)
		}
	}
}

// TestHarmonicsOfAWaveAreNotTheWave: what comes every second among other
// traffic is as much in step at 200 ms, but for chance.
func TestHarmonicsOfAWaveAreNotTheWave(t *testing.T) {
	const length = 120 * time.Second
	for seed := range uint64(10) {
		times := append(poisson(20+seed, 150, length), every(time.Second, 150, length)...)
		slices.Sort(times)
		h := arrive(t, New(Config{Clients: 1, Base: 200 * ms, Cap: time.Second}), times, length)
		if h.Period != time.Second || math.Abs(h.R-0.5) > 0.03 {
			t.Errorf("seed %d: R is %v at %v", seed, h.R, h.Period)
		}
	}
}

// TestShortRunsHaveNoPeriod holds because a steady stream over a few periods
// and a half would look synchronous.
func TestShortRunsHaveNoPeriod(t *testing.T) {
	h := arrive(t, New(backoffOf), every(5*ms, 1, 1900*ms), 1900*ms)
	if h.Period != 0 || h.R != 0 || h.Floor != 0 {
		t.Errorf("R is %v at %v, floor %v", h.R, h.Period, h.Floor)
	}
	h = arrive(t, New(backoffOf), every(5*ms, 1, 5300*ms), 5300*ms)
	if h.Period == 0 || h.R > 0.01 {
		t.Errorf("R is %v at %v", h.R, h.Period)
	}
}

// exactHerd computes Herd.Fano and R at a period from a list of arrivals.
func exactHerd(times []clock.Instant, length, period time.Duration) (fano [3]float64, r float64) {
	for i, folding := range foldings {
		width := time.Duration(folding) * binWidth
		counts := make([]float64, length/width)
		mean := 0.0
		for _, t := range times {
			if b := t.Bin(width); b < int64(len(counts)) {
				counts[b]++
				mean += 1 / float64(len(counts))
			}
		}
		for _, n := range counts {
			fano[i] += (n - mean) * (n - mean) / float64(len(counts)-1) / mean
		}
	}
	var re, im float64
	for _, t := range times {
		sin, cos := math.Sincos(2 * math.Pi * float64(t) / float64(period))
		re, im = re+cos, im+sin
	}
	return fano, math.Hypot(re, im) / float64(len(times))
}

func TestStreamingAgreesWithExact(t *testing.T) {
	const length = 300*time.Second + 70*ms
	times := poisson(5, 50, length)
	for k := range 100 { // a herd that melts away
		for i := range 200 - 2*k {
			shift := time.Duration(uniform(6, uint64(1000*k+i)) * float64(k) * 20 * float64(ms))
			times = append(times, at(time.Duration(k)*2400*ms+shift))
		}
	}
	slices.Sort(times)
	times = times[:sortedBefore(times, at(length))]
	h := arrive(t, New(backoffOf), times, length)
	fano, r := exactHerd(times, length, h.Period)
	for i := range fano {
		if math.Abs(h.Fano[i]/fano[i]-1) > 1e-9 {
			t.Errorf("fano at %d bins is %v, exactly %v", foldings[i], h.Fano[i], fano[i])
		}
	}
	if math.Abs(h.R-r) > 0.01 || h.R < 0.2 {
		t.Errorf("R at %v is %v, exactly %v", h.Period, h.R, r)
	}
}

func sortedBefore(times []clock.Instant, end clock.Instant) int {
	n, _ := slices.BinarySearch(times, end)
	return n
}

// TestOrderWithinASecondDoesNotMatter is what happens in live runs, where the
// events come from two goroutines.
func TestOrderWithinASecondDoesNotMatter(t *testing.T) {
	const length = 60 * time.Second
	times := poisson(7, 300, length)
	want := arrive(t, New(backoffOf), times, length)
	mixed := slices.Clone(times)
	slices.SortStableFunc(mixed, func(a, b clock.Instant) int {
		return int(a.Bin(900*ms) - b.Bin(900*ms)) // blocks of 900 ms
	})
	for i := 0; i+1 < len(mixed); i += 2 {
		if mixed[i].Bin(900*ms) == mixed[i+1].Bin(900*ms) {
			mixed[i], mixed[i+1] = mixed[i+1], mixed[i]
		}
	}
	reverseBlocks(mixed)
	got := arrive(t, New(backoffOf), mixed, length)
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Error(diff)
	}
}

// reverseBlocks reverses the order of arrivals within each 900 ms.
func reverseBlocks(times []clock.Instant) {
	for from := 0; from < len(times); {
		end := from
		for end < len(times) && times[end].Bin(900*ms) == times[from].Bin(900*ms) {
			end++
		}
		slices.Reverse(times[from:end])
		from = end
	}
}

// TestLateArrivalsAreNotLost: later than bins stay open, they still count.
func TestLateArrivalsAreNotLost(t *testing.T) {
	c := New(backoffOf)
	c.Advance(at(10 * time.Second))
	h := arrive(t, c, []clock.Instant{at(0), at(9500 * ms), wire.Held}, 20*time.Second)
	if h.Arrivals != 3 {
		t.Errorf("%d arrivals", h.Arrivals)
	}
}

func TestWarmArrivalsAreInNoBin(t *testing.T) {
	c := New(Config{Clients: 1})
	for i := range 3 { // held before the run, then a retry, then a new request
		id := wire.AttemptID{Request: wire.RequestID(1 + i/2), Try: uint16(1 + i%2)}
		e := wire.Event{At: at(2 * time.Second), Since: at(2 * time.Second), ID: id, Warm: i < 2}
		for _, kind := range []wire.EventKind{wire.RequestBegan, wire.AttemptSent, wire.ServerArrived} {
			if e.Kind = kind; kind != wire.RequestBegan || id.Try == 1 {
				c.Observe(e)
			}
		}
		e.Kind, e.Outcome, e.Delay = wire.RequestDone, wire.Succeeded, time.Second
		if i != 0 {
			c.Observe(e)
		}
	}
	c.Advance(at(5 * time.Second))
	s, sum := mustHold(t, c)
	if s.Attempts != 3 || s.Server.Arrivals != 3 || sum.Herd.Arrivals != 2 {
		t.Errorf("%d attempts, %d arrivals, %d in bins", s.Attempts, s.Server.Arrivals, sum.Herd.Arrivals)
	}
	if s.Requests != 2 || s.Now.Offered != 0.2 || s.Now.Sent != 0.4 || s.Now.Goodput != 0.4 {
		t.Errorf("%d requests, now %+v", s.Requests, s.Now)
	}
	if sum.Latency[0].Count != 1 {
		t.Errorf("%d latencies", sum.Latency[0].Count)
	}
}

// returns observes returns after a Retry-After at times of the server's clock.
func returns(c Config, n int, second func(i int) time.Duration) Herd {
	m := New(c)
	for wave := range 20 {
		times := make([]time.Duration, n)
		for i := range times {
			times[i] = time.Duration(wave+2)*time.Second + second(wave*n+i) - c.EpochFraction
		}
		slices.Sort(times)
		for _, d := range times {
			m.Observe(wire.Event{Kind: wire.ServerReturned, At: at(d)})
		}
	}
	return m.Summary().Herd
}

func TestHintedWaves(t *testing.T) {
	justAfter := func(i int) time.Duration { return time.Duration(uniform(8, uint64(i)) * float64(20*ms)) }
	around := func(i int) time.Duration { return justAfter(i) - 10*ms }
	anywhere := func(i int) time.Duration { return time.Duration(uniform(9, uint64(i)) * float64(time.Second)) }
	for _, tc := range []struct {
		name        string
		n           int
		fraction    time.Duration
		when        func(int) time.Duration
		least, most float64
		hinted      int64
	}{
		{"date", 100, 0, justAfter, 1, 1, 2000},
		{"date, run begins within a second", 100, 437 * ms, justAfter, 1, 1, 2000},
		{"date, some early", 100, 250 * ms, around, 0.45, 0.65, 2000},
		{"seconds", 100, 0, anywhere, 0.1, 0.2, 2000},
		{"seconds, few", 40, 0, anywhere, 0.1, 0.25, 800},
		{"too few for a wave", 20, 0, justAfter, 0, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := returns(Config{EpochFraction: tc.fraction}, tc.n, tc.when)
			if h.HintedWaveShare < tc.least || h.HintedWaveShare > tc.most {
				t.Errorf("share is %v, want %v to %v", h.HintedWaveShare, tc.least, tc.most)
			}
			// Of a stream without a break the first and last waves are cut.
			if h.Hinted < tc.hinted*9/10 || h.Hinted > tc.hinted {
				t.Errorf("%d came in waves, want %d", h.Hinted, tc.hinted)
			}
		})
	}
}
