package backoff

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"herdscope/engine/rng"
)

const ms = time.Millisecond

// draw is the i-th draw of a stream, for tests.
func draw(stream, i int) uint64 { return rng.At(7, rng.Backoff, uint64(stream), uint64(i), 0) }

func (c Curve) config(base, limit time.Duration) Config {
	return Config{Curve: c, Base: base, Cap: limit, Multiplier: 2000}
}

func TestCeilingOfEachCurve(t *testing.T) {
	for _, tc := range []struct {
		c    Config
		want []time.Duration // in milliseconds, for retries 1, 2, ...
	}{
		{Exponential.config(100*ms, 1000*ms), []time.Duration{100, 200, 400, 800, 1000, 1000}},
		{Fixed.config(100*ms, 1000*ms), []time.Duration{100, 100, 100}},
		{Linear.config(100*ms, 350*ms), []time.Duration{100, 200, 300, 350}},
		{Quadratic.config(100*ms, 1000*ms), []time.Duration{100, 400, 900, 1000}},
		{Config{Base: 1000 * ms, Multiplier: 1100}, []time.Duration{1000, 1100, 1210, 1331}},
		{Config{Base: 512 * ms, Multiplier: 1500}, []time.Duration{512, 768, 1152, 1728, 2592}},
		{Config{Base: 800 * ms, Multiplier: 500}, []time.Duration{800, 400, 200, 100, 50}},
		{Config{Base: 800 * ms, Multiplier: 0}, []time.Duration{800, 0, 0}},
		{Config{Base: 800 * ms, Multiplier: -5}, []time.Duration{800, 0, 0}},
		{Config{Base: -5, Cap: time.Second, Multiplier: 2000}, []time.Duration{0, 0}},
		{Config{Base: 5, Cap: -5, Multiplier: 2000}, []time.Duration{0, 0}},
	} {
		for i, want := range tc.want {
			if got := tc.c.Ceiling(i + 1); got != want*ms {
				t.Errorf("%+v retry %d: %v, want %v", tc.c, i+1, got, want*ms)
			}
		}
		if first := tc.c.Ceiling(1); tc.c.Ceiling(0) != first || tc.c.Ceiling(math.MinInt) != first {
			t.Errorf("%+v: n below 1 must count as 1", tc.c)
		}
	}
}

// retries is the numbers at which formulas in the field have broken.
func retries() []int {
	ns := []int{1023, 1024, 1025, 1e6, math.MaxInt}
	for n := range 71 {
		ns = append(ns, n)
	}
	return ns
}

// everyConfig calls f for all curves and jitters with the bases and caps that
// broke formulas in the field.
func everyConfig(f func(c Config)) {
	for curve := range Curve(len(curveNames)) {
		for jitter := range Jitter(len(jitterNames)) {
			for _, base := range []time.Duration{0, 1, time.Second, 24 * time.Hour} {
				for _, limit := range []time.Duration{0, 1, 30 * time.Second, math.MaxInt64} {
					for _, multiplier := range []int64{1000, 1001, 2000, 10_000, math.MaxInt64} {
						f(Config{curve, jitter, base, limit, multiplier})
					}
				}
			}
		}
	}
}

// N-E1: 1 s doubled 34 times turned negative, and the decorrelated formula
// infinite at about 1025.
func TestNE1NoOverflowAtHighRetryNumbers(t *testing.T) {
	share := func(u float64) uint64 { return uint64(u * (1 << 63) * 2) }
	everyConfig(func(c Config) {
		for _, n := range retries() {
			for _, u := range []uint64{0, share(0.5), share(0.9999), math.MaxUint64} {
				for _, previous := range []time.Duration{0, c.Base, c.limit()} {
					delay, ceiling := c.Delay(n, previous, u)
					if delay < 0 || delay > ceiling || ceiling > c.limit() {
						t.Fatalf("%+v retry %d after %v: %v under %v", c, n, previous, delay, ceiling)
					}
				}
			}
			if c.Base == 0 && c.Ceiling(n) != 0 {
				t.Fatalf("%+v retry %d: ceiling %v without a base", c, n, c.Ceiling(n))
			}
		}
	})
}

