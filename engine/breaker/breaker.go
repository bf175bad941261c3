// Package breaker is a circuit breaker: it stops sending to a service that
// keeps failing, waits, tries again with few probes, and closes when they are
// good.
//
// A Breaker is a small value without clock, lock or goroutine; the time and the
// configuration are arguments, so that many share one Config and a change of it
// takes effect at the next decision. It imports only clock, rng and wire.
//
// The states and what leads from one to the next:
//
//	closed     a rule of the Config is met        -> open
//	open       the open time has passed           -> eligible
//	eligible   a caller asks, and gets a probe    -> half-open
//	half-open  Successes good probes              -> closed
//	half-open  a failed probe too many, or Probes
//	           leases that ran out                -> open
//	any        no rule is on                      -> closed
//	any        Mode says so                       -> forced-open, disabled,
//	                                                 metrics-only, and closed again
//
// The rules are failures in a row, a number of failures in a window, and the
// shares of failed and of slow calls in it; whichever is met first opens. They
// are judged when a call counts, not when time passes.
//
// Three rules keep it from getting stuck or being misled, as many breakers do:
//
// A result counts only in the generation in which its permit was given. Every
// transition begins a new one, so an old call that ends late neither closes nor
// reopens anything.
//
// A permit is good for one Report. A second one is counted as Spent and changes
// nothing.
//
// A probe that does not report holds its permit no longer than a lease. All
// probes in flight share one lease, which begins anew with each probe that
// starts. When it runs out, a new generation begins within the round: the
// permits are free again, and the results of those probes are late.
package breaker

import (
	"math"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// Permit is the right to send one attempt. It is good for one Report; the
// generation tells a late result from a timely one. The zero Permit is none.
type Permit struct {
	Generation uint32
	Probe      bool
	held       bool // not reported yet
	overdue    bool // counted by Overdue
}

// Held says whether the permit was given and still has to be reported.
func (p Permit) Held() bool { return p.held }

// Overdue says whether the permit's attempt was counted as slow by Overdue.
func (p Permit) Overdue() bool { return p.overdue }

// Result is what an attempt tells the breaker.
type Result uint8

// The results of an attempt. Neutral counts as neither: a cancelled attempt.
const (
	Success Result = iota
	Failure
	Neutral
)

// Call is what the breaker is told of an attempt that has ended.
type Call struct {
	Result Result
	// Took is how long it took; only the rule for slow calls reads it.
	Took time.Duration
	// NotBefore is the moment that its Retry-After named, if it had one; only
	// OpenHint reads it. A moment that has passed is none.
	NotBefore clock.Instant
}

// Change is one transition. One from and to MetricsOnly is a rule that was met
// and would have opened the breaker.
type Change struct {
	At       clock.Instant
	From, To wire.BreakerState
	Cause    wire.Cause
}

// Breaker is one circuit breaker. The zero Breaker is closed and ready. It must
// not be copied once it is in use, nor shared between goroutines.
type Breaker struct {
	since  clock.Instant // when the state began; half-open: the youngest probe's start
	until  clock.Instant // when Tick matters; only if timed
	hint   clock.Instant // open: a Retry-After, if later than since
	key    uint64        // of the draws
	window *window       // nil until a rule needs it
	// generation counts transitions and leases that ran out; it may wrap.
	generation uint32
	late       uint32
	spent      uint32
	trips      uint32 // in all; it numbers the draws
	flaps      uint32
	failures   int32 // closed: consecutive failures
	overdue    int32 // closed: calls in flight that are slow already
	inFlight   int16 // half-open: probes without a result
	good       int16 // half-open: probes that succeeded in this round
	bad        int16 // half-open: probes that failed in this round
	expired    int16 // half-open: probes whose lease ran out in this round
	streak     uint8 // openings since it was last closed for Stable; saturates
	state      wire.BreakerState
	timed      bool
}

// New is a closed breaker whose open times are drawn under the key: breakers
// with different keys do not come back together, if the Config has a jitter.
func New(key uint64) Breaker { return Breaker{key: key} }

// State is the breaker's state as of the last call that was given a time.
func (b *Breaker) State() wire.BreakerState { return b.state }

// Late is how many results came from an earlier generation and so changed
// nothing. It wraps.
func (b *Breaker) Late() uint32 { return b.late }

// Spent is how many results came with a permit that had been reported before or
// was never given: each is a mistake of the caller's, and changed nothing. It
// wraps.
func (b *Breaker) Spent() uint32 { return b.spent }

// Trips is how often the breaker has opened, after failed probes included. It
// wraps.
func (b *Breaker) Trips() uint32 { return b.trips }

// Flaps is how often it opened again before it had been closed for Stable. It
// wraps.
func (b *Breaker) Flaps() uint32 { return b.flaps }

// Remaining is how long the breaker stays open from now: a call that is refused
// has no chance before. It is the longest Duration if the breaker is forced
// open, and 0 in all other states, so also where a half-open one has no probe
// left to give.
func (b *Breaker) Remaining(now clock.Instant) time.Duration {
	switch b.state {
	case wire.Open:
		return max(0, b.until.Sub(now))
	case wire.ForcedOpen:
		return math.MaxInt64
	}
	return 0
}

// Refuses says whether Allow would refuse at the time of the last call that was
// given one. It asks for nothing.
func (b *Breaker) Refuses(c *Config) bool {
	switch b.state {
	case wire.Open, wire.ForcedOpen:
		return true
	case wire.HalfOpen:
		return b.started() >= c.probes()
	}
	return false
}

// started is how many probes of the round count as started.
func (b *Breaker) started() int16 { return b.good + b.bad + b.inFlight }

// Deadline is the next instant at which Tick matters; false if there is none.
// It may change with every call of Allow, Overdue, Report and Tick.
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
	if b.Refuses(c) {
		return Permit{}, false, out
	}
	if b.state == wire.Eligible {
		out = b.change(now, wire.HalfOpen, wire.CauseElapsed, out)
	}
	p := Permit{Generation: b.generation, held: true}
	if b.state == wire.HalfOpen {
		p.Probe = true
		b.inFlight++
		b.since = now
		b.schedule(c)
	}
	return p, true, out
}

