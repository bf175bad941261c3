package limiter

import (
	"fmt"
	"time"
)

// Kind is the law by which a limit moves; the package comment has them all.
type Kind uint8

// The kinds of limit.
const (
	// Fixed does not move.
	Fixed Kind = iota
	// AIMD grows by one and falls by a share: additive increase,
	// multiplicative decrease.
	AIMD
	// Gradient2 follows the quotient of a long and a short average of times.
	Gradient2
	// Vegas follows the queue that it infers from the best time seen.
	Vegas

	// NumKinds is the number of kinds.
	NumKinds = int(Vegas) + 1
)

var kindNames = [NumKinds]string{"fixed", "aimd", "gradient2", "vegas"}

// KindNames lists the kinds' names in the order of their values.
func KindNames() []string { return kindNames[:] }

// String is the kind's name.
func (k Kind) String() string {
	if int(k) >= NumKinds {
		return fmt.Sprintf("unknown(%d)", k)
	}
	return kindNames[k]
}

// Config is a limit's law and its figures. A figure of 0 is the kind's own, as
// the package comment has it, so that Config{Kind: k} is complete. Figures that
// a kind does not use are ignored. A change takes effect at the next call: new
// bounds at once, a new Limit of a kind that moves only where it begins.
type Config struct {
	Kind Kind
	// Limit is the limit of Fixed, where 0 is unlimited, and where the other
	// kinds begin.
	Limit int
	// Min and Max bound a limit that moves. Min is at least 1; where it is
	// more than Max, it is Max.
	Min, Max int
	// Timeout is how long an attempt may take before aimd counts it as dropped.
	Timeout time.Duration
	// Backoff is what aimd multiplies the limit with after a drop, in
	// thousandths up to 1000.
	Backoff int64
	// Smoothing is the weight of a new limit beside the one before, in
	// thousandths up to 1000 (gradient2, vegas).
	Smoothing int64
	// Queue is how many attempts gradient2 lets wait at the server.
	Queue int
	// LongWindow is how many samples gradient2's long average spans.
	LongWindow int
	// Tolerance is how much longer than the long average a time may be before
	// gradient2 lowers the limit, in thousandths of it.
	Tolerance int64
	// Probe is after how many samples, in limits, vegas takes the next sample
	// for the best time.
	Probe int
}

var own = [NumKinds]Config{
	AIMD: {Limit: 20, Min: 20, Max: 200, Timeout: 5 * time.Second, Backoff: 900},
	Gradient2: {
		Limit: 20, Min: 20, Max: 200, Smoothing: 200, Queue: 4, LongWindow: 600, Tolerance: 1500,
	},
	Vegas: {Limit: 20, Min: 1, Max: 1000, Smoothing: 1000, Probe: 30},
}

// Effective is the configuration with every figure filled in that its kind
// uses, and 0 for the others. An unknown kind is Fixed, a negative figure the
// kind's own.
func (c Config) Effective() Config {
	if c.Kind == Fixed || int(c.Kind) >= NumKinds {
		return Config{Limit: max(c.Limit, 0)}
	}
	d := &own[c.Kind]
	e := Config{
		Kind:       c.Kind,
		Limit:      or(c.Limit, d.Limit),
		Min:        or(c.Min, d.Min),
		Max:        or(c.Max, d.Max),
		Timeout:    or(c.Timeout, d.Timeout),
		Backoff:    min(or(c.Backoff, d.Backoff), 1000),
		Smoothing:  min(or(c.Smoothing, d.Smoothing), 1000),
		Queue:      or(c.Queue, d.Queue),
		LongWindow: or(c.LongWindow, d.LongWindow),
		Tolerance:  or(c.Tolerance, d.Tolerance),
		Probe:      or(c.Probe, d.Probe),
	}
	e.Min = min(e.Min, e.Max)
	return e
}

// or is a figure, or the kind's own, which is 0 where the kind does not use it.
func or[T ~int | ~int64](set, own T) T {
	if set <= 0 || own == 0 {
		return own
	}
	return set
}

func (c *Config) clamp(limit float64) float64 {
	return max(float64(c.Min), min(float64(c.Max), limit))
}

func (c *Config) clampInt(limit int) int { return max(c.Min, min(c.Max, limit)) }
