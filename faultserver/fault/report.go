package fault

import (
	"time"

	"herdscope/engine/wire"
)

// event is the report that something happened to an attempt, by no fault.
func (s *Server) event(k wire.EventKind, a *wire.Attempt) wire.ServerEffect {
	return wire.ServerEffect{Kind: wire.ServerEvent, ID: a.ID, Event: wire.Event{
		Kind:   k,
		At:     s.now,
		ID:     a.ID,
		Class:  a.Class,
		Method: a.Method,
		Scope:  a.Scope,
		Warm:   a.Warm,
		Probe:  a.Probe,
		Fault:  wire.NoFault,
	}}
}

// reportEdge reports that fault i began or ended; Until is the end of the
// window, clock.Never while that is open, and of no meaning for an end.
func (s *Server) reportEdge(
	k wire.EventKind, i int, out []wire.ServerEffect,
) []wire.ServerEffect {
	e := wire.Event{Kind: k, At: s.now, Fault: uint8(i), Cause: wire.CauseFault}
	if k == wire.FaultBegan {
		e.Until = s.windows[i].next
	}
	return append(out, wire.ServerEffect{Kind: wire.ServerEvent, Event: e})
}

// reportMiss reports a fault that has ended and hit nobody.
func (s *Server) reportMiss(i int, out []wire.ServerEffect) []wire.ServerEffect {
	w := &s.windows[i]
	if w.hits > w.before {
		return out
	}
	return append(out, wire.ServerEffect{Kind: wire.ServerEvent, Event: wire.Event{
		Kind: wire.FaultMissed, At: s.now, Since: w.began, Fault: uint8(i), Cause: wire.CauseFault,
	}})
}

// reset resets the connection of an attempt, if somebody is still at its other
// end, after the given work.
func (s *Server) reset(
	a *wire.Attempt, work time.Duration, present bool, fault uint8, out []wire.ServerEffect,
) []wire.ServerEffect {
	if present {
		out = append(out, reply(a.ID, wire.Reply{Kind: wire.ReplyReset}))
	}
	return append(out, s.wasReset(a, work, fault))
}

// wasReset is the report that an attempt's connection has ended without a reply.
func (s *Server) wasReset(a *wire.Attempt, work time.Duration, fault uint8) wire.ServerEffect {
	e := s.event(wire.ServerReset, a)
	e.Event.Delay, e.Event.Cause, e.Event.Fault = work, wire.CauseFault, fault
	return e
}

func reply(id wire.AttemptID, r wire.Reply) wire.ServerEffect {
	return wire.ServerEffect{Kind: wire.ServerReply, ID: id, Reply: r}
}

func response(status uint16) wire.Reply {
	return wire.Reply{Kind: wire.ReplyResponse, Status: status}
}
