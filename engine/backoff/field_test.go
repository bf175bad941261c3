package backoff

import (
	"math"
	"testing"
	"time"
)

// retries is the numbers at which formulas in the field have broken.
func retries() []int {
	ns := []int{1023, 1024, 1025, 1e6, math.MaxInt}
	for n := range 71 {
		ns = append(ns, n)
	}
	return ns
}

// everyConfig calls f for all curves, jitters and rules with the bases and caps
// that broke formulas in the field.
func everyConfig(f func(c Config)) {
	for curve := range Curve(len(curveNames)) {
		for jitter := range Jitter(len(jitterNames)) {
			for _, base := range []time.Duration{0, 1, time.Second, 24 * time.Hour} {
				for _, limit := range []time.Duration{0, 1, 30 * time.Second, math.MaxInt64} {
					for rule := range CapRule(len(capRuleNames)) {
						f(Config{Curve: curve, Jitter: jitter, Base: base, Cap: limit, CapRule: rule,
							Multiplier: 2000, Amount: 500, Width: time.Second})
					}
				}
			}
		}
	}
}

// variants are the other fields at their ends, with base and cap left to be
// set.
func variants() []Config {
	return []Config{
		{Multiplier: 1000, Amount: 0, Width: 0},
		{Multiplier: 1001, Amount: 1000, Width: 1, First: FirstNext, Floor: time.Second},
		{Multiplier: 10_000, Amount: 29_000, Width: math.MaxInt64, First: FirstZero, Offset: -time.Second},
		{Multiplier: math.MaxInt64, Amount: math.MaxInt64, Width: math.MaxInt64, Offset: math.MaxInt64,
			First: FirstNow, Floor: math.MaxInt64},
		{Multiplier: math.MinInt64, Amount: math.MinInt64, Width: math.MinInt64, Offset: math.MinInt64,
			Floor: math.MinInt64},
	}
}

// draws is U of 0, 0.5, 0.9999 and the last below 1.
var draws = []uint64{0, 1 << 63, math.MaxUint64 / 10_000 * 9_999, math.MaxUint64}

// N-E1: 1 s doubled 34 times turned negative, and the decorrelated formula
// infinite at about 1025.
func TestNE1NoOverflowAtHighRetryNumbers(t *testing.T) {
	everyConfig(func(c Config) {
		for _, n := range retries() {
			checkDelays(t, c, n)
		}
	})
}

func TestNE1NoOverflowAtTheEndsOfEachField(t *testing.T) {
	for _, v := range variants() {
		everyConfig(func(c Config) {
			c.Multiplier, c.Amount, c.Width = v.Multiplier, v.Amount, v.Width
			c.First, c.Offset, c.Floor = v.First, v.Offset, v.Floor
			for _, n := range []int{math.MinInt, 1, 2, 34, 64, 1025, math.MaxInt} {
				checkDelays(t, c, n)
			}
		})
	}
}

func checkDelays(t *testing.T, c Config, n int) {
	t.Helper()
	for _, u := range draws {
		for _, carry := range []time.Duration{math.MinInt64, 0, c.Base, c.limit()} {
			w := c.Delay(n, carry, u)
			if w.Delay < 0 || w.Carry < 0 || w.Delay > w.Ceiling {
				t.Fatalf("%+v retry %d after %d: %+v", c, n, carry, w)
			}
			if c.CapRule != CapOvershoot && w.Ceiling > c.limit() {
				t.Fatalf("%+v retry %d after %d: %+v is above the cap", c, n, carry, w)
			}
		}
	}
}

