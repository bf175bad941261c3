package breaker

import (
	"fmt"
	"math"
	"time"

	"herdscope/engine/wire"
)

// Config is when a breaker opens, for how long, and how it closes again. The
// zero Config is a breaker that is off: no rule can open it.
type Config struct {
	// Mode switches the rules off or overrules them. A change of it begins a
	// new generation: what is in flight becomes late, and windows are emptied.
	Mode Mode
	// Placement is whether each attempt asks and reports, or each request once.
	// It is for whoever drives the breaker, who must keep to it.
	Placement Placement
	// WhenOpen is what becomes of a call that finds no way through. It is for
	// whoever drives the breaker.
	WhenOpen WhenOpen
	// Shared is whether all clients have one breaker for each scope, or each has
	// its own. It is for whoever drives the breakers; see Retire.
	Shared bool

	// Failures is how many consecutive failures open the breaker; 0 is off.
	Failures int

	// Window is what the rules below count over. A change of the kind, or of
	// the size in use, begins a new window, and a new generation with it; a
	// change of a threshold keeps the window.
	Window Window
	// WindowCalls is how many of the last calls a CountWindow holds; 0 is
	// DefaultWindowCalls.
	WindowCalls int
	// WindowTime is how far back a TimeWindow reaches, in Buckets of equal
	// length, the present one included; 0 is DefaultWindowTime.
	WindowTime time.Duration
	// WindowFailures opens the breaker when the window holds that many
	// failures, whatever else it holds; 0 is off.
	WindowFailures int
	// FailureRate opens it when that share of the window's calls has failed, in
	// thousandths; 0 is off.
	FailureRate int64
	// SlowRate opens it when that share of the window's calls was slow, in
	// thousandths; 0 is off. It then also judges probes: a slow one has failed.
	SlowRate int64
	// SlowAfter is from when on a call is slow, failed or not; 0 is never.
	SlowAfter time.Duration
	// SlowInFlight has SlowRate count calls that are slow already and still in
	// flight, as if they had ended; a service that only hangs trips no other
	// rule. It needs calls of Overdue.
	SlowInFlight bool
	// MinCalls is how many calls the two rates need before they are judged; 0
	// is DefaultMinCalls. More than a CountWindow holds is its size.
	MinCalls int

	// OpenFor is how long it stays open before probes may go out.
	OpenFor time.Duration
	// OpenGrowth multiplies the open time each time that the breaker opens
	// again, in thousandths; 1000 or less is none.
	OpenGrowth int64
	// OpenMax bounds the open time before the jitter, also one that was asked
	// for by a Retry-After; 0 is no bound.
	OpenMax time.Duration
	// OpenJitter draws each open time from this share above it, in thousandths,
	// so that many clients do not probe together.
	OpenJitter int64
	// OpenHint keeps it open at least until the moment that a Retry-After of
	// the result that opened it named.
	OpenHint bool
	// Stable is how long it must have been closed for OpenGrowth to begin anew;
	// 0 is that every closing does that.
	Stable time.Duration

	// Lease is how long a probe may hold its permit; 0 is OpenFor. If that is 0
	// too, for ever.
	Lease time.Duration
	// Probes is how many probes one half-open round may start, and so also
	// how many may be in flight together. One that ended neutral, or whose
	// lease ran out, does not count as started. Less than 1 is 1.
	Probes int
	// Successes is how many probes of a round must succeed to close it. Less
	// than 1 is 1, more than Probes is Probes.
	Successes int
	// Verdict is which failed probe opens it again.
	Verdict Verdict
}

// Buckets is how many parts a TimeWindow has; a whole one leaves it at a time.
const Buckets = 10

// What a Config's zeros stand for. The window of 100 calls is resilience4j's;
// 10 s and at least 20 calls are Hystrix's.
const (
	DefaultWindowCalls = 100
	DefaultWindowTime  = 10 * time.Second
	DefaultMinCalls    = 20
)

// Mode is whether the rules decide.
type Mode uint8

// The modes, after resilience4j.
const (
	// Normal lets the rules decide.
	Normal Mode = iota
	// ForcedOpen refuses everything.
	ForcedOpen
	// Disabled lets everything through and counts nothing.
	Disabled
	// MetricsOnly lets everything through, and tells when a rule would have
	// opened the breaker: by a Change from and to that state.
	MetricsOnly
)

var modeNames = []string{"normal", "forced_open", "disabled", "metrics_only"}

// ModeNames lists the modes' names in the order of their values.
func ModeNames() []string { return modeNames }

// String is the mode's name.
func (m Mode) String() string { return nameOf(modeNames, int(m)) }

// state is the state that a mode imposes; false if it leaves that to the rules.
func (m Mode) state() (wire.BreakerState, bool) {
	switch m {
	case ForcedOpen:
		return wire.ForcedOpen, true
	case Disabled:
		return wire.Disabled, true
	case MetricsOnly:
		return wire.MetricsOnly, true
	}
	return wire.Closed, false
}

