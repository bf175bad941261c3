package engine

import (
	"herdscope/engine/clock"
	"herdscope/engine/knob"
)

// HintClock is the clock by which a date in Retry-After counts.
type HintClock uint8

// The clocks for a date.
const (
	// ClockOwn is the client's: where the server's is ahead of it, retries come
	// late by that much, and where it is behind, too early. It is what most clients
	// do.
	ClockOwn HintClock = iota
	// ClockDate is the server's, as its Date field shows it: the wait is the date
	// less Date, and so up to a second longer than meant. A response without Date
	// counts by the client's.
	ClockDate
)

// hintClockNames lists the clocks' names in the order of their values.
var hintClockNames = []string{"own", "date"}

// String is the clock's name.
func (c HintClock) String() string {
	if int(c) >= len(hintClockNames) {
		return "unknown"
	}
	return hintClockNames[c]
}

// notBefore is the moment that a reply names, by the clock that the policy wants.
func (p *Retry) notBefore(in *Input) clock.Instant {
	if p.RetryAfterClock == ClockDate && in.Reply.Hint.Form.Dated() {
		return in.NotBefore.Add(-in.Lead)
	}
	return in.NotBefore
}

func retryClockFields() []knob.Field[Policy] {
	return []knob.Field[Policy]{
		knob.At(knob.Spec{
			Name: "retry.retry_after_clock", Kind: knob.Choice, Choices: hintClockNames,
			Doc: "whether a date in Retry-After counts by the client's clock or by the response's Date",
		}, func(p *Policy) *HintClock { return &p.Retry.RetryAfterClock }),
	}
}