func TestWithoutBaseNobodyWaits(t *testing.T) {
	everyConfig(func(c Config) {
		c.Width = 0
		for _, n := range retries() {
			if w := c.Delay(n, 0, math.MaxUint64); c.Base == 0 && w != (Wait{}) {
				t.Fatalf("%+v retry %d: %+v without a base", c, n, w)
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

// The same for every jitter: the ceiling reaches the cap, but for a nanosecond
// or two of rounding, under every rule that does not go beyond.
func TestNE1EveryJitterEndsAtTheCap(t *testing.T) {
	for jitter := range Jitter(len(jitterNames)) {
		for _, rule := range []CapRule{CapBefore, CapAfter, CapInstead} {
			for _, limit := range []time.Duration{30 * time.Second, math.MaxInt64} {
				c := Exponential.config(time.Second, limit)
				c.Jitter, c.CapRule, c.Amount, c.Width = jitter, rule, 250, time.Second
				w := c.Delay(2000, limit, math.MaxUint64)
				if w.Ceiling < limit-2 || w.Delay < limit/10*9 {
					t.Errorf("%v, cap %v %v: %+v", jitter, rule, limit, w)
				}
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
	for _, rule := range []CapRule{CapBefore, CapAfter, CapInstead} {
		for jitter := range Jitter(len(jitterNames)) {
			for curve := range Curve(len(curveNames)) {
				c := curve.config(300*ms, time.Second)
				c.Jitter, c.CapRule, c.Amount, c.Width = jitter, rule, 500, time.Second
				if most := mostOf(c, 10_000); most > c.Cap {
					t.Errorf("%v %v, cap %v: %v", curve, jitter, rule, most)
				}
			}
		}
	}
}

// mostOf is the longest of the first six delays of so many clients.
func mostOf(c Config, clients int) time.Duration {
	most := time.Duration(0)
	for i := range clients {
		var w Wait
		for n := 1; n <= 6; n++ {
			w = c.Delay(n, w.Carry, draw(n, i))
			most = max(most, w.Delay)
		}
	}
	return most
}

// N-E3 as the libraries have it, who must ask for it by name.
func TestNE3OvershootIsBounded(t *testing.T) {
	for _, tc := range []struct {
		jitter Jitter
		most   time.Duration
	}{
		{None, 1000 * ms}, {Full, 1000 * ms}, {Equal, 1000 * ms}, {Minus, 1000 * ms},
		{Additive, 1200 * ms}, {Proportional, 1500 * ms}, {Spread, 1500 * ms},
		{Decorrelated, 1000 * ms}, {V2, 1000 * ms},
	} {
		c := Exponential.config(300*ms, time.Second)
		c.Jitter, c.CapRule, c.Amount, c.Width = tc.jitter, CapOvershoot, 500, 200*ms
		most := mostOf(c, 10_000)
		if most > tc.most || most < tc.most-ms {
			t.Errorf("%v: longest delay %v, want just below %v", tc.jitter, most, tc.most)
		}
	}
}

// N-E4: late retries must not all sleep exactly the cap. None and Decorrelated
// do by definition.
func TestNE4NoCollapseOntoTheCap(t *testing.T) {
	for _, jitter := range []Jitter{Full, Equal, Additive, Proportional, Spread, Minus, V2} {
		c := Exponential.config(time.Second, 30*time.Second)
		c.Jitter, c.Amount, c.Width = jitter, 250, time.Second
		for n, share := range capShares(c, 15) {
			if share >= 0.001 {
				t.Errorf("%v retry %d: a share of %.4f at the cap", jitter, n, share)
			}
		}
	}
}

// capShares is which share of 40 000 clients waits for exactly the cap, for
// retries 1 to most; index 0 is not used.
func capShares(c Config, most int) []float64 {
	const clients = 40_000
	shares := make([]float64, most+1)
	for i := range clients {
		var w Wait
		for n := 1; n <= most; n++ {
			w = c.Delay(n, w.Carry, draw(n, i))
			if w.Delay == c.Cap {
				shares[n] += 1.0 / clients
			}
		}
	}
	return shares
}

// What the other rules lead to, from their formulas: 1 s doubled is 16 s at
// retry 5, 32 s at retry 6, and 64 s at retry 7.
func TestNE4OtherRulesCollapse(t *testing.T) {
	for _, tc := range []struct {
		rule   CapRule
		jitter Jitter
		want   [3]float64 // at retries 5, 6 and 7
	}{
		{CapAfter, Full, [3]float64{0, 2 / 32.0, 34 / 64.0}},
		{CapAfter, Spread, [3]float64{0, 10 / 16.0, 1}},
		{CapInstead, Full, [3]float64{0, 1, 1}},
		{CapOvershoot, Full, [3]float64{0, 0, 0}},
	} {
		c := Exponential.config(time.Second, 30*time.Second)
		c.Jitter, c.CapRule, c.Amount = tc.jitter, tc.rule, 250
		shares := capShares(c, 7)
		for i, want := range tc.want {
			if got := shares[5+i]; math.Abs(got-want) > 0.01 {
				t.Errorf("%v, cap %v, retry %d: %.3f at the cap, want %.3f", tc.jitter, tc.rule,
					5+i, got, want)
			}
		}
	}
}
