package fault

import (
	"math/bits"
	"time"

	"herdscope/engine/rng"
	"herdscope/engine/wire"
)

// Shape is a family of service-time distributions.
type Shape uint8

// The families.
const (
	// FixedShape takes exactly the mean.
	FixedShape Shape = iota
	// ExponentialShape is memoryless.
	ExponentialShape
	// LognormalShape has a long tail; Sigma says how long.
	LognormalShape
	// ParetoShape has a heavy tail; Alpha says how heavy.
	ParetoShape
	// UniformShape is anything around the mean; Spread says how far.
	UniformShape
	// EmpiricalShape is what Quantiles says; the mean is theirs.
	EmpiricalShape
)

// Service is the distribution of the time that a worker takes for an attempt.
type Service struct {
	Shape Shape
	Mean  time.Duration
	// Sigma is the standard deviation of the logarithm, in thousandths;
	// lognormal only.
	Sigma int64
	// Spread is how far from the mean the least and the greatest time are, as a
	// share of it in thousandths; uniform only.
	Spread int64
	// Alpha is the tail index in thousandths, above 1000; 0 counts as
	// DefaultAlpha; pareto only.
	Alpha int64
	// Quantiles are times at even distances: the first is the least, the last
	// the greatest, and of three the second is the median. Between two of them
	// times are uniform; empirical only, where without any it is Mean. It must
	// not be changed once in use.
	Quantiles []time.Duration
	// PerInFlight is how much longer the work takes for each attempt that the
	// service has in service when it begins, itself included. A Mean of
	// 342.857142ms and 42.857143ms for each make 600 ms at 6 in flight and 1.2 s
	// at 20, as a backend under a page that loads everything at once was seen to
	// answer.
	PerInFlight time.Duration
}

// DefaultAlpha is the Alpha of a pareto service time that does not say: the
// variance is finite, the tail long.
const DefaultAlpha = 2500

func (c *Service) alpha() int64 {
	if c.Alpha == 0 {
		return DefaultAlpha
	}
	return c.Alpha
}

// bounds is the least and the greatest time of a uniform service.
func (c *Service) bounds() (low, high time.Duration) {
	spread := times(c.Mean, uint64(c.Spread), 1000)
	return c.Mean - spread, c.Mean + spread
}

// mean is the mean of the distribution, without PerInFlight.
func (c *Service) mean() time.Duration {
	n := len(c.Quantiles)
	if c.Shape != EmpiricalShape || n == 0 {
		return c.Mean
	}
	if n == 1 {
		return c.Quantiles[0]
	}
	var sum time.Duration
	for i := range n - 1 {
		sum += (c.Quantiles[i] + c.Quantiles[i+1]) / 2
	}
	return sum / time.Duration(n-1)
}

// whole is the draw u as a time of the distribution.
func (c *Service) whole(u uint64) time.Duration {
	switch c.Shape {
	case ExponentialShape:
		return rng.Exponential(u, c.Mean)
	case LognormalShape:
		return rng.Lognormal(u, c.Mean, c.Sigma)
	case ParetoShape:
		return rng.Pareto(u, c.Mean, c.alpha())
	case UniformShape:
		low, high := c.bounds()
		return rng.Uniform(u, low, high)
	case EmpiricalShape:
		return c.quantile(u)
	}
	return c.Mean
}

// quantile is the quantile of the draw u, between those that are given.
func (c *Service) quantile(u uint64) time.Duration {
	switch n := len(c.Quantiles); n {
	case 0:
		return c.Mean
	case 1:
		return c.Quantiles[0]
	default:
		i, fraction := bits.Mul64(u, uint64(n-1))
		return rng.Uniform(fraction, c.Quantiles[i], c.Quantiles[i+1])
	}
}

// rest is the draws u and v as what is left of a time of the distribution that
// is met at a random moment: its equilibrium distribution.
func (c *Service) rest(u, v uint64) time.Duration {
	switch c.Shape {
	case ExponentialShape:
		return rng.Exponential(u, c.Mean) // its rest is distributed as the whole
	case LognormalShape:
		return rng.LognormalResidual(u, v, c.Mean, c.Sigma)
	case ParetoShape:
		return rng.ParetoResidual(u, v, c.Mean, c.alpha())
	case UniformShape:
		low, high := c.bounds()
		return rng.UniformResidual(u, v, low, high)
	case EmpiricalShape:
		return c.quantileRest(u, v)
	}
	return rng.Scale(u, c.Mean)
}

// quantileRest is rest for an empirical distribution: the piece between two
// quantiles in which the time lies is met in proportion to its mean, since all
// pieces are as likely.
func (c *Service) quantileRest(u, v uint64) time.Duration {
	n := len(c.Quantiles)
	if n < 2 {
		return rng.Scale(v, c.mean())
	}
	var total uint64
	for i := range n - 1 {
		total += uint64(c.Quantiles[i] + c.Quantiles[i+1])
	}
	at, fraction := bits.Mul64(u, total)
	for i := range n - 1 {
		piece := uint64(c.Quantiles[i] + c.Quantiles[i+1])
		if at < piece {
			// Where in its piece the draw fell is a draw of its own.
			within, _ := bits.Div64(at, fraction, piece)
			return rng.UniformResidual(within, v, c.Quantiles[i], c.Quantiles[i+1])
		}
		at -= piece
	}
	return 0 // all are 0
}

// factor is how many times as long a class takes, in thousandths.
func (c *Config) factor(class wire.Class) int64 {
	if f := c.ClassFactor[class]; f != 0 {
		return f
	}
	return 1000
}

// serviceTime draws how long a job takes. One that was under way before the run
// has only the rest of its time to go, if a worker takes it up at once.
func (s *Server) serviceTime(j *job) time.Duration {
	c := s.time(&j.attempt)
	crowd := c.PerInFlight * time.Duration(s.pools[j.service].serving)
	var d time.Duration
	if j.attempt.Warm && j.began == j.arrived {
		d = s.restOf(c, crowd, j.attempt.ID)
	} else {
		d = clamped(c.whole(s.serviceDraw(j.attempt.ID, 0)), crowd)
	}
	d = times(d, uint64(s.config.factor(j.attempt.Class)), 1000)
	if j.stage == inRejection {
		d = times(d, uint64(s.config.RejectionCost), 1000)
	}
	return s.stretched(&s.pools[j.service], d)
}

// restOf is the rest of a time that is a draw and crowd more. It lies in the part
// that all times have in the proportion in which that is to the mean.
func (s *Server) restOf(c *Service, crowd time.Duration, id wire.AttemptID) time.Duration {
	u, v := s.serviceDraw(id, 0), s.serviceDraw(id, 1)
	if crowd > 0 && rng.Scale(s.serviceDraw(id, 2), clamped(c.mean(), crowd)) < crowd {
		return rng.Scale(v, crowd)
	}
	return clamped(c.rest(u, v), crowd)
}

// serviceDraw is one of the draws for the service time of an attempt. A request's
// number has 32 bits, so that more draws fit above it.
func (s *Server) serviceDraw(id wire.AttemptID, n uint64) uint64 {
	return rng.At(s.seed, rng.ServiceTime, uint64(id.Client), uint64(id.Request)|n<<32, uint64(id.Try))
}

// clamped is a + b, or the longest time there is. Neither may be negative.
func clamped(a, b time.Duration) time.Duration {
	if sum := a + b; sum >= 0 {
		return sum
	}
	return 1<<63 - 1
}
