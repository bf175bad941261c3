package breaker

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/rng"
	"herdscope/engine/wire"
)

// twin is a breaker written for obviousness: it keeps every permit it gave as
// an object, every result it was told, and works the rest out anew each time.
type twin struct {
	state   wire.BreakerState
	entered clock.Instant
	hint    clock.Instant
	calls   []*ticket // given while calls count or pass, in this generation
	probes  []*ticket // given in this round
	results []record  // of calls, since a transition or since a rule was switched on
	window  []record  // of calls, since the window began
	shape   string    // of the window, once it has begun
	late    uint32
	trips   uint32
	flaps   uint32
	streak  int
	changes []Change
}

type record struct {
	at           clock.Instant
	failed, slow bool
}

type ticket struct {
	start   clock.Instant
	fate    fate
	result  Result
	slow    bool
	overdue bool
}

type fate int

const (
	outstanding fate = iota
	reported
	lapsed // the lease ran out
	stale  // the breaker has moved on
)

func count[T any](all []T, is func(T) bool) (n int) {
	for _, x := range all {
		if is(x) {
			n++
		}
	}
	return n
}

func inFlight(p *ticket) bool  { return p.fate == outstanding }
func isLapsed(p *ticket) bool  { return p.fate == lapsed }
func isGood(p *ticket) bool    { return p.fate == reported && p.result == Success && !p.slow }
func isOverdue(p *ticket) bool { return p.fate == outstanding && p.overdue }
func isBad(p *ticket) bool {
	return p.fate == reported && (p.result == Failure || p.result == Success && p.slow)
}

func (w *twin) outdate() {
	for _, p := range append(w.calls, w.probes...) {
		if p.fate == outstanding {
			p.fate = stale
		}
	}
	w.calls, w.probes = nil, nil
}

func (w *twin) enter(now clock.Instant, to wire.BreakerState, why wire.Cause) {
	w.changes = append(w.changes, Change{now, w.state, to, why})
	w.outdate()
	w.results, w.window = nil, nil
	w.state, w.entered = to, now
}

func (w *twin) open(now clock.Instant, c *Config, why wire.Cause, hint clock.Instant) {
	if w.state == wire.Closed && now.Sub(w.entered) >= c.Stable {
		w.streak = 0
	} else if w.state == wire.Closed && w.streak > 0 {
		w.flaps++
	}
	w.enter(now, wire.Open, why)
	w.hint = hint
	w.trips++
	w.streak++
}

// openEnd is when the open time ends; a month and more is never, to this model.
func (w *twin) openEnd(c *Config) clock.Instant {
	const month = 30 * 24 * time.Hour
	d := c.OpenFor
	for range w.streak - 1 {
		if c.OpenGrowth > 1000 && (c.OpenMax == 0 || d < c.OpenMax) && d < month {
			d = d * time.Duration(c.OpenGrowth) / 1000
		}
	}
	if d >= month && c.OpenMax == 0 {
		return clock.Never
	}
	if asked := w.hint.Sub(w.entered); c.OpenHint && asked > d {
		d = asked
	}
	if c.OpenMax > 0 && d > c.OpenMax {
		d = c.OpenMax
	}
	u := rng.At(0, rng.BreakerOpen, uint64(w.trips), 0, 0)
	return w.entered.Add(d + rng.Scale(u, d*time.Duration(c.OpenJitter)/1000))
}

// leaseEnd is when the lease of the probes in flight ends.
func (w *twin) leaseEnd(c *Config) (clock.Instant, bool) {
	if count(w.probes, inFlight) == 0 {
		return clock.Never, false
	}
	lease := c.Lease
	if lease == 0 {
		lease = c.OpenFor
	}
	return w.probes[len(w.probes)-1].start.Add(lease), true
}

func windowRule(c *Config) bool {
	return c.WindowFailures > 0 || c.FailureRate > 0 || slowRule(c)
}

func slowRule(c *Config) bool { return c.SlowRate > 0 && c.SlowAfter > 0 }

func anyRule(c *Config) bool { return c.Failures > 0 || windowRule(c) }

func shapeText(c *Config) string {
	if c.Window == TimeWindow {
		return "the last " + c.WindowTime.String()
	}
	return "the last calls" + time.Duration(c.WindowCalls).String()
}

// heedMode says whether a mode has the breaker in a state of its own.
func (w *twin) heedMode(now clock.Instant, c *Config) bool {
	imposed := map[Mode]wire.BreakerState{
		ForcedOpen: wire.ForcedOpen, Disabled: wire.Disabled, MetricsOnly: wire.MetricsOnly,
	}
	if want, ok := imposed[c.Mode]; ok {
		if w.state != want {
			w.enter(now, want, wire.CauseMode)
			w.streak = 0
		}
		return true
	}
	for _, s := range imposed {
		if w.state == s {
			w.enter(now, wire.Closed, wire.CauseMode)
			w.streak = 0
			break
		}
	}
	return false
}

func (w *twin) counting() bool { return w.state == wire.Closed || w.state == wire.MetricsOnly }

func (w *twin) heedShape(c *Config) {
	switch {
	case w.shape == "":
	case !windowRule(c):
		w.window, w.shape = nil, ""
	case w.shape != shapeText(c):
		w.window, w.shape = nil, shapeText(c)
		if w.counting() {
			w.outdate()
		}
	}
}

