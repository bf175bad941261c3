package fault

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/retryafter"
	"herdscope/engine/rng"
	"herdscope/engine/wire"
)

// untold stands for the moment that a Retry-After names which nobody can read.
const untold = longPast

// inForce is the rate limit that an attempt is subject to, and the quota that it
// is of: the first that is on and meant for it. Where there is none it is the
// server's own.
func (s *Server) inForce(a *wire.Attempt) (l *limiter, fault uint8) {
	for i := range s.windows {
		if s.windows[i].on && s.config.Faults[i].Kind == Quota && s.matches(i, a) {
			return &s.windows[i].limiter, uint8(i)
		}
	}
	return &s.limit, wire.NoFault
}

// turnQuota starts the limit of a quota that begins.
func (s *Server) turnQuota(i int, on bool, out []wire.ServerEffect) []wire.ServerEffect {
	if on {
		s.windows[i].limiter.start(s.config.Faults[i].Limit)
	}
	return out
}

// overLimit lets an attempt through the rate limit in force, or gives the
// refusal and says whose limit it was.
func (s *Server) overLimit(a *wire.Attempt) (r wire.Reply, fault uint8, limited bool) {
	l, fault := s.inForce(a)
	wait, full := s.time(a).mean(), s.overCap(l, a)
	if !full {
		if wait, full = s.overRate(l, a); !full {
			return r, fault, false
		}
	}
	wait += rng.Scale(s.refusalDraw(fault, a), jitterRoom(wait, l.limit.Jitter))
	r = s.quoted(a, response(l.limit.Answer.status()))
	r.Hint = retryafter.FromDelay(l.limit.Form, s.now, s.clockEpoch(), wait)
	return r, fault, true
}

func (s *Server) overCap(l *limiter, a *wire.Attempt) bool {
	return l.limit.Concurrent > 0 && s.present.of(a, l.limit.Per) >= l.limit.Concurrent
}

func (s *Server) overRate(l *limiter, a *wire.Attempt) (wait time.Duration, over bool) {
	wait, ok := l.take(l.limit.key(a), s.now)
	return wait, !ok
}

// jitterRoom is how much a wait may be lengthened by.
func jitterRoom(wait time.Duration, share int64) time.Duration {
	return time.Duration(int64(wait/1000)*share + int64(wait%1000)*share/1000)
}

// refusalDraw is the draw that lengthens the wait that an attempt is asked for.
func (s *Server) refusalDraw(fault uint8, a *wire.Attempt) uint64 {
	return rng.At(s.seed, rng.ServerHint,
		uint64(a.ID.Client)|uint64(fault)<<32, uint64(a.ID.Request), uint64(a.ID.Try))
}

// quoted adds to a response what the limit in force tells its callers.
func (s *Server) quoted(a *wire.Attempt, r wire.Reply) wire.Reply {
	if l, _ := s.inForce(a); l.limit.Fields && l.limit.Rate > 0 {
		r.Quota = l.quota(l.limit.key(a), s.now)
	}
	return r
}

// limited sends an attempt away, and remembers when it may come back. A date
// means the moment at which the server's own clock shows it.
func (s *Server) limited(
	a *wire.Attempt, r wire.Reply, i uint8, out []wire.ServerEffect,
) []wire.ServerEffect {
	if i != wire.NoFault {
		s.windows[i].hits++
	}
	switch {
	case retryafter.Malformed(r.Hint.Form):
		s.hinted.put(requestKey(a.ID), untold)
	case r.Hint.Form != wire.HintNone:
		s.hinted.put(requestKey(a.ID), retryafter.Resolve(r.Hint, s.now, s.clockEpoch()))
	}
	return s.reject(a, r, wire.CauseRateLimit, i, out)
}

// returned reports the arrival of an attempt whose request was sent away with a
// Retry-After before.
func (s *Server) returned(a *wire.Attempt, out []wire.ServerEffect) []wire.ServerEffect {
	allowed, ok := s.hinted.take(requestKey(a.ID))
	if !ok {
		return out
	}
	e := s.event(wire.ServerReturned, a)
	if e.Event.Untold = allowed == untold; !e.Event.Untold {
		e.Event.Delay = s.now.Sub(allowed)
	}
	return append(out, e)
}

// clockEpoch is the time, in Unix nanoseconds, that the server's own clock
// showed when the run began.
func (s *Server) clockEpoch() int64 { return s.epoch + int64(s.config.ClockSkew) }

// Date is the time by the server's own clock, in Unix seconds, when the run
// clock shows now.
func (s *Server) Date(now clock.Instant) int64 {
	return clock.Instant(s.clockEpoch()).Add(now.Duration()).Second()
}

// Callers is how many callers the rate limits know, and how many they have
// forgotten for want of room.
func (s *Server) Callers() (known int, forgotten int64) {
	known, forgotten = len(s.limit.callers.table), s.limit.callers.forgotten
	for i := range s.windows {
		c := &s.windows[i].limiter.callers
		known, forgotten = known+len(c.table), forgotten+c.forgotten
	}
	return known, forgotten
}
