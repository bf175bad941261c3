// Package backoff computes how long to wait before a retry: a curve that grows
// with the number of the retry, a cap, and a jitter.
//
// It is pure: the random draw is an argument. It imports only clock, rng and
// wire.
package backoff

import "time"

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

// Config is a delay rule.
type Config struct {
	Curve  Curve
	Jitter Jitter
	// Base is the ceiling of the first retry.
	Base time.Duration
	// Cap bounds every delay. It is applied before the jitter, save for
	// Decorrelated, which AWS defines the other way round.
	Cap time.Duration
	// Multiplier is the growth of Exponential per retry, in thousandths.
	Multiplier int64
}
