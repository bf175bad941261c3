package metrics

import (
	"time"

	"herdscope/engine/clock"
)

// Config is what a Collector must know of the run beforehand.
type Config struct {
	Clients int
	// Scopes is how many scopes, and so breakers, each client has.
	Scopes int
	// BreakersOn says that breakers are in use.
	BreakersOn bool
	// BreakersShared says that all clients have one breaker for each scope.
	// SetBreakersShared changes it.
	BreakersShared bool
	// Workers is the server's worker count; 0 is unlimited. SetWorkers changes
	// it.
	Workers int
	// Faults are the server's faults, in its order.
	Faults []FaultPlan
	// Base and Cap are the backoff's, for the periods in which synchrony is
	// looked for.
	Base, Cap time.Duration
	// EpochFraction is how far into a whole second of the wall clock the run
	// began; virtual runs begin on one.
	EpochFraction time.Duration
}

// FaultPlan is a fault's name and the length of its windows; Next tells when
// its first window after a moment begins, clock.Never if there is none.
type FaultPlan struct {
	Name   string
	Length time.Duration
	Next   func(clock.Instant) clock.Instant
}
