// Package backoff computes how long to wait before a retry: a curve that grows
// with the number of the retry, a cap, and a jitter.
//
// It is pure: the random draw, and what the formula remembers of the retries
// before, are arguments. Arithmetic is on integers, or on floating point of
// which no operation is fused, and saturates, so that a delay is never negative
// and never beyond the cap, whatever the number of the retry; only CapOvershoot
// asks for more. It imports only clock, rng and wire.
package backoff

import (
	"fmt"
	"math"
	"math/bits"
	"time"
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

// First is where on its curve a client starts.
type First uint8

// The starts. Retry n waits for the n-th point of the curve, save as said.
const (
	// FirstBase has the first retry wait for the base.
	FirstBase First = iota
	// FirstNext is one point ahead: the first retry waits for base * multiplier.
	FirstNext
	// FirstZero is one point behind: the first retry waits for nothing but
	// Config.Offset, the second for the base.
	FirstZero
	// FirstNow has the first retry wait for nothing at all, and the others for
	// their own points, as urllib3 has it.
	FirstNow
)

var firstNames = []string{"base", "next", "zero", "now"}

// FirstNames lists the starts' names in the order of their values.
func FirstNames() []string { return firstNames }

// String is the start's name.
func (f First) String() string { return nameOf(firstNames, int(f)) }

// CapRule is how the cap and the jitter go together. Libraries differ in it, and
// the defects of all rules but the first are theirs.
type CapRule uint8

// The rules.
const (
	// CapBefore has the greatest delay that can be drawn end at the cap: draws
	// neither pass it nor pile up there. A jitter around the curve, or above
	// it, is moved below the cap whole, and its factor with it.
	CapBefore CapRule = iota
	// CapAfter draws from the curve as if there were no cap, and then cuts: the
	// late retries all wait for exactly the cap.
	CapAfter
	// CapOvershoot caps the curve only: a jitter around the curve, or above it,
	// goes beyond the cap.
	CapOvershoot
	// CapInstead waits for exactly the cap, without jitter, as soon as the
	// curve is above it.
	CapInstead
)

var capRuleNames = []string{"before", "after", "overshoot", "instead"}

// CapRuleNames lists the rules' names in the order of their values.
func CapRuleNames() []string { return capRuleNames }

// String is the rule's name.
func (r CapRule) String() string { return nameOf(capRuleNames, int(r)) }

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
	// Base is the first point of the curve.
	Base time.Duration
	// Cap bounds every delay, as CapRule says. 0 is no cap but the largest
	// Duration.
	Cap time.Duration
	// CapRule is how Cap and Jitter go together.
	CapRule CapRule
	// Multiplier is the growth of Exponential per retry, in thousandths.
	Multiplier int64
	// First is where on the curve the first retry is.
	First First
	// Offset is added to every point of the curve; the sum is never below 0.
	Offset time.Duration
	// Width is how far Additive goes above the curve.
	Width time.Duration
	// Amount is how far Proportional, Spread and Minus go from the curve, as a
	// share of it in thousandths.
	Amount int64
	// Floor bounds every delay from below. The cap outranks it.
	Floor time.Duration
}

// Wait is how long to wait before a retry. No field is ever negative.
type Wait struct {
	Delay time.Duration
	// Ceiling is the largest delay that could have been drawn.
	Ceiling time.Duration
	// Carry is what the formula remembers: the caller gives it to Delay for the
	// retry that comes next. It has no other use.
	Carry time.Duration
}

// Ceiling is the largest delay that Delay can draw before retry n, for all
// jitters that follow the curve. Retries count from 1; n below 1 counts as 1.
// The curve is rounded to the nanosecond.
func (c Config) Ceiling(n int) time.Duration {
	_, high := c.span(max(n, 1))
	return c.bound(high)
}

// Delay is how long to wait before retry n, with u the random draw. Delay and
// ceiling lie in [0, Cap], but for CapOvershoot.
//
// Carry is that of the Wait for the retry before, and 0 for the first. Only
// Decorrelated and V2 read it, and take one that cannot be for the nearest that
// can: it may come from a time when the Config was another.
func (c Config) Delay(n int, carry time.Duration, u uint64) Wait {
	switch c.Jitter {
	case Decorrelated:
		return c.decorrelated(n, carry, u)
	case V2:
		return c.v2(n, carry, u)
	}
	low, high := c.span(max(n, 1))
	delay := c.bound(within(low, high, u))
	return Wait{Delay: delay, Ceiling: c.bound(high), Carry: delay}
}

// bound is the delay d inside cap and floor. What comes from a span that may
// overshoot is not cut.
func (c Config) bound(d time.Duration) time.Duration {
	limit := c.limit()
	if c.CapRule != CapOvershoot || !c.Jitter.onCurve() {
		d = min(d, limit)
	}
	return max(d, min(c.Floor, limit))
}

func (c Config) limit() time.Duration {
	if c.Cap == 0 {
		return math.MaxInt64
	}
	return max(c.Cap, 0)
}

// curve is the delay before retry n without cap and jitter.
func (c Config) curve(n int) time.Duration {
	at := uint64(n)
	switch {
	case c.First == FirstNext:
		at++
	case c.First == FirstZero:
		at--
	case c.First == FirstNow && n == 1:
		return 0
	}
	return sum(c.point(at), c.Offset)
}

// point is the n-th point of the curve; the one before the first is 0.
func (c Config) point(n uint64) time.Duration {
	base := uint64(max(c.Base, 0))
	if n == 0 {
		return 0
	}
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

// sum is a + b for an a that is not negative, never below 0 and saturating at
// the largest Duration.
func sum(a, b time.Duration) time.Duration {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return max(a+b, 0)
}

// product is a*b, saturating at the largest Duration.
func product(a, b uint64) time.Duration {
	return ratio(a, b, 1)
}

// ratio is a*b/c without its fraction, saturating at the largest Duration.
func ratio(a, b, c uint64) time.Duration {
	hi, lo := bits.Mul64(a, b)
	if hi >= c {
		return math.MaxInt64
	}
	quotient, _ := bits.Div64(hi, lo, c)
	return time.Duration(min(quotient, math.MaxInt64))
}
