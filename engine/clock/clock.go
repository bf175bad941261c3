// Package clock holds the two things that every machine means by time: the
// Instant, and queues that are ordered by one.
//
// Nothing here reads a clock. Time is an argument everywhere under engine, so
// that the same machines run in virtual time and against the wall clock. The
// package imports nothing of this module.
package clock

import (
	"math"
	"time"
)

// Instant is a moment on the run clock, in nanoseconds since the run began. A
// negative Instant lies before the run.
type Instant int64

// Never is later than every moment of a run. Arithmetic saturates at it.
const Never Instant = math.MaxInt64

// Add returns the moment d after t. It saturates at Never, and at the earliest
// Instant, so that an absurd delay can never wrap into the past.
func (t Instant) Add(d time.Duration) Instant {
	sum := t + Instant(d)
	switch {
	case d > 0 && sum < t:
		return Never
	case d < 0 && sum > t:
		return math.MinInt64
	}
	return sum
}

// Sub returns the time from u to t; it saturates at the ends of time.Duration.
func (t Instant) Sub(u Instant) time.Duration {
	diff := t - u
	switch {
	case u < 0 && diff < t:
		return math.MaxInt64
	case u > 0 && diff > t:
		return math.MinInt64
	}
	return time.Duration(diff)
}

// Duration is the time from the start of the run to t.
func (t Instant) Duration() time.Duration { return time.Duration(t) }

// Seconds is the time from the start of the run to t, in seconds.
func (t Instant) Seconds() float64 { return time.Duration(t).Seconds() }

// Second is the number of whole run-clock seconds before t, rounded down.
func (t Instant) Second() int64 { return floorDiv(int64(t), int64(time.Second)) }

// Bin is the index of the bin of the given width that t falls in; bins are
// aligned to the start of the run, and those before it have negative indices.
// The width must be positive.
func (t Instant) Bin(width time.Duration) int64 { return floorDiv(int64(t), int64(width)) }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
