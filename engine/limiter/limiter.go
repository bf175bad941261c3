// Package limiter decides how many attempts a client may have in flight: a
// number that stands, or one that follows what the replies say.
//
// A Limiter is a small value without clock, lock or goroutine; the
// configuration is an argument and the samples bring their own times. It is the
// same on every machine: floating point uses only operations that IEEE 754
// rounds in one way, none of them fused. The package imports nothing of this
// module.
//
// The kinds, with L the limit, and their figures where Config leaves them 0:
//
//	fixed      L is Limit
//	aimd       dropped or slower than 5 s: L*0.9; else L+1; within 20..200
//	gradient2  short is the sample's time, long its average over 600 samples, and
//	           g = 1.5*long/short within 0.5..1:  L = 0.8*L + 0.2*(g*L + 4);
//	           within 20..200; where long > 2*short, long falls by 5 % as well
//	vegas      queue = L*(1 - best/sample) rounded up, and s = log10(L), at
//	           least 1, rounded down. queue <= s: L+6s; queue < 3s: L+s;
//	           queue > 6s, or dropped: L-s; within 1..1000. A sample that beats
//	           the best time, and one of every 15*L to 30*L, becomes the best
//
// All begin at 20. None of them grows while less than half of L is in use; then
// gradient2 and vegas do not move at all, save that a drop lowers vegas.
// Gradient2 takes no heed of drops.
//
// Source: Netflix concurrency-limits, AIMDLimit, Gradient2Limit and VegasLimit.
// Its limits of 20 and more are meant for a server's own clients; a browser's
// want Min and Limit set.
package limiter

import (
	"math"
	"time"
)

// Sample is what one attempt that has ended tells.
type Sample struct {
	// RTT is the time from the sending of the attempt to its end; less than a
	// nanosecond counts as one.
	RTT time.Duration
	// InFlight is how many attempts were in flight when it was sent, itself
	// included.
	InFlight int
	// Dropped says that the attempt was refused for load, or timed out.
	Dropped bool
	// Draw is a random draw of the attempt's own. Vegas takes from it when to
	// measure the best time anew, so that clients do not do it together.
	Draw uint64
}

// Limiter is the state of one limit. The zero Limiter is at the beginning. It
// must not be shared between goroutines.
type Limiter struct {
	limit   float64 // 0 is not begun
	long    float64 // gradient2: the average time, in nanoseconds
	sum     float64 // gradient2: of the first samples
	best    float64 // vegas: the time without a queue, in nanoseconds; 0 is none
	jitter  float64 // vegas: of the next measurement, 0.5 to 1
	samples int32   // gradient2: those in sum; vegas: since the last measurement
	kind    Kind
}

// Limit is how many attempts may be in flight; 0, of Fixed only, is unlimited.
// It may change with every Observe and with the configuration. What is beyond
// it already should be left to end.
func (l *Limiter) Limit(c *Config) int {
	e := c.Effective()
	if e.Kind == Fixed {
		return e.Limit
	}
	if l.limit == 0 || l.kind != e.Kind {
		return e.clampInt(e.Limit)
	}
	return int(e.clamp(l.limit))
}

// Observe moves the limit by a sample. Attempts that the caller cancelled, and
// those that were never sent, tell nothing: they are no samples.
func (l *Limiter) Observe(c *Config, s Sample) {
	e := c.Effective()
	l.settle(&e, s.Draw)
	rtt := float64(max(s.RTT, 1))
	switch e.Kind {
	case AIMD:
		l.aimd(&e, s)
	case Gradient2:
		l.gradient2(&e, rtt, s.InFlight)
	case Vegas:
		l.vegas(&e, rtt, s)
	}
}

// settle begins anew if the kind is another, and puts the limit within bounds
// that may have changed.
func (l *Limiter) settle(e *Config, u uint64) {
	if l.limit == 0 || l.kind != e.Kind {
		*l = Limiter{kind: e.Kind, limit: float64(e.Limit), jitter: jitter(u)}
	}
	l.limit = e.clamp(l.limit)
}

// used says whether at least half of the limit is in use.
func (l *Limiter) used(inFlight int) bool { return float64(inFlight) >= l.limit/2 }

func (l *Limiter) aimd(e *Config, s Sample) {
	switch {
	case s.Dropped || s.RTT > e.Timeout:
		l.limit = math.Floor(l.limit * thousandths(e.Backoff))
	case l.used(s.InFlight):
		l.limit++
	}
	l.limit = e.clamp(l.limit)
}

func (l *Limiter) gradient2(e *Config, short float64, inFlight int) {
	l.average(e, short)
	long := l.long
	if long/short > 2 {
		l.long *= 0.95
	}
	if !l.used(inFlight) {
		return
	}
	g := thousandths(e.Tolerance) * long / short
	g = math.Max(0.5, math.Min(1, g))
	l.limit = e.clamp(mix(l.limit, float64(l.limit*g)+float64(e.Queue), e.Smoothing))
}

// warmUp is how many samples gradient2 averages plainly before it weights the
// newer ones more.
const warmUp = 10

// average adds a sample to the long average, with the weight 2/(n+1) of an
// exponential average over n samples.
func (l *Limiter) average(e *Config, rtt float64) {
	if l.samples < warmUp {
		l.samples++
		l.sum += rtt
		l.long = l.sum / float64(l.samples)
		return
	}
	weight := 2 / float64(e.LongWindow+1)
	l.long = float64(l.long*(1-weight)) + float64(rtt*weight)
}

func (l *Limiter) vegas(e *Config, rtt float64, s Sample) {
	l.samples++
	if float64(float64(l.jitter*float64(e.Probe))*l.limit) <= float64(l.samples) {
		l.samples, l.jitter, l.best = 0, jitter(s.Draw), rtt
		return
	}
	if l.best == 0 || rtt < l.best {
		l.best = rtt
		return
	}
	step := l.vegasStep(rtt, s)
	if step != 0 {
		l.limit = e.clamp(mix(l.limit, e.clamp(l.limit+step), e.Smoothing))
	}
}

// vegasStep is by how much the sample moves the limit.
func (l *Limiter) vegasStep(rtt float64, s Sample) float64 {
	unit := float64(log10(int(l.limit)))
	queue := math.Ceil(l.limit * (1 - l.best/rtt))
	switch {
	case s.Dropped:
		return -unit
	case !l.used(s.InFlight):
		return 0
	case queue <= unit:
		return 6 * unit
	case queue < 3*unit:
		return unit
	case queue > 6*unit:
		return -unit
	}
	return 0
}

// log10 is the number of digits of n after the first, and at least 1.
func log10(n int) int {
	digits := 0
	for ; n >= 10; n /= 10 {
		digits++
	}
	return max(digits, 1)
}

// mix is (1 - weight)*a + weight*b, with the weight in thousandths.
func mix(a, b float64, weight int64) float64 {
	w := thousandths(weight)
	return float64(a*(1-w)) + float64(b*w)
}

// jitter is the draw u as a number uniform in [0.5, 1).
func jitter(u uint64) float64 { return 0.5 + float64(float64(u>>11)/(1<<54)) }

func thousandths(n int64) float64 { return float64(n) / 1000 }
