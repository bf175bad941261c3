// Package backoff computes how long to wait before a retry: a curve that grows
// with the number of the retry, a cap, and a jitter.
//
// It is pure: the random draw and the previous delay are arguments. Arithmetic
// is on integers and saturates, so that a delay is never negative and never
// beyond the cap, whatever the number of the retry. It imports only clock, rng
// and wire.
package backoff

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"herdscope/engine/rng"
)

// Curve is how the ceiling of the delay grows with the number of the retry.
type Curve uint8

// The curves, for retry n = 1, 2, ...
const (
	// Exponential is base * multiplier^(n-1).
	Exponential Curve = iota
	// Fixed is base.
	Fixed
	// Linear is base * n.
	Linear
	// Quadratic is base * n^2.
	Quadratic
)

var curveNames = []string{"exponential", "fixed", "linear", "quadratic"}

// CurveNames lists the curves' names in the order of their values.
func CurveNames() []string { return curveNames }

// String is the curve's name.
func (c Curve) String() string { return nameOf(curveNames, int(c)) }

// Jitter is how the delay is drawn from the ceiling.
type Jitter uint8

// The jitters, for a ceiling c that is capped already and U uniform in [0, 1).
// Source of all but None: Marc Brooker, "Exponential Backoff And Jitter", AWS
// Architecture Blog, 2015.
const (
	// None waits exactly c: clients that failed together come back together.
	None Jitter = iota
	// Full waits c*U.
	Full
	// Equal waits c/2 + c/2*U.
	Equal
	// Decorrelated waits min(cap, base + (3*previous - base)*U), where the
	// previous delay of the first retry is base. It follows its own curve.
	Decorrelated
)

var jitterNames = []string{"none", "full", "equal", "decorrelated"}

// JitterNames lists the jitters' names in the order of their values.
func JitterNames() []string { return jitterNames }

// String is the jitter's name.
func (j Jitter) String() string { return nameOf(jitterNames, int(j)) }

func nameOf(names []string, i int) string {
	if i >= len(names) {
		return fmt.Sprintf("unknown(%d)", i)
	}
	return names[i]
}

// Config is a delay rule.
type Config struct {
	Curve  Curve
	Jitter Jitter
	// Base is the ceiling of the first retry.
	Base time.Duration
	// Cap bounds every delay. It is applied before the jitter, save for
	// Decorrelated, which AWS defines the other way round. 0 is no cap but the
	// largest Duration.
	Cap time.Duration
	// Multiplier is the growth of Exponential per retry, in thousandths.
	Multiplier int64
}

// Ceiling is the largest delay that Delay can draw before retry n, for all
// jitters but Decorrelated. Retries count from 1; n below 1 counts as 1. The
// curve is rounded to the nanosecond and lies in [0, Cap].
func (c Config) Ceiling(n int) time.Duration {
	return min(c.limit(), c.curve(uint64(max(n, 1))))
}

// Delay is how long to wait before retry n, with u the random draw, and the
// ceiling that the draw was made under. Both lie in [0, Cap].
//
// Only Decorrelated reads previous: the delay that this function gave for the
// retry before, kept by the caller. For the first retry, and if it is less than
// Base, Base takes its place.
func (c Config) Delay(n int, previous time.Duration, u uint64) (delay, ceiling time.Duration) {
	if c.Jitter == Decorrelated {
		return c.decorrelated(n, previous, u)
	}
	ceiling = c.Ceiling(n)
	switch c.Jitter {
	case Full:
		return rng.Scale(u, ceiling), ceiling
	case Equal:
		half := ceiling / 2
		return half + rng.Scale(u, ceiling-half), ceiling
	}
	return ceiling, ceiling
}

func (c Config) decorrelated(
	n int, previous time.Duration, u uint64,
) (delay, ceiling time.Duration) {
	base := max(c.Base, 0)
	if n <= 1 || previous < base {
		previous = base
	}
	most := product(uint64(previous), 3)
	delay = base + rng.Scale(u, most-base)
	return min(c.limit(), delay), min(c.limit(), most)
}

func (c Config) limit() time.Duration {
	if c.Cap == 0 {
		return math.MaxInt64
	}
	return max(c.Cap, 0)
}

// curve is the delay before retry n without the cap.
func (c Config) curve(n uint64) time.Duration {
	base := uint64(max(c.Base, 0))
	switch c.Curve {
	case Fixed:
		return time.Duration(base)
	case Linear:
		return product(base, n)
	case Quadratic:
		return product(uint64(product(base, n)), n)
	}
	return thousandths(c.Multiplier).power(n - 1).of(time.Duration(base))
}

// product is a*b, saturating at the largest Duration.
func product(a, b uint64) time.Duration {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 {
		return math.MaxInt64
	}
	return time.Duration(min(lo, math.MaxInt64))
}
