// Package breaker is a circuit breaker: it stops sending to a service that
// keeps failing, waits, tries again with few probes, and closes when they are
// good.
//
// A Breaker is a small value without clock, lock or goroutine; the time and the
// configuration are arguments, so that many share one Config and a change of it
// takes effect at the next decision. It imports only clock and wire.
//
// The states and what leads from one to the next:
//
//	closed     Failures consecutive failures      -> open
//	open       OpenFor has passed                 -> eligible
//	eligible   a caller asks, and gets a probe    -> half-open
//	half-open  Successes good probes              -> closed
//	half-open  one failed probe, or Probes leases
//	           that ran out                       -> open
//	any        Failures is 0                      -> closed
//
// Two rules keep it from getting stuck or being misled, as many breakers do:
//
// A result counts only in the generation in which its permit was given. Every
// transition begins a new one, so an old call that ends late neither closes nor
// reopens anything.
//
// A probe that does not report holds its permit no longer than a lease. All
// probes in flight share one lease of OpenFor, which begins anew with each probe
// that starts. When it runs out, a new generation begins within the round: the
// permits are free again, and the results of those probes are late.
package breaker

import (
	"math"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// Config is when a breaker opens and how it closes again.
type Config struct {
	// Failures is how many consecutive failures open the breaker; 0 is off.
	Failures int
	// OpenFor is how long it stays open before probes may go out. It is also
	// how long a probe may hold its permit; if it is 0, for ever.
	OpenFor time.Duration
	// Probes is how many probes one half-open round may start, and so also
	// how many may be in flight together. One that ended neutral, or whose
	// lease ran out, does not count as started. Less than 1 is 1.
	Probes int
	// Successes is how many probes in a row must succeed to close it. Less
	// than 1 is 1, more than Probes is Probes.
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

// Breaker is one circuit breaker. The zero Breaker is closed and ready. It must
// not be shared between goroutines.
type Breaker struct {
	since clock.Instant // open: when it opened; half-open: the youngest probe's start
	until clock.Instant // when Tick matters; only if timed
	// generation counts transitions and leases that ran out; it may wrap.
	generation uint32
	late       uint32
	failures   int32 // closed: consecutive failures
	inFlight   int32 // half-open: probes without a result
	good       int32 // half-open: probes that succeeded in this round
	expired    int32 // half-open: probes whose lease ran out in this round
	state      wire.BreakerState
	timed      bool
}

// State is the breaker's state as of the last call that was given a time.
func (b *Breaker) State() wire.BreakerState { return b.state }

// Late is how many results came from an earlier generation and so changed
// nothing. It wraps.
func (b *Breaker) Late() uint32 { return b.late }

// Remaining is how long the breaker stays open from now: a call that is refused
// has no chance before. It is 0 if the breaker is not open, and so also where a
// half-open one has no probe left to give.
func (b *Breaker) Remaining(now clock.Instant) time.Duration {
	if b.state != wire.Open {
		return 0
	}
	return max(0, b.until.Sub(now))
}

// Deadline is the next instant at which Tick matters; false if there is none.
// It may change with every call of Allow, Report and Tick.
func (b *Breaker) Deadline() (clock.Instant, bool) {
	if !b.timed || b.until == clock.Never {
		return clock.Never, false
	}
	return b.until, true
}

// Allow asks to send one attempt at now. If it may be sent, whoever asked must
// Report the permit's result. Transitions are appended to out.
func (b *Breaker) Allow(now clock.Instant, c *Config, out []Change) (Permit, bool, []Change) {
	out = b.Tick(now, c, out)
	switch {
	case b.state == wire.Closed:
		return Permit{Generation: b.generation}, true, out
	case b.state == wire.Eligible:
		out = b.change(now, wire.HalfOpen, wire.CauseElapsed, out)
	case b.state == wire.Open || b.good+b.inFlight >= c.probes():
		return Permit{}, false, out
	}
	b.inFlight++
	b.since = now
	b.schedule(c)
	return Permit{Generation: b.generation, Probe: true}, true, out
}

// Report tells the result of an attempt that was allowed; each permit is good
// for one report. Transitions are appended to out. After a neutral probe the
// next caller may probe at once.
func (b *Breaker) Report(
	now clock.Instant, c *Config, p Permit, r Result, out []Change,
) []Change {
	out = b.Tick(now, c, out)
	if p.Generation != b.generation || p.Probe && b.inFlight == 0 {
		b.late++
		return out
	}
	if p.Probe {
		return b.reportProbe(now, c, r, out)
	}
	return b.reportCall(now, c, r, out)
}

// Tick brings the breaker up to now: an open time or a lease that is over, and
// a changed configuration. One that comes early changes nothing. Transitions
// are appended to out.
func (b *Breaker) Tick(now clock.Instant, c *Config, out []Change) []Change {
	if c.Failures <= 0 {
		return b.off(now, out)
	}
	b.schedule(c)
	due := b.timed && now >= b.until
	switch {
	case b.state == wire.Open && due:
		return b.change(now, wire.Eligible, wire.CauseElapsed, out)
	case b.state == wire.HalfOpen && due:
		return b.expire(now, c, out)
	case b.state == wire.HalfOpen && b.good >= c.successes():
		return b.change(now, wire.Closed, wire.CauseProbe, out) // fewer are asked now
	}
	return out
}

func (b *Breaker) reportCall(now clock.Instant, c *Config, r Result, out []Change) []Change {
	switch r {
	case Success:
		b.failures = 0
	case Failure:
		if c.Failures <= 0 {
			return out
		}
		b.failures = min(b.failures, math.MaxInt32-1) + 1
		if int(b.failures) >= c.Failures {
			return b.open(now, c, wire.CauseThreshold, out)
		}
	}
	return out
}

func (b *Breaker) reportProbe(now clock.Instant, c *Config, r Result, out []Change) []Change {
	b.inFlight--
	switch r {
	case Success:
		b.good++
		if b.good >= c.successes() {
			return b.change(now, wire.Closed, wire.CauseProbe, out)
		}
	case Failure:
		return b.open(now, c, wire.CauseProbe, out)
	}
	b.schedule(c)
	return out
}

// expire takes the permits back from all probes in flight.
func (b *Breaker) expire(now clock.Instant, c *Config, out []Change) []Change {
	b.expired += b.inFlight
	if b.expired >= c.probes() {
		return b.open(now, c, wire.CauseLease, out)
	}
	b.inFlight = 0
	b.generation++
	b.schedule(c)
	return out
}

// off closes a breaker that has been switched off, and forgets its failures.
func (b *Breaker) off(now clock.Instant, out []Change) []Change {
	b.failures = 0
	if b.state == wire.Closed {
		return out
	}
	return b.change(now, wire.Closed, wire.CauseNone, out)
}

func (b *Breaker) open(now clock.Instant, c *Config, cause wire.Cause, out []Change) []Change {
	out = b.change(now, wire.Open, cause, out)
	b.since = now
	b.schedule(c)
	return out
}

// change enters a state with everything that belongs to the old one forgotten.
func (b *Breaker) change(
	now clock.Instant, to wire.BreakerState, cause wire.Cause, out []Change,
) []Change {
	out = append(out, Change{At: now, From: b.state, To: to, Cause: cause})
	*b = Breaker{state: to, generation: b.generation + 1, late: b.late}
	return out
}

// schedule sets the deadline from the state and the configuration, which may
// have changed since.
func (b *Breaker) schedule(c *Config) {
	leased := b.state == wire.HalfOpen && b.inFlight > 0 && c.OpenFor > 0
	b.timed = b.state == wire.Open || leased
	b.until = 0
	if b.timed {
		b.until = b.since.Add(max(0, c.OpenFor))
	}
}

func (c *Config) probes() int32 { return int32(min(max(c.Probes, 1), math.MaxInt32)) }

func (c *Config) successes() int32 {
	return min(int32(min(max(c.Successes, 1), math.MaxInt32)), c.probes())
}
