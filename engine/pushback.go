package engine

import (
	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// pushes says whether a response carries a pushback that the policy obeys.
func (p *Retry) pushes(reply wire.Reply) bool {
	return p.Pushback && reply.Hint.Form.Pushback()
}

// stops says whether it is one that forbids a retry.
func (p *Retry) stops(reply wire.Reply) bool {
	return p.pushes(reply) && reply.Hint.Form == wire.HintPushbackStop
}

// stopped says whether a pushback ends the request, and reports it if so.
func (m *Machine) stopped(r *request, in Input) bool {
	if !m.policy.Retry.stops(in.Reply) {
		return false
	}
	e := m.event(wire.RetryRefused, r)
	e.Cause, e.Status, e.Hint = r.cause, r.status, wire.HintPushedBack
	m.report(e)
	return true
}

// pushedBack is the wait that a pushback asks for: exactly that, without jitter.
// The backoff begins anew after it, as gRFC A6 has it.
func (m *Machine) pushedBack(r *request, in Input) wait {
	delay := max(0, in.NotBefore.Sub(m.now))
	r.pushedAt, r.carry = uint16(r.tries()), 0
	return wait{delay: delay, ceiling: delay, hinted: true, hint: wire.HintPushedBack}
}

// asks says whether the reply has a Retry-After; a pushback is none.
func (in *Input) asks() bool {
	form := in.Reply.Hint.Form
	return form != wire.HintNone && !form.Pushback()
}

func pushbackFields() []knob.Field[Policy] {
	return []knob.Field[Policy]{
		knob.AtBool(knob.Spec{
			Name: "retry.pushback", Kind: knob.Switch,
			Doc: "whether grpc-retry-pushback-ms decides the wait of a retry, or that there is none",
		}, func(p *Policy) *bool { return &p.Retry.Pushback }),
	}
}