// Report tells the result of an attempt that was allowed, and takes its permit
// back. Transitions are appended to out. After a neutral probe the next caller
// may probe at once.
func (b *Breaker) Report(
	now clock.Instant, c *Config, p *Permit, call Call, out []Change,
) []Change {
	if !p.held {
		b.spent++
		return out
	}
	p.held = false
	out = b.Tick(now, c, out)
	switch {
	case p.Generation != b.generation || p.Probe && p.overdue:
		b.late++
		return out
	case p.Probe:
		return b.reportProbe(now, c, call, out)
	case p.overdue:
		b.overdue--
	}
	return b.reportCall(now, c, call, out)
}

// Overdue tells that the attempt of a permit has been in flight for SlowAfter,
// and counts it as slow until it is reported, if SlowInFlight asks for that.
// A probe has failed by it. Transitions are appended to out.
func (b *Breaker) Overdue(now clock.Instant, c *Config, p *Permit, out []Change) []Change {
	out = b.Tick(now, c, out)
	ignored := b.state == wire.Disabled || !c.SlowInFlight || !c.judgesSlow()
	if ignored || !p.held || p.overdue || p.Generation != b.generation {
		return out
	}
	p.overdue = true
	if p.Probe {
		return b.reportProbe(now, c, Call{Result: Failure}, out)
	}
	b.overdue++
	return b.judge(now, c, 0, out)
}

// Tick brings the breaker up to now: an open time or a lease that is over, and
// a changed configuration. One that comes early changes nothing. Transitions
// are appended to out.
func (b *Breaker) Tick(now clock.Instant, c *Config, out []Change) []Change {
	out, imposed := b.follow(now, c.Mode, out)
	b.reshape(c)
	if !c.hasRule() {
		b.failures = 0
	}
	switch {
	case imposed:
		return out
	case !c.hasRule():
		return b.off(now, out)
	}
	b.schedule(c)
	if b.state == wire.HalfOpen {
		return b.tickRound(now, c, out)
	}
	if b.state == wire.Open && now >= b.until {
		return b.change(now, wire.Eligible, wire.CauseElapsed, out)
	}
	return out
}

// follow enters or leaves the state that a mode imposes, and says whether one
// is imposed now. What came before it has nothing to do with what comes after.
func (b *Breaker) follow(now clock.Instant, m Mode, out []Change) ([]Change, bool) {
	want, imposed := m.state()
	leaves := !imposed && b.state >= wire.ForcedOpen
	if leaves || imposed && b.state != want {
		b.streak = 0
		out = b.change(now, want, wire.CauseMode, out)
	}
	return out, imposed
}

