package rng

import (
	"math"
	"math/bits"
	"time"
)

// Pareto is the draw u as a time from the Pareto distribution with the given
// mean; alpha is its tail index in thousandths: the share of times longer than x
// falls as x^-alpha. The least time is mean * (alpha-1) / alpha. The result is
// rounded down, and saturates at the largest Duration. It is 0 if the mean is
// not positive, and always the mean if alpha is not above 1000, where there is
// no mean.
func Pareto(u uint64, mean time.Duration, alpha int64) time.Duration {
	if alpha <= 1000 {
		return max(mean, 0)
	}
	return pareto(u, leastPareto(mean, alpha), alpha)
}

// ParetoResidual is the draws u and v as the rest of a time that is already
// under way at a random moment, where whole times are Pareto(mean, alpha): a
// length-biased Pareto, which is one with the same least time and an alpha that
// is smaller by 1, times V (see LognormalResidual). At an alpha of 2 and below
// it has no mean.
func ParetoResidual(u, v uint64, mean time.Duration, alpha int64) time.Duration {
	if alpha <= 1000 {
		return Scale(v, mean)
	}
	return Scale(v, pareto(u, leastPareto(mean, alpha), alpha-1000))
}

func leastPareto(mean time.Duration, alpha int64) time.Duration {
	hi, lo := bits.Mul64(uint64(max(mean, 0)), uint64(alpha-1000))
	least, _ := bits.Div64(hi, lo, uint64(alpha))
	return time.Duration(least)
}

// pareto is least * U^(-1/alpha), as a power of 2.
func pareto(u uint64, least time.Duration, alpha int64) time.Duration {
	if least <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(negLog2(^u), 1000)
	power, rest := hi, lo
	if power >= uint64(alpha) {
		return math.MaxInt64 // 2^65536 and beyond
	}
	power, _ = bits.Div64(power, rest, uint64(alpha))
	whole := power >> logBits
	if whole >= 63 {
		return math.MaxInt64
	}
	fraction := power & (1<<logBits - 1) << (63 - logBits)
	return scaleShifted(least, exp2(fraction), 63-int(whole))
}

// Uniform is the draw u as a time uniform in [low, high); low if high is not
// above it.
func Uniform(u uint64, low, high time.Duration) time.Duration {
	return low + Scale(u, high-low)
}

// UniformResidual is the draws u and v as the rest of a time that is already
// under way at a random moment, where whole times are Uniform(low, high): a time
// whose density grows with its length, times V (see LognormalResidual). Neither
// end may be negative.
func UniformResidual(u, v uint64, low, high time.Duration) time.Duration {
	if high <= low {
		return Scale(v, low)
	}
	const twoTo64 = 1 << 64
	least, most := float64(low), float64(high)
	square := float64(least * least)
	range2 := float64(float64(most*most) - square)
	met := math.Sqrt(square + float64(range2*float64(float64(u)/twoTo64)))
	return Scale(v, min(max(time.Duration(met), low), high))
}
