package fault

import (
	"math"
	"math/bits"
	"time"
)

// ColdStart is how a server comes back after an outage: its capacity is Share of
// what it has, and grows evenly to the whole within Time. An outage that only the
// network made, a black hole, leaves it warm. Each attempt that is
// taken up meanwhile takes as much longer as the capacity is short at that
// moment, at a share of 0.25 four times as long: caches are empty, and nothing
// is compiled yet. So it holds for any number of workers.
type ColdStart struct {
	// Share is in thousandths; 0 counts as DefaultColdShare.
	Share int64
	// Time is how long it takes; 0 is off.
	Time time.Duration
}

// DefaultColdShare is the Share of a cold start that does not say, in
// thousandths.
const DefaultColdShare = 100

func (c ColdStart) share() int64 {
	if c.Share == 0 {
		return DefaultColdShare
	}
	return c.Share
}

// restart says that the services that outage i has stopped come back, cold.
func (s *Server) restart(i int) {
	for p := range s.pools {
		if s.serves(i, uint8(p)) {
			s.pools[p].cold = s.now
		}
	}
}

// stretch is how much longer work takes that begins at an age since the last
// restart, as a fraction: whole / part.
func (c ColdStart) stretch(age time.Duration) (whole, part uint64) {
	if c.Time <= 0 || age >= c.Time || age < 0 {
		return 1, 1
	}
	share := c.share()
	return 1000 * uint64(c.Time), uint64(share*int64(c.Time) + (1000-share)*int64(age))
}

// stretched is how long work of the given length takes that begins now.
func (s *Server) stretched(p *pool, d time.Duration) time.Duration {
	if p.cold == longPast {
		return d
	}
	whole, part := s.config.ColdStart.stretch(s.now.Sub(p.cold))
	return times(d, whole, part)
}

// times is d * a / b, rounded down and saturating; b must not be 0, nor d
// negative.
func times(d time.Duration, a, b uint64) time.Duration {
	if a == b {
		return d
	}
	hi, lo := bits.Mul64(uint64(d), a)
	if hi >= b {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, b)
	return time.Duration(min(q, math.MaxInt64))
}