// N-E1, the other half: a formula that grows must end at the cap, not at 0.
func TestNE1GrowingCurvesEndAtTheCap(t *testing.T) {
	for _, limit := range []time.Duration{1, 30 * time.Second, math.MaxInt64} {
		for _, curve := range []Curve{Exponential, Linear, Quadratic} {
			if got := curve.config(1, limit).Ceiling(math.MaxInt); got != limit {
				t.Errorf("%v: ceiling %d, want %d", curve, got, limit)
			}
		}
		for _, multiplier := range []int64{1001, 1500, 1e6, math.MaxInt64} {
			c := Config{Base: 1, Cap: limit, Multiplier: multiplier}
			if got := c.Ceiling(math.MaxInt); got != limit {
				t.Errorf("multiplier %d: ceiling %d, want %d", multiplier, got, limit)
			}
		}
	}
}

func TestShrinkingCurveEndsAtZero(t *testing.T) {
	for _, multiplier := range []int64{0, 1, 500, 999} {
		c := Config{Base: math.MaxInt64, Multiplier: multiplier}
		if got := c.Ceiling(math.MaxInt); got != 0 {
			t.Errorf("multiplier %d: ceiling %d", multiplier, got)
		}
	}
}

// N-E3: capped first, then multiplied by up to 1.5.
func TestNE3JitterStaysBelowTheCap(t *testing.T) {
	for jitter := range Jitter(len(jitterNames)) {
		for curve := range Curve(len(curveNames)) {
			c := curve.config(300*ms, time.Second)
			c.Jitter = jitter
			for i := range 10_000 {
				previous := c.Base
				for n := 1; n <= 6; n++ {
					previous, _ = c.Delay(n, previous, draw(n, i))
					if previous > c.Cap {
						t.Fatalf("%v %v retry %d: %v", curve, jitter, n, previous)
					}
				}
			}
		}
	}
}

// N-E4: late retries must not all sleep exactly the cap.
func TestNE4NoCollapseOntoTheCap(t *testing.T) {
	for _, jitter := range []Jitter{Full, Equal} {
		c := Exponential.config(time.Second, 30*time.Second)
		c.Jitter = jitter
		for n := 5; n <= 15; n++ {
			at := 0
			for i := range 40_000 {
				if delay, _ := c.Delay(n, 0, draw(n, i)); delay == c.Cap {
					at++
				}
			}
			if at >= 40 {
				t.Errorf("%v retry %d: %d of 40 000 at the cap", jitter, n, at)
			}
		}
	}
}

// The curve against exact arithmetic: right to the nanosecond up to some hours,
// and to 15 digits beyond.
func TestExponentialCurveIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.Int64Range(0, int64(time.Hour)).Draw(t, "base")
		multiplier := rapid.Int64Range(0, 20_000).Draw(t, "multiplier")
		n := rapid.IntRange(1, 300).Draw(t, "n")
		got := Config{Base: time.Duration(base), Multiplier: multiplier}.Ceiling(n)
		want := exactPower(base, multiplier, n)
		slack := max(1, want/1e15)
		if diff := int64(got) - want; diff > slack || diff < -slack {
			t.Fatalf("%d ns * %d/1000 ^ %d = %d, want %d", base, multiplier, n-1, got, want)
		}
	})
}

func exactPower(base, multiplier int64, n int) int64 {
	power := big.NewRat(base, 1)
	for range n - 1 {
		power.Mul(power, big.NewRat(multiplier, 1000))
	}
	power.Add(power, big.NewRat(1, 2))
	whole := new(big.Int).Quo(power.Num(), power.Denom())
	if !whole.IsInt64() {
		return math.MaxInt64
	}
	return whole.Int64()
}

func TestCeilingNeverFallsWhereTheCurveGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Config{
			Curve:      Curve(rapid.IntRange(0, 3).Draw(t, "curve")),
			Base:       time.Duration(rapid.Int64Min(0).Draw(t, "base")),
			Cap:        time.Duration(rapid.Int64Min(0).Draw(t, "cap")),
			Multiplier: rapid.Int64Min(1000).Draw(t, "multiplier"),
		}
		n := rapid.IntRange(1, math.MaxInt-1).Draw(t, "n")
		if a, b := c.Ceiling(n), c.Ceiling(n+1); a > b {
			t.Fatalf("ceiling falls from %d to %d", a, b)
		}
	})
}

// Bounds of the support: the least draw gives the least delay, the greatest
// draw the greatest.
func TestSupportOfEachJitter(t *testing.T) {
	for _, tc := range []struct {
		jitter         Jitter
		n              int
		previous       time.Duration
		least, most    time.Duration
		ceiling, limit time.Duration
	}{
		{None, 3, 0, 400 * ms, 400 * ms, 400 * ms, time.Second},
		{Full, 3, 0, 0, 400*ms - 1, 400 * ms, time.Second},
		{Full, 9, 0, 0, time.Second - 1, time.Second, time.Second},
		{Equal, 3, 0, 200 * ms, 400*ms - 1, 400 * ms, time.Second},
		{Equal, 9, 0, 500 * ms, time.Second - 1, time.Second, time.Second},
		{Decorrelated, 1, 0, 100 * ms, 300*ms - 1, 300 * ms, time.Second},
		{Decorrelated, 1, 700 * ms, 100 * ms, 300*ms - 1, 300 * ms, time.Second},
		{Decorrelated, 2, 300 * ms, 100 * ms, 900*ms - 1, 900 * ms, time.Second},
		{Decorrelated, 3, 900 * ms, 100 * ms, time.Second, time.Second, time.Second},
		{Decorrelated, 3, 20 * ms, 100 * ms, 300*ms - 1, 300 * ms, time.Second},
		{Decorrelated, 3, 20 * ms, 50 * ms, 50 * ms, 50 * ms, 50 * ms},
	} {
		c := Exponential.config(100*ms, tc.limit)
		c.Jitter = tc.jitter
		least, ceiling := c.Delay(tc.n, tc.previous, 0)
		most, _ := c.Delay(tc.n, tc.previous, math.MaxUint64)
		if least != tc.least || most != tc.most || ceiling != tc.ceiling {
			t.Errorf("%v retry %d after %v: [%v, %v] under %v, want [%v, %v] under %v", tc.jitter,
				tc.n, tc.previous, least, most, ceiling, tc.least, tc.most, tc.ceiling)
		}
	}
}

// ksSixAtOnePercent is the critical value of the Kolmogorov-Smirnov statistic
// for six tests that together fail by chance once in a hundred times.
const ksSixAtOnePercent = 1.883

func TestFullJitterIsUniform(t *testing.T) {
	const n = 20_000
	c := Exponential.config(100*ms, time.Second)
	c.Jitter = Full
	for retry := 1; retry <= 6; retry++ {
		xs := make([]float64, n)
		for i := range xs {
			delay, ceiling := c.Delay(retry, 0, draw(retry, i))
			xs[i] = float64(delay) / float64(ceiling)
		}
		slices.Sort(xs)
		worst := 0.0
		for i, x := range xs {
			worst = max(worst, x-float64(i)/n, float64(i+1)/n-x)
		}
		if bound := ksSixAtOnePercent / math.Sqrt(n); worst > bound {
			t.Errorf("retry %d: distance from uniform %.4f, bound %.4f", retry, worst, bound)
		}
	}
}

// Means of the bounded jitters: c/2 and 3c/4.
func TestMeanOfFullAndEqual(t *testing.T) {
	for jitter, share := range map[Jitter]float64{Full: 0.5, Equal: 0.75} {
		c := Exponential.config(5*ms, 2*time.Second)
		c.Jitter = jitter
		for n := 1; n <= 12; n++ {
			sum := 0.0
			for i := range 20_000 {
				delay, _ := c.Delay(n, 0, draw(n, i))
				sum += float64(delay)
			}
			near(t, fmt.Sprint(jitter, n), sum/20_000, share*float64(c.Ceiling(n)), 0.02)
		}
	}
}

