package engine

import (
	"time"

	"herdscope/engine/budget"
	"herdscope/engine/knob"
	"herdscope/engine/rng"
	"herdscope/engine/wire"
)

// Budget is a limit on retries as a whole.
type Budget struct {
	budget.Config
	// Shared makes one budget serve the whole fleet; otherwise each client has
	// its own. It is read when the fleet is made.
	Shared bool
}

// Share makes the machine use a budget that others use too, in place of its
// own. Call it before the first Step.
func (m *Machine) Share(b *budget.Budget) { m.shared = b }

// Budget is the state of the budget that the machine uses, to be looked at only.
func (m *Machine) Budget() *budget.Budget {
	if m.shared != nil {
		return m.shared
	}
	return &m.own
}

// begins tells the budget that a try of r joins the queue.
func (m *Machine) begins(r *request) {
	m.Budget().Begin(m.now, &m.policy.Budget.Config, &r.hold)
}

// admits asks the budget whether the next attempt of r may go out at all.
func (m *Machine) admits(r *request) bool {
	return m.Budget().Admit(m.now, &m.policy.Budget.Config, m.draw(rng.Throttle, r))
}

// spent tells the budget how the attempt of r ended.
func (m *Machine) spent(r *request) {
	m.Budget().Report(m.now, &m.policy.Budget.Config, &r.hold, verdictOf(r))
}

// affords asks the budget for a retry of r, and reports if there is none.
func (m *Machine) affords(r *request) bool {
	if m.Budget().Take(m.now, &m.policy.Budget.Config, &r.hold, verdictOf(r)) {
		return true
	}
	e := m.event(wire.RetryDenied, r)
	e.Cause, e.Status = r.cause, r.status
	m.report(e)
	return false
}

// verdictOf is how the last attempt of r ended, as budgets tell ends apart.
func verdictOf(r *request) budget.Outcome {
	switch r.cause {
	case wire.CauseTimeout:
		return budget.Timeout
	case wire.CauseReset, wire.CauseRefused:
		return budget.Transient
	case wire.CauseStatus:
		return statusVerdict(r.status)
	}
	return budget.Neutral
}

func statusVerdict(status uint16) budget.Outcome {
	switch {
	case status < 400:
		return budget.Success
	case status == 429:
		return budget.Throttled
	case status < 500:
		return budget.ClientError
	}
	return budget.Transient
}

func budgetFields() []knob.Field[Policy] {
	return append([]knob.Field[Policy]{
		knob.At(knob.Spec{
			Name: "budget.kind", Kind: knob.Choice, Choices: budget.KindNames(),
			Doc: "what limits retries as a whole; a kind brings its own figures along",
		}, func(p *Policy) *budget.Kind { return &p.Budget.Kind }),
		knob.AtBool(knob.Spec{
			Name: "budget.shared", Kind: knob.Switch, Fixed: true,
			Doc: "one budget for the whole fleet, instead of one for each client",
		}, func(p *Policy) *bool { return &p.Budget.Shared }),
		knob.At(knob.Spec{
			Name: "budget.window", Kind: knob.Duration,
			Max: int64(time.Hour), Step: int64(time.Second), Zero: "default",
			Doc: "how far back ratio, sre-throttle and failure-share count",
		}, func(p *Policy) *time.Duration { return &p.Budget.Window }),
	}, budgetFigures()...)
}

// budgetFigures are the knobs in thousandths; 0 is the kind's own figure.
func budgetFigures() []knob.Field[Policy] {
	figure := func(name, doc string, at func(*Policy) *int64) knob.Field[Policy] {
		return knob.At(knob.Spec{
			Name: "budget." + name, Kind: knob.Ratio, Max: 1_000_000_000, Step: 100,
			Zero: "default", Doc: doc,
		}, at)
	}
	return []knob.Field[Policy]{
		figure("tokens", "tokens in a full bucket: aws, deposit and grpc kinds",
			func(p *Policy) *int64 { return &p.Budget.Tokens }),
		figure("deposit", "tokens that a first try or a success puts in",
			func(p *Policy) *int64 { return &p.Budget.Deposit }),
		figure("cost", "tokens that a retry takes out; for grpc, a failure",
			func(p *Policy) *int64 { return &p.Budget.Cost }),
		figure("cost_throttled", "what a retry costs after a 429: aws kinds",
			func(p *Policy) *int64 { return &p.Budget.CostThrottled }),
		figure("cost_timeout", "what a retry costs after a timeout: aws kinds",
			func(p *Policy) *int64 { return &p.Budget.CostTimeout }),
		figure("share", "retries per request (ratio), per active attempt (active-share), or failures per request",
			func(p *Policy) *int64 { return &p.Budget.Share }),
		figure("floor", "retries that are always granted: per second (ratio), at once (active-share)",
			func(p *Policy) *int64 { return &p.Budget.Floor }),
		figure("k", "requests that sre-throttle sends for each that the server accepts",
			func(p *Policy) *int64 { return &p.Budget.K }),
	}
}
