package fault

import (
	"math/bits"
	"net/http"
	"time"

	"herdscope/engine/rng"
	"herdscope/engine/wire"
)

// arrive settles an arrival by the first check that holds, or takes it in.
func (s *Server) arrive(a wire.Attempt, out []wire.ServerEffect) []wire.ServerEffect {
	out = append(out, s.event(wire.ServerArrived, &a))
	out = s.returned(&a, out)
	if i := s.firstOn(Outage); i != wire.NoFault {
		s.windows[i].hits++
		return s.reset(&a, 0, true, i, out)
	}
	if !a.Warm {
		if i := s.errorsHit(&a); i != wire.NoFault {
			return s.errored(&a, i, out)
		}
		if r, i, limited := s.overLimit(&a); limited {
			return s.limited(&a, r, i, out)
		}
		if again, settled := s.repeat(&a, out); settled {
			return again
		}
	}
	return s.takeIn(a, out)
}

// firstOn is the first fault of a kind that is on, or wire.NoFault.
func (s *Server) firstOn(k Kind) uint8 {
	for i := range s.windows {
		if s.windows[i].on && s.config.Faults[i].Kind == k {
			return uint8(i)
		}
	}
	return wire.NoFault
}

// errorsHit is the first errors fault that hits the attempt, or wire.NoFault.
func (s *Server) errorsHit(a *wire.Attempt) uint8 {
	for i := range s.windows {
		f := &s.config.Faults[i]
		if s.windows[i].on && f.Kind == Errors && rng.Hit(s.faultDraw(i, a), f.Share) {
			return uint8(i)
		}
	}
	return wire.NoFault
}

// faultDraw is the draw of fault i for an attempt. A client's number has 32
// bits, so that the fault's fits above it.
func (s *Server) faultDraw(i int, a *wire.Attempt) uint64 {
	return rng.At(s.seed, rng.FaultHit,
		uint64(a.ID.Client)|uint64(i)<<32, uint64(a.ID.Request), uint64(a.ID.Try))
}

func (s *Server) errored(a *wire.Attempt, i uint8, out []wire.ServerEffect) []wire.ServerEffect {
	s.windows[i].hits++
	return s.reject(a, response(s.config.Faults[i].Status), wire.CauseFault, i, out)
}

// slowing is the latency faults that are on, as bits by index.
func (s *Server) slowing() (slow uint64) {
	for i := range s.windows {
		if s.windows[i].on && s.config.Faults[i].Kind == Latency {
			slow |= 1 << i
		}
	}
	return slow
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
	s.due.Set(slot, s.now.Add(s.serviceTime(j)).Add(s.slowDown(j.slow)))
	return append(out, e)
}

// slowDown is what latency faults add to a service time; it counts the hits.
func (s *Server) slowDown(slow uint64) (added time.Duration) {
	for ; slow != 0; slow &= slow - 1 {
		i := bits.TrailingZeros64(slow)
		s.windows[i].hits++
		added += s.config.Faults[i].Added
	}
	return added
}

// finish ends the service of a job.
func (s *Server) finish(slot int32, out []wire.ServerEffect) []wire.ServerEffect {
	s.due.Clear(slot)
	j := s.end(slot)
	if !j.left {
		out = append(out, reply(j.attempt.ID, s.quoted(&j.attempt, response(http.StatusOK))))
	}
	e := s.event(wire.ServerDone, &j.attempt)
	e.Event.Delay = s.now.Sub(j.began)
	e.Event.Status = http.StatusOK
	e.Event.Wasted = j.left
	out = s.tookEffect(&j.attempt, append(out, e))
	return s.takeUp(out)
}

// resetAll resets everything, first come first: what is in service, and then
// what waits.
func (s *Server) resetAll(fault uint8, out []wire.ServerEffect) []wire.ServerEffect {
	for _, working := range [2]bool{true, false} {
		for slot := s.jobs.first; slot != none; {
			j := &s.jobs.table[slot]
			next := j.next
			if j.stage.working() == working {
				out = s.cut(slot, fault, out)
			}
			slot = next
		}
	}
	return out
}

// cut resets the connection of a job, wherever it is.
func (s *Server) cut(slot int32, fault uint8, out []wire.ServerEffect) []wire.ServerEffect {
	j := s.end(slot)
	s.windows[fault].hits++
	out = s.reset(&j.attempt, s.worked(&j), !j.left, fault, out)
	out[len(out)-1].Event.Wasted = j.stage.working()
	return out
}
