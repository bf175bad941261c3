package backoff

import (
	"time"

	"herdscope/engine/rng"
)

// Jitter is how the delay is drawn from the ceiling.
type Jitter uint8

// The jitters, for a point c of the curve and U uniform in [0, 1). Source of
// Full, Equal and Decorrelated: Marc Brooker, "Exponential Backoff And Jitter",
// AWS Architecture Blog, 2015. The others are what HTTP clients do.
const (
	// None waits exactly c: clients that failed together come back together.
	None Jitter = iota
	// Full waits c*U.
	Full
	// Equal waits c/2 + c/2*U, which some write c*(0.5 + 0.5*U) and call half.
	Equal
	// Decorrelated waits min(cap, base + (3*previous - base)*U), where the
	// previous delay of the first retry is base. It has a curve of its own, and
	// its cap comes after the draw, as AWS defines it, whatever the CapRule.
	Decorrelated
	// Additive waits c + width*U.
	Additive
	// Proportional waits c * (1 + amount*U).
	Proportional
	// Spread waits c * (1 - amount + 2*amount*U).
	Spread
	// Minus waits c * (1 - amount*U).
	Minus
	// V2 waits (f(t) - f(t of the retry before)) * base/1.4, where t is n-1+U
	// and f(t) = 2^t * tanh(sqrt(4t)): the first retry waits about 0.9 * base in
	// the median. It has a curve of its own. Under CapBefore a draw that could
	// pass the cap is shrunk to fit; all other rules cut it there.
	// Source: Polly.Contrib.WaitAndRetry, DecorrelatedJitterBackoffV2.
	V2
)

var jitterNames = []string{
	"none", "full", "equal", "decorrelated", "additive", "proportional", "spread", "minus", "v2",
}

// JitterNames lists the jitters' names in the order of their values.
func JitterNames() []string { return jitterNames }

// String is the jitter's name.
func (j Jitter) String() string { return nameOf(jitterNames, int(j)) }

// onCurve says whether the jitter draws around a point of the Config's curve.
func (j Jitter) onCurve() bool { return j != Decorrelated && j != V2 }

// span is what the delay before retry n is drawn from: low included, and high
// not, unless they are equal. What it leaves above the cap is for bound to cut.
func (c Config) span(n int) (low, high time.Duration) {
	curve, limit := c.curve(n), c.limit()
	switch {
	case c.CapRule == CapOvershoot:
		return c.around(min(curve, limit))
	case c.CapRule == CapAfter:
		return c.around(curve)
	case c.CapRule == CapInstead && curve > limit:
		return limit, limit
	}
	low, high = c.around(min(curve, c.room(limit)))
	return min(low, limit), min(high, limit)
}

// around is the span that the jitter makes of a point of the curve.
func (c Config) around(point time.Duration) (low, high time.Duration) {
	switch c.Jitter {
	case Full:
		return 0, point
	case Equal:
		return point / 2, point
	case Additive:
		return point, sum(point, max(c.Width, 0))
	case Proportional:
		return point, sum(point, c.share(point))
	case Spread:
		return max(point-c.share(point), 0), sum(point, c.share(point))
	case Minus:
		return max(point-c.share(point), 0), point
	}
	return point, point
}

// room is the highest point of the curve whose span ends at the limit.
func (c Config) room(limit time.Duration) time.Duration {
	switch c.Jitter {
	case Additive:
		return max(limit-max(c.Width, 0), 0)
	case Proportional, Spread:
		return ratio(uint64(limit), 1000, 1000+uint64(max(c.Amount, 0)))
	}
	return limit
}

// share is Amount of a duration that is not negative.
func (c Config) share(d time.Duration) time.Duration {
	return ratio(uint64(d), uint64(max(c.Amount, 0)), 1000)
}

// within is the draw u out of [low, high).
func within(low, high time.Duration, u uint64) time.Duration {
	return low + rng.Scale(u, high-low)
}

func (c Config) decorrelated(n int, previous time.Duration, u uint64) Wait {
	base := max(c.Base, 0)
	if n <= 1 || previous < base {
		previous = base
	}
	most := ratio(uint64(previous), 3, 1)
	delay := c.bound(within(base, most, u))
	return Wait{Delay: delay, Ceiling: c.bound(most), Carry: delay}
}
