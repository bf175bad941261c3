package fault

import (
	"math/bits"
	"net/http"
	"time"

	"herdscope/engine/retryafter"
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
		if hint, i, limited := s.overLimit(); limited {
			return s.limited(&a, hint, i, out)
		}
	}
	return s.takeIn(a, out)
}

// returned reports the arrival of an attempt whose request was sent away with a
// Retry-After before.
func (s *Server) returned(a *wire.Attempt, out []wire.ServerEffect) []wire.ServerEffect {
	allowed, ok := s.hinted.take(requestKey(a.ID))
	if !ok {
		return out
	}
	e := s.event(wire.ServerReturned, a)
	e.Event.Delay = s.now.Sub(allowed)
	return append(out, e)
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

// overLimit takes a token from the rate limit in force. If there is none, it
// says when to come back, and whose limit it was.
func (s *Server) overLimit() (hint wire.Hint, fault uint8, limited bool) {
	fault = s.firstOn(Quota)
	b, form := &s.limit, s.config.Limit.Form
	if fault != wire.NoFault {
		b, form = &s.windows[fault].bucket, s.config.Faults[fault].Limit.Form
	}
	wait, ok := b.take(s.now)
	if ok {
		return wire.Hint{}, fault, false
	}
	return retryafter.FromDelay(form, s.now, s.epoch, wait), fault, true
}

func (s *Server) limited(
	a *wire.Attempt, hint wire.Hint, i uint8, out []wire.ServerEffect,
) []wire.ServerEffect {
	if i != wire.NoFault {
		s.windows[i].hits++
	}
	if hint.Form != wire.HintNone {
		s.hinted.put(requestKey(a.ID), retryafter.Resolve(hint, s.now, s.epoch))
	}
	r := response(http.StatusTooManyRequests)
	r.Hint = hint
	return s.reject(a, r, wire.CauseRateLimit, i, out)
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
		out = append(out, reply(j.attempt.ID, response(http.StatusOK)))
	}
	e := s.event(wire.ServerDone, &j.attempt)
	e.Event.Delay = s.now.Sub(j.began)
	e.Event.Status = http.StatusOK
	e.Event.Wasted = j.left
	out = s.tookEffect(&j.attempt, append(out, e))
	return s.takeUp(out)
}

// tookEffect reports a request that changes something each time it is served,
// if it has been served before. PUT and DELETE are not among them: the second
// leaves things as the first did.
func (s *Server) tookEffect(a *wire.Attempt, out []wire.ServerEffect) []wire.ServerEffect {
	if a.Method.Idempotent() {
		return out
	}
	request := requestKey(a.ID)
	if s.effective.has(request) {
		return append(out, s.event(wire.ServerRepeated, a))
	}
	s.effective.put(request, s.now)
	return out
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
