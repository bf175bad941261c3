package engine

import (
	"strconv"
	"time"

	"herdscope/engine/breaker"
	"herdscope/engine/knob"
)

// Limits of what a breaker can ask for.
const (
	maxWindowCalls = 10_000
	maxProbes      = 100
)

// breakerFields is the breaker's settings in the order in which a call meets
// them: whether rules decide, what opens it, for how long, what closes it.
func breakerFields() []knob.Field[Policy] {
	fields := append(breakerRoleFields(), breakerWindowFields()...)
	fields = append(fields, breakerSlowFields()...)
	fields = append(fields, breakerOpenFields()...)
	return append(fields, breakerProbeFields()...)
}

func breakerRoleFields() []knob.Field[Policy] {
	return []knob.Field[Policy]{
		knob.At(knob.Spec{
			Name: "breaker.failures", Kind: knob.Int, Unit: "failures",
			Min: 1, Max: 1000, Step: 1, Zero: "off",
			Doc: "how many failures in a row open a scope's breaker",
		}, func(p *Policy) *int { return &p.Breaker.Failures }),
		knob.At(knob.Spec{
			Name: "breaker.mode", Kind: knob.Choice, Choices: breaker.ModeNames(),
			Doc: "whether the rules decide, or all is refused, or all let through, counted or not",
		}, func(p *Policy) *breaker.Mode { return &p.Breaker.Mode }),
		knob.At(knob.Spec{
			Name: "breaker.placement", Kind: knob.Choice, Choices: breaker.PlacementNames(),
			Doc: "whether each attempt asks the breaker and counts, or each request once",
		}, func(p *Policy) *breaker.Placement { return &p.Breaker.Placement }),
		knob.At(knob.Spec{
			Name: "breaker.when_open", Kind: knob.Choice, Choices: breaker.WhenOpenNames(),
			Doc: "whether requests that find no way through end, or wait in their queue",
		}, func(p *Policy) *breaker.WhenOpen { return &p.Breaker.WhenOpen }),
		knob.AtBool(knob.Spec{
			Name: "breaker.shared", Kind: knob.Switch,
			Doc: "one breaker of a scope for the whole fleet, instead of one for each client",
		}, func(p *Policy) *bool { return &p.Breaker.Shared }),
	}
}

func breakerWindowFields() []knob.Field[Policy] {
	return []knob.Field[Policy]{
		knob.At(knob.Spec{
			Name: "breaker.window", Kind: knob.Choice, Choices: breaker.WindowNames(),
			Doc: "whether the rules below count over the last calls, or over the last time",
		}, func(p *Policy) *breaker.Window { return &p.Breaker.Window }),
		knob.At(knob.Spec{
			Name: "breaker.window_calls", Kind: knob.Int, Unit: "calls",
			Min: 1, Max: maxWindowCalls, Step: 10, Zero: "default",
			Doc: "how many calls a count window holds; default is " +
				strconv.Itoa(breaker.DefaultWindowCalls),
		}, func(p *Policy) *int { return &p.Breaker.WindowCalls }),
		knob.At(knob.Spec{
			Name: "breaker.window_time", Kind: knob.Duration,
			Min: leastTime, Max: maxBackoff, Step: int64(time.Second), Zero: "default",
			Doc: "how far back a time window reaches; default is " +
				breaker.DefaultWindowTime.String(),
		}, func(p *Policy) *time.Duration { return &p.Breaker.WindowTime }),
		knob.At(knob.Spec{
			Name: "breaker.window_failures", Kind: knob.Int, Unit: "failures",
			Min: 1, Max: maxWindowCalls, Step: 1, Zero: "off",
			Doc: "how many failures in the window open the breaker, whatever else is in it",
		}, func(p *Policy) *int { return &p.Breaker.WindowFailures }),
		knob.At(knob.Spec{
			Name: "breaker.failure_rate", Kind: knob.Ratio,
			Min: 1, Max: 1000, Step: 50, Zero: "off",
			Doc: "the share of failed calls in the window that opens the breaker",
		}, func(p *Policy) *int64 { return &p.Breaker.FailureRate }),
		knob.At(knob.Spec{
			Name: "breaker.min_calls", Kind: knob.Int, Unit: "calls",
			Min: 1, Max: maxWindowCalls, Step: 1, Zero: "default",
			Doc: "how many calls in the window a rate needs to be judged; default is " +
				strconv.Itoa(breaker.DefaultMinCalls),
		}, func(p *Policy) *int { return &p.Breaker.MinCalls }),
	}
}

func breakerSlowFields() []knob.Field[Policy] {
	return []knob.Field[Policy]{
		knob.At(knob.Spec{
			Name: "breaker.slow_rate", Kind: knob.Ratio,
			Min: 1, Max: 1000, Step: 50, Zero: "off",
			Doc: "the share of slow calls in the window that opens the breaker",
		}, func(p *Policy) *int64 { return &p.Breaker.SlowRate }),
		knob.At(knob.Spec{
			Name: "breaker.slow_after", Kind: knob.Duration,
			Min: leastTime, Max: maxBackoff, Step: int64(100 * time.Millisecond), Zero: "never",
			Doc: "from when on a call counts as slow",
		}, func(p *Policy) *time.Duration { return &p.Breaker.SlowAfter }),
		knob.AtBool(knob.Spec{
			Name: "breaker.slow_in_flight", Kind: knob.Switch,
			Doc: "whether a call counts as slow before it ends, so that a hang is noticed",
		}, func(p *Policy) *bool { return &p.Breaker.SlowInFlight }),
	}
}

