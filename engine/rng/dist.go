package rng

import (
	"math"
	"math/bits"
	"time"
)

// Exponential is the draw u as a time from the exponential distribution with
// the given mean: -ln(1-U) * mean. It is never negative, at most 45 means, and
// saturates at the largest Duration; 0 if the mean is not positive.
func Exponential(u uint64, mean time.Duration) time.Duration {
	if mean <= 0 {
		return 0
	}
	nats, _ := bits.Mul64(negLog2(^u), ln2)
	return scaleShifted(mean, nats, logBits)
}

// Lognormal is the draw u as a time from the lognormal distribution with the
// given mean; sigma is the standard deviation of its logarithm in thousandths.
// The logarithm is normal with mean ln(mean) - sigma^2/2. The result is rounded
// down, and saturates at the largest Duration. It is 0 if the mean is not
// positive, and always the mean if sigma is not positive.
func Lognormal(u uint64, mean time.Duration, sigma int64) time.Duration {
	return lognormal(u, mean, sigma, -0.5)
}

// LognormalResidual is the draws u and v as the rest of a time that is already
// under way at a random moment, where whole times are Lognormal(mean, sigma).
// Long times are met more often, in proportion to their length, and the moment
// falls anywhere in them: so it is a length-biased lognormal, whose logarithm
// is normal with mean ln(mean) + sigma^2/2, times V (the equilibrium residual
// life of renewal theory: Cox, "Renewal Theory", 1962, chapter 5). Its mean is
// mean * exp(sigma^2) / 2.
func LognormalResidual(u, v uint64, mean time.Duration, sigma int64) time.Duration {
	return Scale(v, lognormal(u, mean, sigma, 0.5))
}

// lognormal is mean * exp(sigma*z + tilt*sigma^2) with z the normal quantile of
// u.
func lognormal(u uint64, mean time.Duration, sigma int64, tilt float64) time.Duration {
	if mean <= 0 {
		return 0
	}
	s := float64(max(sigma, 0)) / 1000
	exponent := float64(s*normal(u)) + float64(tilt*float64(s*s))
	power := float64(exponent * math.Log2E)
	if power >= 64 {
		return math.MaxInt64
	}
	if power < -64 {
		return 0
	}
	whole := int(power)
	if float64(whole) > power {
		whole--
	}
	fraction := uint64(float64((power - float64(whole)) * (1 << 63)))
	return scaleShifted(mean, exp2(fraction), 63-whole)
}

// scaleShifted is mean*factor / 2^shift, rounded down and saturating. The mean
// must be positive and shift in [0, 128).
func scaleShifted(mean time.Duration, factor uint64, shift int) time.Duration {
	hi, lo := bits.Mul64(uint64(mean), factor)
	if shift >= 64 {
		hi, lo = 0, hi
		shift -= 64
	}
	if hi>>shift != 0 {
		return math.MaxInt64
	}
	result := hi<<(64-shift) | lo>>shift
	return time.Duration(min(result, math.MaxInt64))
}
