package backoff

import (
	"math"
	"math/bits"
	"time"
)

// number is mantissa / 2^63 * 2^exponent, where the mantissa has its top bit
// set, or is 0. It is what an exponential curve needs of floating point: powers
// to 63 bits that are the same on every machine.
type number struct {
	mantissa uint64
	exponent int
}

// farExponent is an exponent whose numbers are out of the range of every
// Duration, and so are their inverses.
const farExponent = 128

// thousandths is the number n / 1000; a negative one counts as 0.
func thousandths(n int64) number {
	if n <= 0 {
		return number{}
	}
	// 1000 and n with their top bits set, so that their quotient is near 1.
	const divisor, divisorShift = 1000 << 54, 54
	shift := bits.LeadingZeros64(uint64(n))
	dividend := uint64(n) << shift
	if dividend >= divisor {
		quotient, _ := bits.Div64(dividend>>1, dividend<<63, divisor)
		return number{quotient, divisorShift - shift}
	}
	quotient, _ := bits.Div64(dividend, 0, divisor)
	return number{quotient, divisorShift - shift - 1}
}

func (x number) times(y number) number {
	hi, lo := bits.Mul64(x.mantissa, y.mantissa)
	exponent := x.exponent + y.exponent
	if hi>>63 == 1 {
		return number{hi, exponent + 1}
	}
	return number{hi<<1 | lo>>63, exponent}
}

// power is x^n, by squaring. It stops where the result is out of range already.
func (x number) power(n uint64) number {
	result := number{mantissa: 1 << 63}
	for ; n > 0; n >>= 1 {
		if x.exponent > farExponent || x.exponent < -farExponent {
			return x
		}
		if n&1 == 1 {
			result = result.times(x)
		}
		x = x.times(x)
	}
	return result
}

// of is x times a duration that is not negative, rounded to the nanosecond and
// saturating at the largest Duration.
func (x number) of(d time.Duration) time.Duration {
	hi, lo := bits.Mul64(x.mantissa, uint64(d))
	shift := 63 - x.exponent
	switch {
	case hi|lo == 0 || shift >= 128:
		return 0
	case shift <= 0:
		return math.MaxInt64
	case shift > 64:
		hi, lo, shift = 0, hi, shift-64
	}
	lo, carry := bits.Add64(lo, 1<<(shift-1), 0)
	hi += carry
	if hi>>shift != 0 {
		return math.MaxInt64
	}
	return time.Duration(min(hi<<(64-shift)|lo>>shift, math.MaxInt64))
}
