package engine

import (
	"time"

	"herdscope/engine/backoff"
	"herdscope/engine/knob"
)

// waitFields is the finer settings of the wait before a retry: those that only
// some jitters read, and those by which libraries differ.
func waitFields() []knob.Field[Policy] {
	return []knob.Field[Policy]{
		knob.At(knob.Spec{
			Name: "retry.cap_rule", Kind: knob.Choice, Choices: backoff.CapRuleNames(),
			Doc: "whether the cap comes before the jitter, after it, is overshot by it, or stands instead",
		}, func(p *Policy) *backoff.CapRule { return &p.Retry.Backoff.CapRule }),
		knob.At(knob.Spec{
			Name: "retry.first", Kind: knob.Choice, Choices: backoff.FirstNames(),
			Doc: "where the curve starts: at the base, one point on, one point back, or after no wait",
		}, func(p *Policy) *backoff.First { return &p.Retry.Backoff.First }),
		knob.At(knob.Spec{
			Name: "retry.offset", Kind: knob.Duration,
			Min: -maxBackoff, Max: maxBackoff, Step: int64(50 * time.Millisecond),
			Doc: "what is added to every point of the curve",
		}, func(p *Policy) *time.Duration { return &p.Retry.Backoff.Offset }),
		knob.At(knob.Spec{
			Name: "retry.floor", Kind: knob.Duration,
			Max: maxBackoff, Step: int64(100 * time.Millisecond),
			Doc: "the shortest wait before a retry; retry.cap outranks it",
		}, func(p *Policy) *time.Duration { return &p.Retry.Backoff.Floor }),
		knob.At(knob.Spec{
			Name: "retry.width", Kind: knob.Duration,
			Max: maxBackoff, Step: int64(100 * time.Millisecond),
			Doc: "how far jitter additive goes above the curve",
		}, func(p *Policy) *time.Duration { return &p.Retry.Backoff.Width }),
		knob.At(knob.Spec{
			Name: "retry.amount", Kind: knob.Ratio, Max: 100_000, Step: 50,
			Doc: "how far jitter proportional, spread or minus goes from the curve, as a share of it",
		}, func(p *Policy) *int64 { return &p.Retry.Backoff.Amount }),
	}
}
