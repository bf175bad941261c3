package backoff

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

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
		{Additive, 3, 0, 400 * ms, 700*ms - 1, 700 * ms, time.Second},
		{Additive, 9, 0, 700 * ms, time.Second - 1, time.Second, time.Second},
		{Additive, 9, 0, 0, 200*ms - 1, 200 * ms, 200 * ms},
		{Proportional, 3, 0, 400 * ms, 500*ms - 1, 500 * ms, time.Second},
		{Proportional, 9, 0, 800 * ms, time.Second - 1, time.Second, time.Second},
		{Spread, 3, 0, 300 * ms, 500*ms - 1, 500 * ms, time.Second},
		{Spread, 9, 0, 600 * ms, time.Second - 1, time.Second, time.Second},
		{Minus, 3, 0, 300 * ms, 400*ms - 1, 400 * ms, time.Second},
		{Minus, 9, 0, 750 * ms, time.Second - 1, time.Second, time.Second},
	} {
		c := Exponential.config(100*ms, tc.limit)
		c.Jitter = tc.jitter
		c.Width, c.Amount = 300*ms, 250
		least, most := c.Delay(tc.n, tc.previous, 0), c.Delay(tc.n, tc.previous, math.MaxUint64)
		if least.Delay != tc.least || most.Delay != tc.most || least.Ceiling != tc.ceiling {
			t.Errorf("%v retry %d after %v: [%v, %v] under %v, want [%v, %v] under %v", tc.jitter,
				tc.n, tc.previous, least.Delay, most.Delay, least.Ceiling,
				tc.least, tc.most, tc.ceiling)
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
			w := c.Delay(retry, 0, draw(retry, i))
			xs[i] = float64(w.Delay) / float64(w.Ceiling)
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

// Means of the jitters around the curve, as shares of the largest delay.
func TestMeanOfEachJitter(t *testing.T) {
	for _, tc := range []struct {
		jitter Jitter
		share  float64
	}{
		{None, 1}, {Full, 1 / 2.0}, {Equal, 3 / 4.0}, {Proportional, 7 / 8.0}, {Spread, 3 / 4.0},
		{Minus, 5 / 6.0},
	} {
		c := Exponential.config(5*ms, 2*time.Second)
		c.Jitter, c.Amount = tc.jitter, 333
		for n := 1; n <= 12; n++ {
			sum := 0.0
			for i := range 20_000 {
				sum += float64(c.Delay(n, 0, draw(n, i)).Delay)
			}
			near(t, fmt.Sprint(tc.jitter, n), sum/20_000, tc.share*float64(c.Ceiling(n)), 0.02)
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
		var w Wait
		for n := 1; n <= 9; n++ {
			w = c.Delay(n, w.Carry, draw(n, i))
			sums[n] += w.Delay.Seconds() * 1000
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
	var w Wait
	for i := range warm + n {
		w = c.Delay(i+1, w.Carry, draw(0, i))
		if i < warm {
			continue
		}
		x := w.Delay.Seconds() * 1000
		sum, squares = sum+x, squares+x*x
		if w.Delay == c.Cap {
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
