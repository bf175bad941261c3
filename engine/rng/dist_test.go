package rng

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// moments is the mean and the variance of a sample, in units of the mean asked
// for.
func moments(xs []time.Duration, mean time.Duration) (m, variance float64) {
	for _, x := range xs {
		m += float64(x) / float64(mean)
	}
	m /= float64(len(xs))
	for _, x := range xs {
		d := float64(x)/float64(mean) - m
		variance += d * d
	}
	return m, variance / float64(len(xs))
}

func TestNegLog2(t *testing.T) {
	for _, w := range append(sample(Think, 2000), 1, 2, 3, 1<<63, 1<<63-1, math.MaxUint64) {
		got := float64(negLog2(w)) / (1 << logBits)
		within(t, "negLog2", got, 64-math.Log2(float64(w)), 1e-13)
	}
	if negLog2(0) != 64<<logBits || negLog2(1) != 64<<logBits {
		t.Error("0 and 1 must give 64")
	}
}

func TestExp2(t *testing.T) {
	for _, u := range append(sample(Think, 2000), 0, 2, math.MaxUint64) {
		got := float64(exp2(u>>1)) / (1 << 63)
		within(t, "exp2", got, math.Exp2(float64(u>>1)/(1<<63)), 1e-15)
	}
	if exp2(0) != 1<<63 {
		t.Error("2^0 must be exact")
	}
}

func TestNormalIsTheQuantile(t *testing.T) {
	for _, u := range sample(Think, 5000) {
		p := (float64(u) + 0.5) / (1 << 64)
		within(t, "normal", normal(u), math.Sqrt2*math.Erfinv(2*p-1), 1e-9)
		if normal(u) != -normal(^u) {
			t.Errorf("normal(%d) and its mirror image differ", u)
		}
	}
	// Quantiles from tables (Abramowitz and Stegun, table 26.5 and beyond).
	for p, want := range map[float64]float64{
		1e-3: -3.090232306167814, 1e-6: -4.753424308822899, 1e-12: -7.034483825301132,
	} {
		within(t, "tail", normal(uint64(p*(1<<64))), want, 1e-6)
	}
	within(t, "end", normal(0), -9.080155, 1e-6)
}

func TestNormalIsMonotonic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, v := rapid.Uint64().Draw(t, "u"), rapid.Uint64().Draw(t, "v")
		if a, b := normal(min(u, v)), normal(max(u, v)); a > b+1e-12 {
			t.Fatalf("normal falls from %g to %g", a, b)
		}
	})
}

func TestExponentialMoments(t *testing.T) {
	for _, mean := range []time.Duration{time.Microsecond, 100 * time.Millisecond, 24 * time.Hour} {
		xs, us := make([]time.Duration, draws), make([]float64, draws)
		for i, u := range sample(ArrivalGap, draws) {
			xs[i] = Exponential(u, mean)
			us[i] = 1 - math.Exp(-float64(xs[i])/float64(mean))
		}
		m, v := moments(xs, mean)
		within(t, "mean", m, 1, 4/math.Sqrt(draws)+1e-9*float64(time.Second)/float64(mean))
		within(t, "variance", v, 1, 4*math.Sqrt(8.0/draws)) // kurtosis 9
		// A microsecond has only 1000 steps, which the distance sees.
		if d := ksUniform(us); d > ksBound(draws)+1/float64(mean) {
			t.Errorf("mean %v: distance from exponential %.5f", mean, d)
		}
	}
}

func TestExponentialEnds(t *testing.T) {
	const most = 44361419555836 // 64 ln 2 seconds, in picoseconds
	if got := Exponential(0, time.Second); got != 0 {
		t.Errorf("least draw gives %v, want 0", got)
	}
	if got := Exponential(math.MaxUint64, time.Second); got != most/1000 {
		t.Errorf("greatest draw gives %d, want %d", got, most/1000)
	}
	if got := Exponential(math.MaxUint64, math.MaxInt64); got != math.MaxInt64 {
		t.Errorf("greatest draw of the greatest mean gives %d", got)
	}
	for _, mean := range []time.Duration{0, -1, math.MinInt64} {
		if got := Exponential(math.MaxUint64, mean); got != 0 {
			t.Errorf("mean %d gives %v", mean, got)
		}
	}
}

func TestLognormalMoments(t *testing.T) {
	for _, sigma := range []int64{100, 500, 1000} {
		mean, s2 := 80*time.Millisecond, float64(sigma*sigma)/1e6
		xs, us := make([]time.Duration, draws), make([]float64, draws)
		for i, u := range sample(ServiceTime, draws) {
			xs[i] = Lognormal(u, mean, sigma)
			z := (math.Log(float64(xs[i])/float64(mean)) + s2/2) / math.Sqrt(s2)
			us[i] = math.Erfc(-z/math.Sqrt2) / 2
		}
		m, v := moments(xs, mean)
		variance := math.Expm1(s2)
		within(t, "mean", m, 1, 4*math.Sqrt(variance/draws))
		within(t, "variance", v, variance, 4*math.Sqrt(lognormalFourth(s2)/draws))
		if d := ksUniform(us); d > ksBound(draws) {
			t.Errorf("sigma %d: distance from lognormal %.5f", sigma, d)
		}
	}
}