func breakerOpenFields() []knob.Field[Policy] {
	return []knob.Field[Policy]{
		knob.At(knob.Spec{
			Name: "breaker.open_for", Kind: knob.Duration,
			Min: leastTime, Max: maxBackoff, Step: int64(time.Second),
			Doc: "how long an open breaker refuses everything before it lets probes out",
		}, func(p *Policy) *time.Duration { return &p.Breaker.OpenFor }),
		knob.At(knob.Spec{
			Name: "breaker.open_growth", Kind: knob.Ratio,
			Min: 1000, Max: 10_000, Step: 100, Zero: "off",
			Doc: "how many times longer it stays open each time that it opens again",
		}, func(p *Policy) *int64 { return &p.Breaker.OpenGrowth }),
		knob.At(knob.Spec{
			Name: "breaker.open_max", Kind: knob.Duration,
			Min: leastTime, Max: maxWait, Step: int64(time.Second), Zero: "none",
			Doc: "the longest open time, jitter aside; not below breaker.open_for",
		}, func(p *Policy) *time.Duration { return &p.Breaker.OpenMax }),
		knob.At(knob.Spec{
			Name: "breaker.open_jitter", Kind: knob.Ratio, Max: 1000, Step: 50,
			Doc: "the share by which open times are spread, so that clients do not probe together",
		}, func(p *Policy) *int64 { return &p.Breaker.OpenJitter }),
		knob.AtBool(knob.Spec{
			Name: "breaker.open_hint", Kind: knob.Switch,
			Doc: "whether it stays open as long as a Retry-After of the last failure asks",
		}, func(p *Policy) *bool { return &p.Breaker.OpenHint }),
		knob.At(knob.Spec{
			Name: "breaker.stable", Kind: knob.Duration,
			Min: leastTime, Max: maxWait, Step: int64(time.Second), Zero: "off",
			Doc: "how long it must have been closed for the growth to begin anew",
		}, func(p *Policy) *time.Duration { return &p.Breaker.Stable }),
	}
}

func breakerProbeFields() []knob.Field[Policy] {
	return []knob.Field[Policy]{
		knob.At(knob.Spec{
			Name: "breaker.probes", Kind: knob.Int, Unit: "probes", Min: 1, Max: maxProbes, Step: 1,
			Doc: "how many probes a half-open breaker may start",
		}, func(p *Policy) *int { return &p.Breaker.Probes }),
		knob.At(knob.Spec{
			Name: "breaker.successes", Kind: knob.Int, Unit: "probes",
			Min: 1, Max: maxProbes, Step: 1,
			Doc: "how many probes must succeed to close it; at most breaker.probes",
		}, func(p *Policy) *int { return &p.Breaker.Successes }),
		knob.At(knob.Spec{
			Name: "breaker.verdict", Kind: knob.Choice, Choices: breaker.VerdictNames(),
			Doc: "whether the first failed probe opens it, or one that leaves too few to close it",
		}, func(p *Policy) *breaker.Verdict { return &p.Breaker.Verdict }),
		knob.At(knob.Spec{
			Name: "breaker.lease", Kind: knob.Duration,
			Min: leastTime, Max: maxBackoff, Step: int64(time.Second), Zero: "open_for",
			Doc: "how long a probe may take before its place goes to another",
		}, func(p *Policy) *time.Duration { return &p.Breaker.Lease }),
	}
}

// checkBreaker refuses settings of the breaker that contradict each other, or
// that could never do anything.
func (p *Policy) checkBreaker() error {
	b := &p.Breaker
	holds := b.WindowCalls
	if holds == 0 {
		holds = breaker.DefaultWindowCalls
	}
	switch {
	case b.Successes > b.Probes:
		return p.fail("breaker.successes", "is more than breaker.probes",
			"1 to "+strconv.Itoa(b.Probes))
	case b.Window == breaker.CountWindow && b.WindowFailures > holds:
		return p.fail("breaker.window_failures", "is more than breaker.window_calls",
			"1 to "+strconv.Itoa(holds)+", or off")
	case b.SlowRate > 0 && b.SlowAfter == 0:
		return p.fail("breaker.slow_rate", "needs breaker.slow_after", "off")
	case b.OpenMax > 0 && b.OpenMax < b.OpenFor:
		return p.fail("breaker.open_max", "is below breaker.open_for",
			format("breaker.open_for", int64(b.OpenFor))+" or more, or none")
	case b.WhenOpen == breaker.Wait && b.Placement != breaker.PerAttempt:
		return p.fail("breaker.when_open", "needs breaker.placement attempt", "reject")
	}
	return nil
}
