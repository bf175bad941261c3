package fault

import (
	"math/bits"
	"net/http"

	"herdscope/engine/wire"
)

// arrive settles an arrival by the first check that holds, or takes it in.
func (s *Server) arrive(a wire.Attempt, out []wire.ServerEffect) []wire.ServerEffect {
	away, lost := s.outage(&a)
	if lost && s.config.Faults[away].How == ByRefusing {
		return s.refused(&a, away, out)
	}
	out = append(out, s.event(wire.ServerArrived, &a))
	out = s.returned(&a, out)
	if lost {
		return s.lose(&job{attempt: a}, away, s.config.Faults[away].How, out)
	}
	if out, lost = s.reuse(&a, out); lost {
		return out
	}
	m, by, settled := s.ask(&a)
	if settled {
		return s.settle(&a, by, out)
	}
	if !a.Warm {
		if r, i, limited := s.overLimit(&a); limited {
			return s.limited(&a, r, i, out)
		}
		if again, settled := s.repeat(&a, out); settled {
			s.conns.rest(a.ID.Client, s.now)
			return again
		}
	}
	return s.takeIn(a, m, out)
}

// begin lets a worker take up a job.
func (s *Server) begin(slot int32, out []wire.ServerEffect) []wire.ServerEffect {
	j := &s.jobs.table[slot]
	j.began = s.now
	s.pools[j.service].serving++
	e := s.event(wire.ServerBegan, &j.attempt)
	e.Event.Delay = j.began.Sub(j.arrived)
	if j.slow != 0 {
		e.Event.Cause, e.Event.Fault = wire.CauseFault, uint8(bits.TrailingZeros64(j.slow))
	}
	j.end = s.now.Add(s.slowed(j, s.serviceTime(j)))
	s.due.Set(slot, j.end)
	return append(out, e)
}

// finish ends the service of a job.
func (s *Server) finish(slot int32, out []wire.ServerEffect) []wire.ServerEffect {
	j := s.end(slot)
	if j.stage == inRejection {
		return s.takeUp(s.refuse(&j, j.refusal, out))
	}
	out = s.answer(&j, out)
	e := s.event(wire.ServerDone, &j.attempt)
	e.Event.Delay = s.now.Sub(j.began)
	e.Event.Status = http.StatusOK
	e.Event.Wasted = j.left
	out = s.tookEffect(&j.attempt, append(out, e))
	return s.takeUp(out)
}
