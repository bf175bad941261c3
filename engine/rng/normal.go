package rng

import "math"

// normal is the draw u as a standard normal number: the quantile function at
// (u + 1/2) / 2^64, within [-9.2, 9.2]. normal(^u) is exactly -normal(u).
//
// Source: M. J. Wichura, "Algorithm AS 241: The Percentage Points of the Normal
// Distribution", Applied Statistics 37 (1988), routine PPND16, good to about 16
// digits. Conversions to float64 keep a compiler from fusing operations, which
// would round differently on some machines; math.Sqrt rounds correctly on all.
func normal(u uint64) float64 {
	const twoTo64 = 1 << 64
	tail := min(u, ^u) // counts draws from the nearer end
	z := 0.0
	if q := (float64(1<<63-1-tail) + 0.5) / twoTo64; q <= 0.425 {
		r := 0.180625 - float64(q*q)
		z = q * (poly(&centreOver, r) / poly(&centreUnder, r))
	} else {
		z = normalTail(tail)
	}
	if tail == u {
		return -z
	}
	return z
}

// normalTail is the positive normal number beyond which lie tail of the 2^64
// draws.
func normalTail(tail uint64) float64 {
	const unit = 1.0 / (1 << logBits)
	r := math.Sqrt(float64(negLog2(tail)) * (math.Ln2 * unit))
	if r <= 5 {
		return poly(&tailOver, r-1.6) / poly(&tailUnder, r-1.6)
	}
	return poly(&farOver, r-5) / poly(&farUnder, r-5)
}

// poly evaluates the polynomial with the coefficients c, lowest power first.
func poly(c *[8]float64, x float64) float64 {
	sum := c[7]
	for i := 6; i >= 0; i-- {
		sum = float64(sum*x) + c[i]
	}
	return sum
}

// The coefficients of AS 241, numerator over denominator: for the centre, for
// tails with sqrt(-ln p) up to 5, and beyond.
var (
	centreOver = [8]float64{
		3.3871328727963666080e0, 1.3314166789178437745e2,
		1.9715909503065514427e3, 1.3731693765509461125e4,
		4.5921953931549871457e4, 6.7265770927008700853e4,
		3.3430575583588128105e4, 2.5090809287301226727e3,
	}
	centreUnder = [8]float64{
		1, 4.2313330701600911252e1,
		6.8718700749205790830e2, 5.3941960214247511077e3,
		2.1213794301586595867e4, 3.9307895800092710610e4,
		2.8729085735721942674e4, 5.2264952788528545610e3,
	}
	tailOver = [8]float64{
		1.42343711074968357734e0, 4.63033784615654529590e0,
		5.76949722146069140550e0, 3.64784832476320460504e0,
		1.27045825245236838258e0, 2.41780725177450611770e-1,
		2.27238449892691845833e-2, 7.74545014278341407640e-4,
	}
	tailUnder = [8]float64{
		1, 2.05319162663775882187e0,
		1.67638483018380384940e0, 6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2,
		5.47593808499534494600e-4, 1.05075007164441684324e-9,
	}
	farOver = [8]float64{
		6.65790464350110377720e0, 5.46378491116411436990e0,
		1.78482653991729133580e0, 2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3,
		2.71155556874348757815e-5, 2.01033439929228813265e-7,
	}
	farUnder = [8]float64{
		1, 5.99832206555887937690e-1,
		1.36929880922735805310e-1, 1.48753612908506148525e-2,
		7.86869131145613259100e-4, 1.84631831751005468180e-5,
		1.42151175831644588870e-7, 2.04426310338993978564e-15,
	}
)
