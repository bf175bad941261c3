package fault

import (
	"net/http"

	"herdscope/engine/wire"
)

// Point is where on an attempt's way its connection ends.
type Point uint8

// The points at which a connection ends.
const (
	// PointArrival is at once: no work is done.
	PointArrival Point = iota
	// PointReply is when the work is done, and before the first byte of the reply.
	PointReply
	// PointHeader is inside the header of the reply.
	PointHeader
	// PointBody is inside the body.
	PointBody
	// PointEnd is after a whole reply, which has not said that it is the last.
	PointEnd
)

var pointNames = []string{"arrival", "reply", "header", "body", "end"}

// PointNames lists the points' names in the order of their values.
func PointNames() []string { return pointNames }

// String is the point's name, as scenario files write it.
func (p Point) String() string { return nameOf(pointNames, int(p)) }

// broken is a kind's reply that leaves off before it is whole.
func broken(form wire.ReplyForm) func(*Fault) wire.Reply {
	return func(*Fault) wire.Reply { return wire.Reply{Kind: wire.ReplyReset, Form: form} }
}

// whole is a kind's reply that is whole as HTTP: a client that judges a response
// by its status takes it for a good one, whatever its body says.
func whole(form wire.ReplyForm) func(*Fault) wire.Reply {
	return func(f *Fault) wire.Reply {
		r := response(http.StatusOK)
		r.Form, r.Over = form, f.Over
		return r
	}
}

// ended is the reply of Close and Reset.
func (f *Fault) ended() wire.Reply {
	r := wire.Reply{Kind: wire.ReplyReset, Form: wire.FormNothing}
	switch f.Point {
	case PointHeader:
		r.Form = wire.FormCutHeader
	case PointBody:
		r.Form = wire.FormCutBody
	case PointEnd:
		r = response(http.StatusOK)
		r.Form = wire.FormLast
	}
	r.Hard = f.Kind == Reset
	return r
}

// settles says whether the fault ends an attempt at its arrival.
func (f *Fault) settles() bool {
	stage := f.row().stage
	return stage == AtArrival || stage == AtReply && f.Point == PointArrival &&
		(f.Kind == Close || f.Kind == Reset)
}

// settle ends an attempt at its arrival, as fault i has it.
func (s *Server) settle(a *wire.Attempt, i int, out []wire.ServerEffect) []wire.ServerEffect {
	f := &s.config.Faults[i]
	s.windows[i].hits++
	if f.Kind == Errors {
		r := response(f.Status)
		r.Fault = uint8(i) + 1
		return s.reject(a, r, wire.CauseFault, uint8(i), out)
	}
	s.conns.drop(a.ID.Client)
	out = append(out, reply(a.ID, f.ended()))
	return append(out, s.wasReset(a, 0, uint8(i)))
}

// answer is the reply to a served attempt, and the report of the fault that has
// had a hand in it. A caller that has left gets none, and no fault hits it.
func (s *Server) answer(j *job, out []wire.ServerEffect) []wire.ServerEffect {
	if j.left {
		return out
	}
	if j.damage == 0 {
		s.conns.rest(j.attempt.ID.Client, s.now)
		s.countSuccess(&j.attempt)
		return append(out, reply(j.attempt.ID, s.quoted(&j.attempt, response(http.StatusOK))))
	}
	i := int(j.damage) - 1
	f := &s.config.Faults[i]
	r := f.row().form(f)
	r.Fault = j.damage
	s.windows[i].hits++
	if r.Form.Ends() {
		s.conns.drop(j.attempt.ID.Client)
	} else {
		s.conns.rest(j.attempt.ID.Client, s.now.Add(r.Over))
	}
	out = append(out, reply(j.attempt.ID, r))
	return append(out, s.struck(&j.attempt, i))
}

// strike counts a hit of fault i, and reports it.
func (s *Server) strike(a *wire.Attempt, i int, out []wire.ServerEffect) []wire.ServerEffect {
	s.windows[i].hits++
	return append(out, s.struck(a, i))
}

// struck is the report that fault i has hit an attempt, where nothing else says
// so.
func (s *Server) struck(a *wire.Attempt, i int) wire.ServerEffect {
	e := s.event(wire.FaultStruck, a)
	e.Event.Cause, e.Event.Fault = wire.CauseFault, uint8(i)
	return e
}
