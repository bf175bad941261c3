package backoff

import (
	"math"
	"time"
)

// farRetry is a retry so late that V2 is beyond every Duration for any base,
// and so far off the end of a float64 that later ones can count as this one.
const farRetry = 200

// v2 carries the point that the sum of all delays reached, uncapped.
func (c Config) v2(n int, carry time.Duration, u uint64) Wait {
	i := float64(min(max(n, 1), farRetry) - 1)
	unit := float64(max(c.Base, 0)) / 1.4
	before, least, most := v2Point(unit, i-1), v2Point(unit, i), v2Point(unit, i+1)
	from := min(max(float64(carry), before), least)
	at := min(max(v2Point(unit, i+fraction(u)), least), most)
	delay, ceiling := at-from, most-from
	if limit := float64(c.limit()); c.CapRule == CapBefore && ceiling > limit {
		delay = float64(delay/ceiling) * limit
	}
	return Wait{
		Delay:   c.bound(saturated(delay)),
		Ceiling: c.bound(saturated(ceiling)),
		Carry:   saturated(at),
	}
}

// v2Point is unit * 2^t * tanh(2*sqrt(t)), and 0 before t = 0. Conversions to
// float64 keep a compiler from fusing operations, which would round differently
// on some machines, as math.Tanh and math.Exp2 do.
func v2Point(unit, t float64) float64 {
	if t <= 0 {
		return 0
	}
	// tanh(x) = (1 - e^(-2x)) / (1 + e^(-2x))
	q := exp2(-4 * math.Log2E * math.Sqrt(t))
	return float64(unit*exp2(t)) * float64((1-q)/(1+q))
}

// exp2 is 2^x for |x| up to some hundreds, good to about 15 digits: the Taylor
// series of e^(f ln 2) for the fraction f of x.
func exp2(x float64) float64 {
	const terms = 18 // the next is below 2^-60
	whole := math.Floor(x)
	y, power := float64((x-whole)*math.Ln2), 1.0
	for k := terms; k > 0; k-- {
		power = 1 + float64(y*power)/float64(k)
	}
	return math.Ldexp(power, int(whole))
}

// fraction is the draw u as a number in [0, 1).
func fraction(u uint64) float64 { return float64(u>>11) / (1 << 53) }

// saturated is a number of nanoseconds, not negative, as a Duration.
func saturated(nanos float64) time.Duration {
	if nanos >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(nanos)
}
