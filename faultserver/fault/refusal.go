package fault

import (
	"net/http"

	"herdscope/engine/wire"
)

// refusal is how an attempt is turned away.
type refusal struct {
	reply wire.Reply
	cause wire.Cause
	fault uint8
}

// What a service says to those whom it cannot serve.
var (
	tooBusy = refusal{response(http.StatusServiceUnavailable), wire.CauseFull, wire.NoFault}
	tooLate = refusal{response(http.StatusServiceUnavailable), wire.CauseElapsed, wire.NoFault}
)

// takesWork says whether a worker has to see to the refusal: to those of the
// limits and of the capacity. What faults answer costs the server nothing.
func (s *Server) takesWork(cause wire.Cause) bool {
	switch cause {
	case wire.CauseFull, wire.CauseElapsed, wire.CauseRateLimit:
		return s.config.RejectionCost > 0
	}
	return false
}

// reject answers an attempt that is turned away on its arrival: at once, or when
// a worker has seen to it.
func (s *Server) reject(
	a *wire.Attempt, r wire.Reply, cause wire.Cause, fault uint8, out []wire.ServerEffect,
) []wire.ServerEffect {
	refused := refusal{r, cause, fault}
	if s.takesWork(cause) {
		s.present.add(a, 1)
		slot := s.jobs.add(*a, s.now, marks{}, s.service(a))
		s.addChore(slot, refused)
		return s.takeUp(out)
	}
	return s.refuse(&job{attempt: *a}, refused, out)
}

// drop turns away one of the backlog.
func (s *Server) drop(slot int32, r refusal, out []wire.ServerEffect) []wire.ServerEffect {
	if s.takesWork(r.cause) {
		j := &s.jobs.table[slot]
		s.pools[j.service].backlog.Remove(slot, j.attempt.Class)
		s.patience.Clear(slot)
		s.addChore(slot, r)
		return out
	}
	j := s.end(slot)
	return s.refuse(&j, r, out)
}

// addChore lets a refusal wait for a worker. It goes before the backlog, since
// whoever turns away does so before looking at what is to be done.
func (s *Server) addChore(slot int32, r refusal) {
	j := &s.jobs.table[slot]
	j.stage, j.refusal, j.marks = isChore, r, marks{}
	s.pools[j.service].chores.SetOrdered(slot, s.now, j.number)
}

// refuse ends a job that is turned away, and tells whoever still waits for it.
func (s *Server) refuse(j *job, r refusal, out []wire.ServerEffect) []wire.ServerEffect {
	if !j.left {
		out = append(out, reply(j.attempt.ID, r.reply))
		s.conns.rest(j.attempt.ID.Client, s.now)
	}
	e := s.event(wire.ServerRejected, &j.attempt)
	e.Event.Status, e.Event.Cause, e.Event.Fault = r.reply.Status, r.cause, r.fault
	e.Event.Delay, e.Event.Wasted = s.worked(j), j.stage.working()
	return append(out, e)
}