// counts says whether calls count in this state.
func (b *Breaker) counts() bool { return b.state == wire.Closed || b.state == wire.MetricsOnly }

// reshape drops a window that no rule needs any more, and replaces one of
// another kind or size: what it counts and is in flight is late then.
func (b *Breaker) reshape(c *Config) {
	if b.window == nil {
		return
	}
	switch s := c.shape(); s {
	case b.window.shape:
	case shape{}:
		b.window = nil
	default:
		b.window = newWindow(s)
		if b.counts() {
			b.generation++
			b.overdue = 0
		}
	}
}

func (b *Breaker) reportCall(now clock.Instant, c *Config, call Call, out []Change) []Change {
	if call.Result == Neutral || !b.counts() || !c.hasRule() {
		return out
	}
	failed := call.Result == Failure
	if failed {
		b.failures = min(b.failures, math.MaxInt32-1) + 1
	} else {
		b.failures = 0
	}
	if c.hasWindow() {
		if b.window == nil {
			b.window = newWindow(c.shape())
		}
		b.window.add(now, failed, c.slow(call.Took))
	}
	return b.judge(now, c, call.NotBefore, out)
}

// judge opens the breaker if a rule is met; where it may not open, it tells so
// and begins to count anew as if it had.
func (b *Breaker) judge(
	now clock.Instant, c *Config, hint clock.Instant, out []Change,
) []Change {
	cause := b.met(now, c)
	switch {
	case cause == wire.CauseNone:
		return out
	case b.state == wire.MetricsOnly:
		return b.change(now, wire.MetricsOnly, cause, out)
	}
	return b.open(now, c, cause, hint, out)
}

// met is the rule that is met now; CauseNone if none is.
func (b *Breaker) met(now clock.Instant, c *Config) wire.Cause {
	if c.Failures > 0 && int(b.failures) >= c.Failures {
		return wire.CauseThreshold
	}
	if !c.hasWindow() {
		return wire.CauseNone
	}
	t, least := b.window.tally(now), c.minCalls()
	judged, slow := t.calls, t.slow
	if c.SlowInFlight {
		judged, slow = judged+int64(b.overdue), slow+int64(b.overdue)
	}
	switch {
	case c.WindowFailures > 0 && t.failed >= int64(c.WindowFailures):
		return wire.CauseThreshold
	case t.calls >= least && reaches(t.failed, t.calls, c.FailureRate):
		return wire.CauseFailureRate
	case judged >= least && c.judgesSlow() && reaches(slow, judged, c.SlowRate):
		return wire.CauseSlowRate
	}
	return wire.CauseNone
}

// off closes a breaker that has been switched off.
func (b *Breaker) off(now clock.Instant, out []Change) []Change {
	if b.state == wire.Closed {
		return out
	}
	b.streak = 0
	return b.change(now, wire.Closed, wire.CauseNone, out)
}

// Retire takes the breaker out of use: it closes, forgets what it has counted,
// and what is in flight will be late. A transition is appended to out.
func (b *Breaker) Retire(now clock.Instant, out []Change) []Change {
	was, before := b.state, len(out)
	b.streak = 0
	out = b.change(now, wire.Closed, wire.CauseMode, out)
	if was == wire.Closed {
		return out[:before]
	}
	return out
}

// change enters a state with everything that belongs to the old one forgotten.
func (b *Breaker) change(
	now clock.Instant, to wire.BreakerState, cause wire.Cause, out []Change,
) []Change {
	out = append(out, Change{At: now, From: b.state, To: to, Cause: cause})
	b.window.empty()
	*b = Breaker{
		state: to, since: now, generation: b.generation + 1, key: b.key, window: b.window,
		late: b.late, spent: b.spent, trips: b.trips, flaps: b.flaps, streak: b.streak,
	}
	return out
}

// schedule sets the deadline from the state and the configuration, which may
// have changed since.
func (b *Breaker) schedule(c *Config) {
	b.timed, b.until = false, 0
	switch {
	case b.state == wire.Open:
		b.timed, b.until = true, b.openUntil(c)
	case b.state == wire.HalfOpen && b.inFlight > 0 && c.lease() > 0:
		b.timed, b.until = true, b.since.Add(c.lease())
	}
}
