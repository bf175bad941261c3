package engine

import (
	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// Fallback is when a caller is given a value of the client's own, such as the
// last good one, instead of an error. Such a request ends as degraded, which is
// counted apart from success and from failure.
type Fallback struct {
	// Open answers so what an open breaker refuses.
	Open bool
	// Late answers so the critical requests whose deadline passes.
	Late bool
}

// has says whether a request that would end with an outcome gets the fallback.
func (f Fallback) has(r *request, o wire.Outcome) bool {
	switch o {
	case wire.ShortCircuited:
		return f.Open
	case wire.ExpiredInQueue, wire.TimedOut:
		return f.Late && r.Class == wire.Critical && r.cause == wire.CauseDeadline
	}
	return false
}

func fallbackFields() []knob.Field[Policy] {
	return []knob.Field[Policy]{
		knob.AtBool(knob.Spec{
			Name: "fallback.breaker_open", Kind: knob.Switch,
			Doc: "requests that an open breaker refuses end as degraded, with a fallback value",
		}, func(p *Policy) *bool { return &p.Fallback.Open }),
		knob.AtBool(knob.Spec{
			Name: "fallback.deadline", Kind: knob.Switch,
			Doc: "critical requests that miss their deadline end as degraded, with a fallback value",
		}, func(p *Policy) *bool { return &p.Fallback.Late }),
	}
}
