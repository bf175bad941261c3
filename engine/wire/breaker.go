package wire

import "herdscope/engine/clock"

// BreakerDetail is what a breaker knows beyond its state.
type BreakerDetail struct {
	// Until is when an open breaker lets a probe through; clock.Never in all other
	// states, and if only a setting can end it.
	Until clock.Instant
	// Failures is how many failures in a row there were while it was closed.
	Failures int32
	// Calls, Failed and Slow are the calls in its window; 0 if no rule needs one.
	Calls, Failed, Slow int64
	// Size is how many calls the window holds at most, 0 if it is one over time;
	// Least is how many it takes for a share of them to be judged.
	Size, Least int64
	// Trips is how often it has opened, Flaps how often of these before it had been
	// closed for long enough to count as stable.
	Trips, Flaps uint32
}