// Placement is where the breaker stands relative to the retries.
type Placement uint8

// The placements.
const (
	// PerAttempt has the retries outside: every attempt asks, and counts.
	PerAttempt Placement = iota
	// PerRequest has the retries inside: a request asks once, and counts once,
	// with its last result.
	PerRequest
)

var placementNames = []string{"attempt", "request"}

// PlacementNames lists the placements' names in the order of their values.
func PlacementNames() []string { return placementNames }

// String is the placement's name.
func (p Placement) String() string { return nameOf(placementNames, int(p)) }

// WhenOpen is what becomes of a call that finds no way through.
type WhenOpen uint8

// The ways to deal with an open breaker.
const (
	// Reject ends the request at once.
	Reject WhenOpen = iota
	// Wait leaves it in its queue until the breaker lets it through.
	Wait
)

var whenOpenNames = []string{"reject", "wait"}

// WhenOpenNames lists their names in the order of their values.
func WhenOpenNames() []string { return whenOpenNames }

// String is its name.
func (w WhenOpen) String() string { return nameOf(whenOpenNames, int(w)) }

// Window is what rates are counted over.
type Window uint8

// The windows.
const (
	// CountWindow holds the last calls, however long ago they were.
	CountWindow Window = iota
	// TimeWindow holds the calls of the last time, however many they are.
	TimeWindow
)

var windowNames = []string{"count", "time"}

// WindowNames lists the windows' names in the order of their values.
func WindowNames() []string { return windowNames }

// String is the window's name.
func (w Window) String() string { return nameOf(windowNames, int(w)) }

// Verdict is which failed probe ends a half-open round.
type Verdict uint8

// The verdicts.
const (
	// InARow opens at the first failed probe.
	InARow Verdict = iota
	// OfRound opens as soon as so many probes have failed that those left of
	// the round are too few for Successes.
	OfRound
)

var verdictNames = []string{"in_a_row", "of_round"}

// VerdictNames lists the verdicts' names in the order of their values.
func VerdictNames() []string { return verdictNames }

// String is the verdict's name.
func (v Verdict) String() string { return nameOf(verdictNames, int(v)) }

func nameOf(names []string, i int) string {
	if i >= len(names) {
		return fmt.Sprintf("unknown(%d)", i)
	}
	return names[i]
}

// On says whether anything can keep this breaker from letting calls through.
func (c *Config) On() bool {
	switch c.Mode {
	case ForcedOpen:
		return true
	case Disabled, MetricsOnly:
		return false
	}
	return c.hasRule()
}

func (c *Config) hasRule() bool { return c.Failures > 0 || c.hasWindow() }

// hasWindow says whether a rule needs the window.
func (c *Config) hasWindow() bool {
	return c.WindowFailures > 0 || c.FailureRate > 0 || c.judgesSlow()
}

func (c *Config) judgesSlow() bool { return c.SlowRate > 0 && c.SlowAfter > 0 }

// slow says whether a call of that length is slow.
func (c *Config) slow(took time.Duration) bool { return c.judgesSlow() && took >= c.SlowAfter }

// Good says whether a probe with that result counts as a success.
func (c *Config) Good(call Call) bool { return call.Result == Success && !c.slow(call.Took) }

// OverdueAfter is how long after Allow an attempt that is still in flight is to
// be told to Overdue; false if it need not be.
func (c *Config) OverdueAfter() (time.Duration, bool) {
	return c.SlowAfter, c.SlowInFlight && c.judgesSlow()
}

// shape is the window that the rules need, the zero shape if they need none.
func (c *Config) shape() shape {
	switch {
	case !c.hasWindow():
		return shape{}
	case c.Window == TimeWindow:
		d := c.WindowTime
		if d <= 0 {
			d = DefaultWindowTime
		}
		return shape{width: max(1, d/Buckets)}
	}
	return shape{calls: c.windowCalls()}
}

func (c *Config) windowCalls() int32 {
	if c.WindowCalls <= 0 {
		return DefaultWindowCalls
	}
	return int32(min(c.WindowCalls, math.MaxInt32))
}

// minCalls is how many calls a rate needs.
func (c *Config) minCalls() int64 {
	n := int64(c.MinCalls)
	if n <= 0 {
		n = DefaultMinCalls
	}
	if c.Window == CountWindow {
		n = min(n, int64(c.windowCalls()))
	}
	return n
}

func (c *Config) lease() time.Duration {
	if c.Lease > 0 {
		return c.Lease
	}
	return c.OpenFor
}

// The largest number of probes that the counters of a round can hold.
const maxProbes = math.MaxInt16

func (c *Config) probes() int16 { return int16(min(max(c.Probes, 1), maxProbes)) }

func (c *Config) successes() int16 {
	return min(int16(min(max(c.Successes, 1), maxProbes)), c.probes())
}

// tolerated is how many probes of a round may fail before it is decided.
func (c *Config) tolerated() int16 {
	if c.Verdict == OfRound {
		return c.probes() - c.successes()
	}
	return 0
}