// lognormalFourth is the variance of (X-1)^2 for a lognormal X with mean 1.
func lognormalFourth(s2 float64) float64 {
	w := math.Exp(s2)
	kurtosis := w*w*w*w + 2*w*w*w + 3*w*w - 3
	return (w - 1) * (w - 1) * (kurtosis - 1)
}

func TestLognormalResidualMoments(t *testing.T) {
	for _, sigma := range []int64{0, 300, 800} {
		mean, s2 := 80*time.Millisecond, float64(sigma*sigma)/1e6
		xs, vs := make([]time.Duration, draws), sample(ArrivalHeld, draws)
		for i, u := range sample(ServiceTime, draws) {
			xs[i] = LognormalResidual(u, vs[i], mean, sigma)
		}
		m, v := moments(xs, mean)
		// E[X^2]/2 and E[X^3]/3 of a lognormal X with mean 1.
		first, second := math.Exp(s2)/2, math.Exp(3*s2)/3
		within(t, "mean", m, first, 4*math.Sqrt((second-first*first)/draws))
		fourth := math.Exp(10*s2) / 5
		within(t, "second moment", v+m*m, second, 4*math.Sqrt((fourth-second*second)/draws))
	}
}

func TestLognormalEnds(t *testing.T) {
	for _, u := range []uint64{0, 1, 1 << 63, math.MaxUint64} {
		if got := Lognormal(u, time.Second, 0); got != time.Second {
			t.Errorf("sigma 0 gives %v, want the mean", got)
		}
		if got := Lognormal(u, 0, 500); got != 0 {
			t.Errorf("mean 0 gives %v", got)
		}
	}
	if got := Lognormal(math.MaxUint64, math.MaxInt64, 500); got != math.MaxInt64 {
		t.Errorf("greatest draw of the greatest mean gives %d", got)
	}
	if got := LognormalResidual(math.MaxUint64, 0, time.Second, 500); got != 0 {
		t.Errorf("no share of a time gives %v", got)
	}
}

func TestDistributionsNeverNegativeAndMonotonic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, v := rapid.Uint64().Draw(t, "u"), rapid.Uint64().Draw(t, "v")
		mean := time.Duration(rapid.Int64().Draw(t, "mean"))
		sigma := rapid.Int64().Draw(t, "sigma")
		lo, hi := min(u, v), max(u, v)
		if a, b := Exponential(lo, mean), Exponential(hi, mean); a < 0 || a > b {
			t.Fatalf("exponential falls from %d to %d", a, b)
		}
		if a := Lognormal(u, mean, sigma); a < 0 {
			t.Fatalf("lognormal %d", a)
		}
		whole := LognormalResidual(u, math.MaxUint64, mean, sigma)
		if r := LognormalResidual(u, v, mean, sigma); r < 0 || r > whole {
			t.Fatalf("residual %d beyond %d", r, whole)
		}
	})
}

// The same on every machine: these hang on exact fixed-point results.
func TestDistributionsNeverChange(t *testing.T) {
	u, v := At(1, ServiceTime, 2, 3, 4), At(1, ArrivalHeld, 2, 3, 4)
	for _, tc := range []struct {
		name      string
		got, want time.Duration
	}{
		{"exponential", Exponential(u, time.Second), 552738323},
		{"lognormal", Lognormal(u, time.Second, 700), 685197861},
		{"residual", LognormalResidual(u, v, time.Second, 700), 506362485},
		{"tail", Lognormal(1<<40, time.Hour, 1000), 10957071419},
	} {
		if tc.got != tc.want {
			t.Errorf("%s = %d, want %d", tc.name, tc.got, tc.want)
		}
	}
}

func TestDrawsDoNotAllocate(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { drawAll(3) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

var sink time.Duration

func drawAll(i uint64) {
	u := At(1, ServiceTime, i, 2, 3)
	sink += Exponential(u, time.Second) + LognormalResidual(u, ^u, time.Second, 500) + Scale(u, 9)
}

func BenchmarkAt(b *testing.B) {
	b.ReportAllocs()
	var x uint64
	for i := range b.N {
		x ^= At(1, Backoff, uint64(i), 2, 3)
	}
	sink = time.Duration(x >> 1)
}

func BenchmarkExponential(b *testing.B) {
	b.ReportAllocs()
	for i := range b.N {
		sink = Exponential(uint64(i)*0x9e3779b97f4a7c15, time.Second)
	}
}

func BenchmarkLognormal(b *testing.B) {
	b.ReportAllocs()
	for i := range b.N {
		sink = Lognormal(uint64(i)*0x9e3779b97f4a7c15, time.Second, 500)
	}
}
