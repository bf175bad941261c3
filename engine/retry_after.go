package engine

import (
	"time"

	"herdscope/engine/knob"
	"herdscope/engine/rng"
	"herdscope/engine/wire"
)

// HintRule is what becomes of a Retry-After above Retry.RetryAfterMax.
type HintRule uint8

// The rules for a Retry-After above the maximum.
const (
	// HintClamp waits for the maximum: the retry is earlier than asked.
	HintClamp HintRule = iota
	// HintGiveUp ends the request.
	HintGiveUp
	// HintFollow waits as long as asked, as if there were no maximum.
	HintFollow
	// HintIgnore waits by the backoff: the retry is earlier than asked.
	HintIgnore
)

// hintRuleNames lists the rules' names in the order of their values.
var hintRuleNames = []string{"clamp", "give-up", "follow", "ignore"}

// String is the rule's name.
func (r HintRule) String() string {
	if int(r) >= len(hintRuleNames) {
		return "unknown"
	}
	return hintRuleNames[r]
}

// asked is how long to wait for a response's sake, and why; 0 leaves the wait to
// the backoff.
func (m *Machine) asked(in Input) (time.Duration, wire.HintUse) {
	p := &m.policy.Retry
	if !p.RetryAfter {
		return 0, wire.HintUnused
	}
	if !in.asks() {
		if p.RetryAfterDefault > 0 && (in.Reply.Status == 429 || in.Reply.Status == 503) {
			return p.RetryAfterDefault, wire.HintAssumed
		}
		return 0, wire.HintUnused
	}
	asked := in.NotBefore.Sub(m.now)
	switch {
	case asked <= 0:
		return 0, wire.HintUnused
	case !p.above(asked) || p.RetryAfterOver == HintFollow:
		return asked, wire.HintFollowed
	case p.RetryAfterOver == HintIgnore:
		return 0, wire.HintIgnored
	}
	return p.RetryAfterMax, wire.HintClamped
}

// above says whether a Retry-After is beyond the maximum.
func (p *Retry) above(asked time.Duration) bool {
	return p.RetryAfterMax > 0 && asked > p.RetryAfterMax
}

// refuses says whether the Retry-After of a response ends its request, and
// reports it if so.
func (m *Machine) refuses(r *request, in Input) bool {
	p := &m.policy.Retry
	asked := in.NotBefore.Sub(m.now)
	if !p.RetryAfter || p.RetryAfterOver != HintGiveUp || !in.asks() ||
		!p.above(asked) {
		return false
	}
	e := m.event(wire.RetryRefused, r)
	e.Delay, e.Cause, e.Status = asked, r.cause, r.status
	m.report(e)
	return true
}

// hinted is the wait that a Retry-After asks for, spread upwards as the policy
// says. The spread of clamped waits goes beyond the maximum, since all would
// come back together otherwise.
func (m *Machine) hinted(r *request, asked time.Duration, use wire.HintUse) wait {
	room := share(asked, m.policy.Retry.RetryAfterJitter)
	spread := rng.Scale(m.draw(rng.HintSpread, r), room)
	return wait{
		delay:   m.fromNow(asked, spread),
		ceiling: m.fromNow(asked, room),
		hinted:  true,
		hint:    use,
	}
}

// fromNow is the sum of two waits, no longer than the run clock has left.
func (m *Machine) fromNow(a, b time.Duration) time.Duration {
	return m.now.Add(a).Add(b).Sub(m.now)
}

func retryAfterFields() []knob.Field[Policy] {
	return []knob.Field[Policy]{
		knob.AtBool(knob.Spec{
			Name: "retry.retry_after", Kind: knob.Switch,
			Doc: "whether a retry waits as long as the response's Retry-After asks",
		}, func(p *Policy) *bool { return &p.Retry.RetryAfter }),
		knob.At(knob.Spec{
			Name: "retry.retry_after_jitter", Kind: knob.Ratio, Max: 1000, Step: 50,
			Doc: "the share of a Retry-After by which retries are spread beyond it",
		}, func(p *Policy) *int64 { return &p.Retry.RetryAfterJitter }),
		knob.At(knob.Spec{
			Name: "retry.retry_after_max", Kind: knob.Duration,
			Min: leastTime, Max: maxWait, Step: int64(10 * time.Second), Zero: "off",
			Doc: "the longest Retry-After that is simply followed; see retry.retry_after_over",
		}, func(p *Policy) *time.Duration { return &p.Retry.RetryAfterMax }),
		knob.At(knob.Spec{
			Name: "retry.retry_after_over", Kind: knob.Choice, Choices: hintRuleNames,
			Doc: "what a Retry-After above the maximum does: it is cut, ends the request, is followed, or ignored",
		}, func(p *Policy) *HintRule { return &p.Retry.RetryAfterOver }),
		knob.At(knob.Spec{
			Name: "retry.retry_after_default", Kind: knob.Duration,
			Min: leastTime, Max: maxWait, Step: int64(time.Second), Zero: "off",
			Doc: "how long a retry waits after a 429 or 503 that names no time",
		}, func(p *Policy) *time.Duration { return &p.Retry.RetryAfterDefault }),
	}
}
