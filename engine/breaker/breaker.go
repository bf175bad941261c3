// Package breaker is a circuit breaker: it stops sending to a service that
// keeps failing, waits, tries again with few probes, and closes when they are
// good.
//
// A Breaker is a small value without clock, lock or goroutine; the time and the
// configuration are arguments, so that many share one Config and a change of it
// takes effect at the next decision. It imports only clock and wire.
package breaker

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// Config is when a breaker opens and how it closes again.
type Config struct {
	// Failures is how many consecutive failures open the breaker; 0 is off.
	Failures int
	// OpenFor is how long it stays open before probes may go out.
	OpenFor time.Duration
	// Probes is how many probes one half-open round may start, and so also
	// how many may be in flight together.
	Probes int
	// Successes is how many probes in a row must succeed to close it; at most
	// Probes.
	Successes int
}

// Permit is the right to send one attempt. It is good for one Report; the
// generation tells a late result from a timely one.
type Permit struct {
	Generation uint32
	Probe      bool
}

// Result is what an attempt tells the breaker.
type Result uint8

// The results of an attempt. Neutral counts as neither: a cancelled attempt.
const (
	Success Result = iota
	Failure
	Neutral
)

// Change is one transition.
type Change struct {
	At       clock.Instant
	From, To wire.BreakerState
	Cause    wire.Cause
}