func (w *twin) catchUp(now clock.Instant, c *Config) {
	imposed := w.heedMode(now, c)
	w.heedShape(c)
	if !anyRule(c) {
		w.results = nil
	}
	switch {
	case imposed:
	case !anyRule(c):
		if w.state != wire.Closed {
			w.enter(now, wire.Closed, wire.CauseNone)
			w.streak = 0
		}
	case w.state == wire.Open && now >= w.openEnd(c):
		w.enter(now, wire.Eligible, wire.CauseElapsed)
	case w.state == wire.HalfOpen:
		w.catchUpRound(now, c)
	}
}

func (w *twin) catchUpRound(now clock.Instant, c *Config) {
	w.decide(now, c, 0)
	end, ok := w.leaseEnd(c)
	if w.state != wire.HalfOpen || !ok || now < end {
		return
	}
	for _, p := range w.probes {
		if p.fate == outstanding {
			p.fate = lapsed
		}
	}
	if count(w.probes, isLapsed) >= c.Probes {
		w.open(now, c, wire.CauseLease, 0)
	}
}

func (w *twin) decide(now clock.Instant, c *Config, hint clock.Instant) {
	needed := min(c.Successes, c.Probes)
	mayFail := 0
	if c.Verdict == OfRound {
		mayFail = c.Probes - needed
	}
	if count(w.probes, isGood) >= needed {
		w.enter(now, wire.Closed, wire.CauseProbe)
	} else if count(w.probes, isBad) > mayFail {
		w.open(now, c, wire.CauseProbe, hint)
	}
}

func (w *twin) allow(now clock.Instant, c *Config) *ticket {
	w.catchUp(now, c)
	t := &ticket{start: now}
	switch w.state {
	case wire.Open, wire.ForcedOpen:
		return nil
	case wire.Eligible:
		w.enter(now, wire.HalfOpen, wire.CauseElapsed)
	case wire.HalfOpen:
		started := count(w.probes, inFlight) + count(w.probes, isGood) + count(w.probes, isBad)
		if started >= c.Probes {
			return nil
		}
	default:
		w.calls = append(w.calls, t)
		return t
	}
	w.probes = append(w.probes, t)
	return t
}

func (w *twin) overdue(now clock.Instant, c *Config, t *ticket) {
	w.catchUp(now, c)
	off := w.state == wire.Disabled || !c.SlowInFlight || !slowRule(c)
	if off || t.fate != outstanding || t.overdue {
		return
	}
	t.overdue = true
	if w.state != wire.HalfOpen {
		w.judge(now, c, 0)
		return
	}
	t.fate, t.result = reported, Failure
	w.decide(now, c, 0)
}

func (w *twin) report(now clock.Instant, c *Config, t *ticket, call Call) {
	w.catchUp(now, c)
	if t.fate != outstanding {
		w.late++
		return
	}
	t.slow = slowRule(c) && call.Took >= c.SlowAfter
	t.fate, t.result = reported, call.Result
	if w.state == wire.HalfOpen {
		w.decide(now, c, call.NotBefore)
		return
	}
	if call.Result == Neutral || !w.counting() || !anyRule(c) {
		return
	}
	r := record{now, call.Result == Failure, t.slow}
	w.results = append(w.results, r)
	if windowRule(c) {
		w.window, w.shape = append(w.window, r), shapeText(c)
	}
	w.judge(now, c, call.NotBefore)
}

func (w *twin) judge(now clock.Instant, c *Config, hint clock.Instant) {
	switch cause := w.met(now, c); {
	case cause == wire.CauseNone:
	case w.state == wire.MetricsOnly:
		w.enter(now, wire.MetricsOnly, cause)
	default:
		w.open(now, c, cause, hint)
	}
}

// recount is the calls in the window, counted one by one.
func (w *twin) recount(now clock.Instant, c *Config) []record {
	if c.Window == CountWindow {
		return w.window[max(0, len(w.window)-c.WindowCalls):]
	}
	var in []record
	width := c.WindowTime / Buckets
	for _, r := range w.window {
		if now.Bin(width)-r.at.Bin(width) < Buckets {
			in = append(in, r)
		}
	}
	return in
}

func (w *twin) met(now clock.Instant, c *Config) wire.Cause {
	run := 0
	for _, r := range w.results {
		if run++; !r.failed {
			run = 0
		}
	}
	in := w.recount(now, c)
	failed := count(in, func(r record) bool { return r.failed })
	least := c.MinCalls
	if c.Window == CountWindow {
		least = min(least, c.WindowCalls)
	}
	hanging := 0
	if c.SlowInFlight {
		hanging = count(w.calls, isOverdue)
	}
	slow := count(in, func(r record) bool { return r.slow }) + hanging
	switch {
	case c.Failures > 0 && run >= c.Failures,
		c.WindowFailures > 0 && failed >= c.WindowFailures:
		return wire.CauseThreshold
	case c.FailureRate > 0 && len(in) >= least && atLeast(failed, len(in), c.FailureRate):
		return wire.CauseFailureRate
	case slowRule(c) && len(in)+hanging >= least && atLeast(slow, len(in)+hanging, c.SlowRate):
		return wire.CauseSlowRate
	}
	return wire.CauseNone
}

func atLeast(part, all int, rate int64) bool { return int64(part)*1000 >= int64(all)*rate }
