package engine

import (
	"time"

	"herdscope/engine/knob"
	"herdscope/engine/limiter"
	"herdscope/engine/rng"
	"herdscope/engine/wire"
)

// sample lets the limiter learn from the attempt of r, which has ended, and
// reports a limit that has moved. What the caller cut short tells nothing.
func (m *Machine) sample(r *request, sc *scope) {
	p := &m.policy.Limiter
	if !m.moves(sc) || r.cause == wire.CauseCancel || r.cause == wire.CauseDeadline {
		return
	}
	before := sc.limiter.Limit(p)
	sc.limiter.Observe(p, limiter.Sample{
		RTT: m.now.Sub(r.since), InFlight: int(r.inFlight), Dropped: dropped(r),
		Draw: m.draw(rng.Limit, r),
	})
	if after := sc.limiter.Limit(p); after != before {
		e := m.event(wire.LimitChanged, r)
		e.Limit = int32(after)
		m.report(e)
	}
}

// dropped says whether the last attempt of r was refused for load, or timed out.
func dropped(r *request) bool {
	switch r.cause {
	case wire.CauseStatus:
		return r.status == 429 || r.status == 503
	case wire.CauseTimeout, wire.CauseRefused:
		return true
	}
	return false
}

func limiterFields() []knob.Field[Policy] {
	return append([]knob.Field[Policy]{
		knob.At(knob.Spec{
			Name: "limiter.kind", Kind: knob.Choice, Choices: limiter.KindNames(),
			Doc: "what sets the limit per scope: fixed is queue.limit; the others move by what replies say; " +
				"queue.limit of 0 pauses all",
		}, func(p *Policy) *limiter.Kind { return &p.Limiter.Kind }),
		knob.At(knob.Spec{
			Name: "limiter.timeout", Kind: knob.Duration,
			Max: int64(time.Hour), Step: int64(100 * time.Millisecond), Zero: "default",
			Doc: "how long an attempt may take before aimd counts it as dropped",
		}, func(p *Policy) *time.Duration { return &p.Limiter.Timeout }),
		knob.At(knob.Spec{
			Name: "limiter.backoff", Kind: knob.Ratio, Max: 1000, Step: 50, Zero: "default",
			Doc: "what aimd multiplies the limit with after a drop",
		}, func(p *Policy) *int64 { return &p.Limiter.Backoff }),
		knob.At(knob.Spec{
			Name: "limiter.smoothing", Kind: knob.Ratio, Max: 1000, Step: 50, Zero: "default",
			Doc: "the weight of a new limit beside the one before: gradient2, vegas",
		}, func(p *Policy) *int64 { return &p.Limiter.Smoothing }),
		knob.At(knob.Spec{
			Name: "limiter.tolerance", Kind: knob.Ratio, Max: 100_000, Step: 100, Zero: "default",
			Doc: "how much slower than its long average gradient2 lets a reply be",
		}, func(p *Policy) *int64 { return &p.Limiter.Tolerance }),
	}, limiterCounts()...)
}

// limiterCounts are the figures in whole numbers; 0 is the kind's own.
func limiterCounts() []knob.Field[Policy] {
	count := func(name, unit, doc string, at func(*Policy) *int) knob.Field[Policy] {
		return knob.At(knob.Spec{
			Name: "limiter." + name, Kind: knob.Int, Unit: unit,
			Max: maxSlots, Step: 1, Zero: "default", Doc: doc,
		}, at)
	}
	return []knob.Field[Policy]{
		count("initial", "slots", "where a limit that moves begins",
			func(p *Policy) *int { return &p.Limiter.Limit }),
		count("min", "slots", "the least that a limit may become; 20 unless set",
			func(p *Policy) *int { return &p.Limiter.Min }),
		count("max", "slots", "the most that a limit may become",
			func(p *Policy) *int { return &p.Limiter.Max }),
		count("queue", "attempts", "how many attempts gradient2 lets wait at the server",
			func(p *Policy) *int { return &p.Limiter.Queue }),
		count("long_window", "samples", "how many samples gradient2's long average spans",
			func(p *Policy) *int { return &p.Limiter.LongWindow }),
		count("probe", "limits", "after how many samples, in limits, vegas measures its best time anew",
			func(p *Policy) *int { return &p.Limiter.Probe }),
	}
}