// Brooker 2015 with base 5 ms and cap 2 s: the mean after the first retries,
// from the closed form.
func TestMeanOfDecorrelated(t *testing.T) {
	means := map[int]float64{1: 10.0, 2: 17.5, 3: 28.8, 5: 71.0, 7: 162.8, 9: 304.8}
	const clients = 40_000
	c := Config{Jitter: Decorrelated, Base: 5 * ms, Cap: 2 * time.Second}
	var sums [10]float64
	for i := range clients {
		previous := time.Duration(0)
		for n := 1; n <= 9; n++ {
			previous, _ = c.Delay(n, previous, draw(n, i))
			sums[n] += previous.Seconds() * 1000
		}
	}
	for n, want := range means {
		near(t, fmt.Sprintf("mean after retry %d", n), sums[n]/clients, want, 0.02)
	}
}

// The same in the long run: mean, deviation, and the share at the cap, which
// AWS's order of cap and jitter brings with it.
func TestDecorrelatedInTheLongRun(t *testing.T) {
	c := Config{Jitter: Decorrelated, Base: 5 * ms, Cap: 2 * time.Second}
	const warm, n = 100, 400_000
	var sum, squares, capped float64
	previous := time.Duration(0)
	for i := range warm + n {
		previous, _ = c.Delay(i+1, previous, draw(0, i))
		if i < warm {
			continue
		}
		x := previous.Seconds() * 1000
		sum, squares = sum+x, squares+x*x
		if previous == c.Cap {
			capped++
		}
	}
	mean := sum / n
	near(t, "mean", mean, 914.6, 0.02)
	near(t, "deviation", math.Sqrt(squares/n-mean*mean), 806.7, 0.02)
	near(t, "share at the cap", capped/n, 0.269, 0.02)
}

func near(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if math.Abs(got-want) > share*want {
		t.Errorf("%s = %.4g, want %.4g within %g %%", what, got, want, share*100)
	}
}

func TestNames(t *testing.T) {
	for i, name := range CurveNames() {
		if got := Curve(i).String(); got != name {
			t.Errorf("curve %d: %q, want %q", i, got, name)
		}
	}
	for i, name := range JitterNames() {
		if got := Jitter(i).String(); got != name {
			t.Errorf("jitter %d: %q, want %q", i, got, name)
		}
	}
	if Quadratic.String() != "quadratic" || Decorrelated.String() != "decorrelated" {
		t.Error("names are not in the order of the values")
	}
	if got := Jitter(99).String(); got != "unknown(99)" {
		t.Errorf("unknown jitter is called %q", got)
	}
}

func FuzzDelay(f *testing.F) {
	f.Add(uint8(0), uint8(3), int64(5e6), int64(2e9), int64(2000), 1025, int64(1e9), uint64(1)<<63)
	f.Fuzz(func(t *testing.T, curve, jitter uint8, base, limit, multiplier int64,
		n int, previous int64, u uint64) {
		c := Config{Curve(curve), Jitter(jitter), time.Duration(base), time.Duration(limit), multiplier}
		delay, ceiling := c.Delay(n, time.Duration(previous), u)
		if delay < 0 || delay > ceiling || ceiling > c.limit() {
			t.Errorf("%+v: %d under %d", c, delay, ceiling)
		}
	})
}

func TestDoesNotAllocate(t *testing.T) {
	c := Exponential.config(100*ms, time.Second)
	if n := testing.AllocsPerRun(100, func() { c.Delay(9, ms, 7) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

var sink time.Duration

func BenchmarkDelay(b *testing.B) {
	c := Exponential.config(100*ms, 10*time.Second)
	c.Jitter = Full
	b.ReportAllocs()
	for i := range b.N {
		sink, _ = c.Delay(i&15, 0, uint64(i)*0x9e3779b97f4a7c15)
	}
}
