package fault

import (
	"math/bits"
	"time"

	"herdscope/engine/rng"
)

// Wave is how what a latency fault adds swings over time.
type Wave uint8

// The waves, each from the beginning of the window on. The swing goes between
// nothing and what the fault adds.
const (
	// Steady does not swing.
	Steady Wave = iota
	// Sine rises from nothing, is whole after half a period, and falls again.
	Sine
	// Saw rises evenly and falls at once at the end of each period.
	Saw
	// Square is whole for the first half of each period and nothing for the
	// second.
	Square
)

var waveNames = []string{"steady", "sine", "saw", "square"}

// WaveNames lists the waves' names in the order of their values.
func WaveNames() []string { return waveNames }

// String is the wave's name, as scenario files write it.
func (w Wave) String() string { return nameOf(waveNames, int(w)) }

// full is the level of a wave at its height.
const full = 1_000_000

// level is how high the wave is, in millionths, so long after its beginning.
func (w Wave) level(since, period time.Duration) int64 {
	if w == Steady || period <= 0 {
		return full
	}
	phase := int64(since % period)
	switch w {
	case Saw:
		return int64(times(time.Duration(phase), full, uint64(period)))
	case Square:
		if phase < int64(period)/2 {
			return full
		}
		return 0
	}
	return sineSquared(int64(times(time.Duration(phase), 180_000, uint64(period))))
}

// sineSquared is sin^2 of an angle from 0 to 180 degrees, in millionths; the
// angle is in thousandths of a degree. It is Bhaskara's approximation (AD 629),
// 4x(180-x) / (40500 - x(180-x)), off by less than 0.0017, which integers give
// alike on every machine.
func sineSquared(angle int64) int64 {
	p := angle * (180_000 - angle)
	sine := 4 * p * 1000 / ((40_500_000_000 - p) / 1000)
	return sine * sine / full
}

// checkLatency refuses a wave without a period.
func (f *Fault) checkLatency(at string) error {
	if f.Wave != Steady && f.Period <= 0 {
		return refuse(at+"period", f.Period.String(), "more than 0s for a wave that is "+f.Wave.String())
	}
	return nil
}

// slowed is a service time with what latency faults do to it: those that replace
// it do so first, the last of them in the order of the configuration, and those
// that add come on top. It counts the hits.
func (s *Server) slowed(j *job, service time.Duration) time.Duration {
	var added time.Duration
	for slow := j.slow; slow != 0; slow &= slow - 1 {
		i := bits.TrailingZeros64(slow)
		s.windows[i].hits++
		d := s.latency(i, j)
		if s.config.Faults[i].Replace {
			service = d
		} else {
			added = clamped(added, d)
		}
	}
	return clamped(service, added)
}

// latency is what latency fault i comes to for a job that begins now.
func (s *Server) latency(i int, j *job) time.Duration {
	f := &s.config.Faults[i]
	d := f.Added
	if f.Shape != FixedShape {
		id := j.attempt.ID
		u := rng.At(s.seed, rng.FaultLatency,
			uint64(id.Client)|uint64(i)<<32, uint64(id.Request), uint64(id.Try))
		shape := Service{Shape: f.Shape, Mean: f.Added, Sigma: f.Sigma, Spread: f.Spread, Alpha: f.Alpha}
		d = shape.whole(u)
	}
	return times(d, uint64(f.Wave.level(s.now.Sub(s.windows[i].began), f.Period)), full)
}
