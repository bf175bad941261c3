package fault

import (
	"fmt"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// How many requests the server remembers: those that it sent away with a
// Retry-After, and those that took effect. Of more, the oldest are forgotten.
const (
	hintedRequests    = 1 << 17
	effectiveRequests = 1 << 16
)

// Server is a server model. It is not safe for use by several goroutines.
type Server struct {
	config Config
	seed   uint64
	epoch  int64
	now    clock.Instant

	jobs   jobs
	pools  []pool
	places places
	// due is when the jobs in service end, by slot.
	due clock.Index
	// patience is when those in backlogs have waited too long for the order.
	patience clock.Index
	// windows is the state of each fault, edge the next change of any.
	windows []window
	edge    clock.Instant
	limit   limiter
	present presence
	conns   conns
	// refusing says that an outage has closed the listener.
	refusing bool

	// hinted is the moment at which a request may come back, untold if the server
	// named none that can be read.
	hinted  memory[clock.Instant]
	effects effects
}

// New is a server with nothing to do. All its draws come from seed;
// epochUnixNanos is the wall clock time, in nanoseconds since 1970, at which the
// run clock is 0. The error is that of Config.Validate.
func New(c Config, seed uint64, epochUnixNanos int64) (*Server, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("new server: %w", err)
	}
	c.Faults = append([]Fault(nil), c.Faults...)
	s := &Server{
		config:  c,
		seed:    seed,
		epoch:   epochUnixNanos,
		now:     longPast,
		jobs:    newJobs(),
		pools:   newPools(&c),
		places:  c.places(),
		windows: make([]window, len(c.Faults)),
		hinted:  memory[clock.Instant]{size: hintedRequests},
		effects: effects{known: memory[effect]{size: effectiveRequests}},
	}
	s.limit.start(c.Limit)
	for i := range s.windows {
		s.windows[i].until = longPast
		_, s.windows[i].next = s.windows[i].state(&c.Faults[i], longPast)
		s.conns.watch(&c.Faults[i])
	}
	s.seeEdges()
	return s, nil
}

// Step feeds one input at now and appends to out, in order, what the server
// asks of the world. A now before that of an earlier Step counts as that one.
// The indices in ServerSet and ServerFault must be those of a knob and a fault,
// and a value in its knob's range; Step panics on an index that is not.
func (s *Server) Step(
	now clock.Instant, in wire.ServerInput, out []wire.ServerEffect,
) []wire.ServerEffect {
	now = max(now, s.now)
	out = s.advance(now, out)
	switch in.Kind {
	case wire.ServerTick:
	case wire.ServerArrive:
		out = s.arrive(in.Attempt, out)
	case wire.ServerLeave:
		out = s.leave(in.Attempt.ID, out)
		s.conns.drop(in.Attempt.ID.Client)
	case wire.ServerIdled:
		s.conns.drop(in.Attempt.ID.Client)
		out = s.strike(&in.Attempt, int(in.Fault), out)
	case wire.ServerTurnedAway:
		out = s.turnedAway(&in.Attempt, out)
	case wire.ServerSet:
		out = s.set(in.Knob, in.Value, out)
	case wire.ServerFault:
		f := &s.config.Faults[in.Fault]
		s.windows[in.Fault].move(f, in.Do, now)
		out = s.turn(int(in.Fault), out)
		s.seeEdges()
	}
	return s.advance(now, out)
}

// Deadline is when the server next needs a Tick: the end of the next service, of
// the next patience of an order, or the next edge of a fault; false if none is to
// come. Every Step may change it.
func (s *Server) Deadline() (clock.Instant, bool) {
	_, end, _ := s.due.Min()
	_, lapse, _ := s.patience.Min()
	next := min(end, lapse, s.edge)
	return next, next != clock.Never
}

// Busy is how many attempts are in service, in all services.
func (s *Server) Busy() (n int) {
	for i := range s.pools {
		n += s.pools[i].serving
	}
	return n
}

// Waiting is how many attempts wait for a worker, in backlogs or outside.
func (s *Server) Waiting() (n int) {
	for i := range s.pools {
		inside, outside := s.pools[i].waiting()
		n += inside + outside
	}
	return n
}

// Hits is how many attempts the fault with index i has hit: reset, answered,
// slowed down (from the moment they are taken up) or sent away by it.
func (s *Server) Hits(i int) int64 { return s.windows[i].hits }

// Faults are the faults of the configuration. They must not be changed.
func (s *Server) Faults() []Fault { return s.config.Faults }

// FaultState is whether the fault with index i is on, and when that changes next
// by itself, clock.Never if it does not.
func (s *Server) FaultState(i int) (on bool, next clock.Instant) {
	return s.windows[i].on, s.windows[i].next
}

// Now is the time of the latest Step; before the first, it is before every run.
func (s *Server) Now() clock.Instant { return s.now }

// advance does what is due up to and including the given moment.
func (s *Server) advance(until clock.Instant, out []wire.ServerEffect) []wire.ServerEffect {
	for {
		slot, end, _ := s.due.Min()
		waiter, lapse, _ := s.patience.Min()
		at := min(end, lapse, s.edge)
		if at > until || at == clock.Never {
			s.now = until
			return out
		}
		s.now = max(s.now, at)
		switch at {
		case end:
			out = s.finish(slot, out)
		case lapse:
			out = s.lapse(waiter, out)
		default:
			out = s.turnAll(out)
		}
	}
}

// turnAll turns on or off every fault whose edge has come.
func (s *Server) turnAll(out []wire.ServerEffect) []wire.ServerEffect {
	for i := range s.windows {
		if s.windows[i].next <= s.now {
			out = s.turn(i, out)
		}
	}
	s.seeEdges()
	return out
}

// turn gives fault i the state that it should have now, and does what that
// brings with it.
func (s *Server) turn(i int, out []wire.ServerEffect) []wire.ServerEffect {
	f, w := &s.config.Faults[i], &s.windows[i]
	was := w.on
	w.on, w.next = w.state(f, s.now)
	switch turned := f.row().turned; {
	case w.on == was:
		return s.stand(out) // a fault that was changed may have other effects
	case w.on:
		w.begin(s.now)
		out = s.reportEdge(wire.FaultBegan, i, out)
		out = s.stand(out)
		if turned != nil {
			out = turned(s, i, true, out)
		}
		return out
	default:
		w.ended = s.now
		out = s.reportEdge(wire.FaultEnded, i, out)
		out = s.stand(out)
		if turned != nil {
			out = turned(s, i, false, out)
		}
		return s.reportMiss(i, out)
	}
}

func (s *Server) seeEdges() {
	s.edge = clock.Never
	for i := range s.windows {
		s.edge = min(s.edge, s.windows[i].next)
	}
}

// set gives a knob a value and lets it take effect at once.
func (s *Server) set(k uint16, value int64, out []wire.ServerEffect) []wire.ServerEffect {
	Fields[k].Set(&s.config, value)
	s.limit.change(s.config.Limit, s.now)
	s.retune()
	return s.stand(out)
}
