package metrics

import (
	"math"
	"slices"
	"time"

	"herdscope/engine/clock"
)

const (
	// maxSteps is how many steps of the backoff, the cap included, synchrony is
	// looked for at.
	maxSteps = 12
	// leastCycles is how often a period must have passed to be reported.
	leastCycles = 4
	// surely is how many times its floor R must be to be no chance at all.
	surely = 5
	// circleBits is the binary logarithm of the phases that are told apart. It
	// makes R too low by less than two parts in a million.
	circleBits = 10
)

// plainPeriods are looked for whatever the backoff is.
var plainPeriods = [...]time.Duration{
	500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second,
}

// circle is the points of the unit circle by phase.
var circle = func() (points [1 << circleBits][2]float64) {
	for i := range points {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(len(points)))
		points[i] = [2]float64{cos, sin}
	}
	return points
}()

// synchrony is how much the arrivals are in step, for several periods T at once:
// R(T) = |sum exp(2 pi i t/T)| / n, the order parameter of Kuramoto.
type synchrony struct {
	tones []tone
}

// tone is the sums for one period.
type tone struct {
	period time.Duration
	// scale turns nanoseconds into phases.
	scale float64
	// cycle is the number of the period that part is from; full is the sum of
	// those before it.
	cycle      int64
	full, part phasor
}

// phasor is a sum of n points of the unit circle.
type phasor struct {
	n      int64
	re, im float64
}

func (p *phasor) add(o phasor) {
	p.n += o.n
	p.re += o.re
	p.im += o.im
}

func newSynchrony(base, ceiling time.Duration) (s synchrony) {
	for _, period := range periods(base, ceiling) {
		scale := float64(len(circle)) / float64(period)
		s.tones = append(s.tones, tone{period: period, scale: scale})
	}
	return s
}

// periods is where synchrony is looked for, in ascending order: the cap of a
// doubling backoff, its longest steps, and the plain periods.
func periods(base, ceiling time.Duration) []time.Duration {
	var all []time.Duration
	if ceiling > 0 {
		all = append(all, ceiling)
	}
	for step := base; step > 0 && step < ceiling; step *= 2 {
		all = append(all, step)
	}
	slices.Sort(all)
	all = all[max(0, len(all)-maxSteps):]
	all = append(all, plainPeriods[:]...)
	slices.Sort(all)
	return slices.Compact(all)
}

// add takes in an arrival.
func (s *synchrony) add(at clock.Instant) {
	nanos := float64(max(0, at))
	for i := range s.tones {
		t := &s.tones[i]
		phase := int64(nanos * t.scale)
		point := &circle[phase&int64(len(circle)-1)]
		cycle := phase >> circleBits
		sum := &t.part
		if cycle > t.cycle {
			t.full.add(t.part)
			t.part, t.cycle = phasor{}, cycle
		} else if cycle < t.cycle {
			sum = &t.full
		}
		sum.n++
		sum.re += point[0]
		sum.im += point[1]
	}
}

// strongest is the period in which the arrivals before now are most in step, how
// much they are, and what chance gives; all 0 if no period has passed often
// enough. What comes every 4 s is in step at 2 s and at 1 s as well: of periods
// that differ by no more than chance, the longest is meant.
func (s *synchrony) strongest(now clock.Instant) (period time.Duration, r, floor float64) {
	most := 0.0
	for i := range s.tones {
		here, _ := s.tones[i].inStep(now)
		most = max(most, here)
	}
	for i := range s.tones {
		here, chance := s.tones[i].inStep(now)
		if here > 0 && (here == most || most > surely*chance && here > most-2*chance) {
			period, r, floor = s.tones[i].period, here, chance
		}
	}
	return period, r, floor
}

// inStep is R and its floor, over the whole periods before now.
func (t *tone) inStep(now clock.Instant) (r, floor float64) {
	cycles := int64(now) / int64(t.period)
	sum := t.full
	if cycles > t.cycle {
		sum.add(t.part)
	}
	if cycles < leastCycles || sum.n == 0 {
		return 0, 0
	}
	n := float64(sum.n)
	return min(1, math.Hypot(sum.re, sum.im)/n), math.Sqrt(math.Pi) / 2 / math.Sqrt(n)
}
