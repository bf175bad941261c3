package backoff

import (
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
		{Config{Base: 100 * ms, Multiplier: 2000, First: FirstNext}, []time.Duration{200, 400, 800}},
		{Config{Base: 100 * ms, Multiplier: 2000, First: FirstZero}, []time.Duration{0, 100, 200}},
		{Config{Base: 100 * ms, Multiplier: 2000, First: FirstNow}, []time.Duration{0, 200, 400}},
		{Config{Base: 100 * ms, Multiplier: 2000, Offset: -50 * ms}, []time.Duration{50, 150, 350}},
		{Config{Base: 100 * ms, Multiplier: 2000, Offset: -150 * ms}, []time.Duration{0, 50, 250}},
		{Config{Base: 100 * ms, Curve: Quadratic, First: FirstZero, Offset: 100 * ms, Cap: 600 * ms},
			[]time.Duration{100, 200, 500, 600}},
		{Config{Base: 100 * ms, Curve: Linear, Cap: 300 * ms, Floor: 150 * ms},
			[]time.Duration{150, 200, 300, 300}},
		{Config{Base: 100 * ms, Curve: Linear, Cap: 300 * ms, Floor: 400 * ms},
			[]time.Duration{300, 300}},
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

func TestNames(t *testing.T) {
	check := func(names []string, of func(i int) string) {
		for i, name := range names {
			if got := of(i); got != name {
				t.Errorf("%d of %v is called %q", i, names, got)
			}
		}
		if got := of(99); got != "unknown(99)" {
			t.Errorf("one more than %v is called %q", names, got)
		}
	}
	check(CurveNames(), func(i int) string { return Curve(i).String() })
	check(JitterNames(), func(i int) string { return Jitter(i).String() })
	check(FirstNames(), func(i int) string { return First(i).String() })
	check(CapRuleNames(), func(i int) string { return CapRule(i).String() })
	last := []string{Quadratic.String(), V2.String(), FirstNow.String(), CapInstead.String()}
	if want := []string{"quadratic", "v2", "now", "instead"}; !slices.Equal(last, want) {
		t.Errorf("the last of each are called %q, want %q", last, want)
	}
}

func FuzzDelay(f *testing.F) {
	for jitter := range uint8(len(jitterNames)) {
		f.Add(uint8(0), jitter, uint8(0), jitter%4, int64(5e6), int64(2e9), int64(2000), int64(500),
			int64(-1e6), int64(1e8), int64(1e7), 1025, int64(1e9), uint64(1)<<63)
	}
	f.Fuzz(func(t *testing.T, curve, jitter, first, rule uint8, base, limit, multiplier, amount,
		offset, width, floor int64, n int, carry int64, u uint64) {
		c := Config{
			Curve: Curve(curve), Jitter: Jitter(jitter), Multiplier: multiplier,
			Base: time.Duration(base), Cap: time.Duration(limit),
			First: First(first), CapRule: CapRule(rule), Amount: amount,
			Offset: time.Duration(offset), Width: time.Duration(width), Floor: time.Duration(floor),
		}
		w := c.Delay(n, time.Duration(carry), u)
		if w.Delay < 0 || w.Carry < 0 || w.Delay > w.Ceiling {
			t.Errorf("%+v: %+v", c, w)
		}
		if c.CapRule != CapOvershoot && w.Ceiling > c.limit() {
			t.Errorf("%+v: %+v is above the cap", c, w)
		}
	})
}

func TestDoesNotAllocate(t *testing.T) {
	for jitter := range Jitter(len(jitterNames)) {
		c := Exponential.config(100*ms, time.Second)
		c.Jitter = jitter
		if n := testing.AllocsPerRun(100, func() { c.Delay(9, ms, 7) }); n != 0 {
			t.Errorf("%v: %v allocations", jitter, n)
		}
	}
}

var sink Wait

func BenchmarkDelay(b *testing.B) {
	for _, jitter := range []Jitter{Full, Spread, V2} {
		c := Exponential.config(100*ms, 10*time.Second)
		c.Jitter, c.Amount = jitter, 200
		b.Run(jitter.String(), func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				sink = c.Delay(i&15, 0, uint64(i)*0x9e3779b97f4a7c15)
			}
		})
	}
}
