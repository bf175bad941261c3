package rng

import (
	"math"
	"testing"
	"time"
)

func TestParetoIsTheQuantile(t *testing.T) {
	for _, alpha := range []int64{1100, 1500, 2500, 6000, 100_000} {
		mean, a := 80*time.Millisecond, float64(alpha)/1000
		us := make([]float64, draws)
		sum := 0.0
		for i, u := range sample(ServiceTime, draws) {
			x := float64(Pareto(u, mean, alpha))
			us[i] = 1 - math.Pow(float64(mean)*(a-1)/a/x, a)
			sum += x / float64(mean)
		}
		if d := ksUniform(us); d > ksBound(draws)+a*1e-6 {
			t.Errorf("alpha %g: distance from pareto %.5f", a, d)
		}
		if a > 2 { // else the mean of a sample says nothing
			sd := math.Sqrt(1 / (a * (a - 2)))
			within(t, "mean", sum/draws, 1, 4*sd/math.Sqrt(draws)+1e-6)
		}
	}
}

func TestParetoResidualMoments(t *testing.T) {
	for _, alpha := range []int64{4500, 8000, 50_000} {
		mean, a := 80*time.Millisecond, float64(alpha)/1000
		xs, vs := make([]time.Duration, draws), sample(ArrivalHeld, draws)
		for i, u := range sample(ServiceTime, draws) {
			xs[i] = ParetoResidual(u, vs[i], mean, alpha)
		}
		m, _ := moments(xs, mean)
		// E[X^2]/2 and E[X^3]/3 of a Pareto X with mean 1.
		least := (a - 1) / a
		first, second := least*least*a/(a-2)/2, least*least*least*a/(a-3)/3
		within(t, "mean", m, first, 4*math.Sqrt((second-first*first)/draws))
	}
}

func TestUniformResidualMoments(t *testing.T) {
	for _, spread := range []float64{0, 0.3, 1} {
		mean := 80 * time.Millisecond
		low := time.Duration((1 - spread) * float64(mean))
		xs, vs := make([]time.Duration, draws), sample(ArrivalHeld, draws)
		whole := make([]time.Duration, draws)
		for i, u := range sample(ServiceTime, draws) {
			xs[i] = UniformResidual(u, vs[i], low, 2*mean-low)
			whole[i] = Uniform(u, low, 2*mean-low)
		}
		m, v := moments(whole, mean)
		within(t, "mean", m, 1, 4*spread/math.Sqrt(3*draws)+1e-7)
		within(t, "variance", v, spread*spread/3, 0.01)
		// E[X^2]/2 of a uniform X with mean 1.
		m, _ = moments(xs, mean)
		within(t, "mean rest", m, (1+spread*spread/3)/2, 4/math.Sqrt(draws))
	}
}

func TestParetoAndUniformEnds(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want time.Duration
	}{
		{"no mean", Pareto(5, 0, 2000), 0},
		{"no tail index", Pareto(5, time.Second, 1000), time.Second},
		{"least", Pareto(0, time.Second, 2000), time.Second / 2},
		{"greatest", Pareto(math.MaxUint64, time.Hour, 1100), math.MaxInt64},
		{"greatest rest", ParetoResidual(math.MaxUint64, math.MaxUint64, time.Hour, 1001), math.MaxInt64 - 1},
		{"rest without a tail index", ParetoResidual(0, 1<<63, time.Second, 0), time.Second / 2},
		{"uniform of a point", Uniform(7, time.Second, time.Second), time.Second},
		{"rest of a point", UniformResidual(7, 1<<63, time.Second, time.Second), time.Second / 2},
		{"never changes", Pareto(At(1, ServiceTime, 2, 3, 4), time.Second, 2500), 748465405},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.name, c.got, c.want)
		}
	}
}
