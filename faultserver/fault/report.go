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

// reset resets the connection of an attempt, if somebody is still at its other
// end, after the given work.
func (s *Server) reset(
	a *wire.Attempt, work time.Duration, present bool, fault uint8, out []wire.ServerEffect,
) []wire.ServerEffect {
	if present {
		out = append(out, reply(a.ID, wire.Reply{Kind: wire.ReplyReset}))
	}
	e := s.event(wire.ServerReset, a)
	e.Event.Delay, e.Event.Cause, e.Event.Fault = work, wire.CauseFault, fault
	return append(out, e)
}

func reply(id wire.AttemptID, r wire.Reply) wire.ServerEffect {
	return wire.ServerEffect{Kind: wire.ServerReply, ID: id, Reply: r}
}

func response(status uint16) wire.Reply {
	return wire.Reply{Kind: wire.ReplyResponse, Status: status}
}
