package fault

import "herdscope/engine/wire"

// Manner is how a server is away in an outage.
type Manner uint8

// The manners of an outage.
const (
	// ByReset accepts connections and resets them, those in flight too.
	ByReset Manner = iota
	// ByRefusing has no listener: connections are refused, and those that there
	// are reset.
	ByRefusing
	// ByBlackHole accepts and never answers. What was in flight is lost as well:
	// even after the outage nothing comes back for it.
	ByBlackHole
	// ByFreezing stops all work. What is in service and in the backlog stays, and
	// goes on afterwards where it was. The door still works: arrivals wait in the
	// backlog, and are turned away when that is full.
	ByFreezing
)

var mannerNames = []string{"reset", "refuse", "black-hole", "freeze"}

// MannerNames lists the manners' names in the order of their values.
func MannerNames() []string { return mannerNames }

// String is the manner's name, as scenario files write it.
func (m Manner) String() string { return nameOf(mannerNames, int(m)) }

// checkOutage refuses a match where there is no request to look at.
func (f *Fault) checkOutage(at string) error {
	m := f.Match
	if f.How == ByFreezing {
		m.Service = ""
	}
	if m != (Match{}) && (f.How == ByRefusing || f.How == ByFreezing) {
		name, value := m.first()
		return refuse(at+name, value,
			"nothing where the outage is to "+f.How.String()+": it looks at no request")
	}
	return nil
}

// turnOutage does what the edges of an outage bring with them.
func (s *Server) turnOutage(i int, on bool, out []wire.ServerEffect) []wire.ServerEffect {
	switch how := s.config.Faults[i].How; {
	case !on && how != ByBlackHole:
		s.restart(i)
		return out
	case !on:
		return out
	case how == ByFreezing:
		return s.holdAll(i, out)
	case how == ByRefusing:
		s.conns.dropAll()
	}
	return s.loseAll(i, out)
}

// stand has the listener and the workers be as the faults that are on ask for.
// It does nothing where that is so already.
func (s *Server) stand(out []wire.ServerEffect) []wire.ServerEffect {
	out = s.setListener(out)
	for p := range s.pools {
		s.setFrozen(uint8(p))
	}
	s.setLost()
	return s.takeUp(out)
}

// setListener asks for the listener to be closed or opened, if that is a change.
func (s *Server) setListener(out []wire.ServerEffect) []wire.ServerEffect {
	refusing := false
	for i := range s.windows {
		f := &s.config.Faults[i]
		refusing = refusing || s.windows[i].on && f.Kind == Outage && f.How == ByRefusing
	}
	if refusing == s.refusing {
		return out
	}
	s.refusing = refusing
	kind := wire.ServerListen
	if refusing {
		kind = wire.ServerRefuse
	}
	return append(out, wire.ServerEffect{Kind: kind})
}

// setFrozen stops the work of a service or lets it go on, if that is a change.
func (s *Server) setFrozen(service uint8) {
	frozen := false
	for i := range s.windows {
		f := &s.config.Faults[i]
		frozen = frozen || s.windows[i].on && f.Kind == Outage && f.How == ByFreezing && s.serves(i, service)
	}
	if frozen == s.pools[service].frozen {
		return
	}
	s.pools[service].frozen = frozen
	for slot := s.jobs.first; slot != none; slot = s.jobs.table[slot].next {
		if j := &s.jobs.table[slot]; j.service != service || !j.stage.working() {
			continue
		} else if frozen {
			j.rest = j.end.Sub(s.now)
			s.due.Clear(slot)
		} else {
			j.end = s.now.Add(j.rest)
			s.due.Set(slot, j.end)
		}
	}
}

// holdAll counts a hit of outage i for everything that it stops.
func (s *Server) holdAll(i int, out []wire.ServerEffect) []wire.ServerEffect {
	for slot := s.jobs.first; slot != none; slot = s.jobs.table[slot].next {
		if j := &s.jobs.table[slot]; s.serves(i, j.service) {
			out = s.strike(&j.attempt, i, out)
		}
	}
	return out
}

// loseAll ends everything that outage i matches, first come first: what is in
// service, and then what waits.
func (s *Server) loseAll(i int, out []wire.ServerEffect) []wire.ServerEffect {
	how := s.config.Faults[i].How
	for _, working := range [2]bool{true, false} {
		for slot := s.jobs.first; slot != none; {
			j := &s.jobs.table[slot]
			next := j.next
			if j.stage.working() == working && s.matches(i, &j.attempt) {
				gone := s.end(slot)
				out = s.lose(&gone, i, how, out)
			}
			slot = next
		}
	}
	return s.takeUp(out)
}

// outage is the first outage that takes an arrival, if there is one.
func (s *Server) outage(a *wire.Attempt) (i int, hit bool) {
	for i := range s.windows {
		f := &s.config.Faults[i]
		if s.windows[i].on && f.Kind == Outage && f.How != ByFreezing && s.matches(i, a) {
			return i, true
		}
	}
	return 0, false
}

// lose ends a job in the manner of outage i.
func (s *Server) lose(j *job, i int, how Manner, out []wire.ServerEffect) []wire.ServerEffect {
	s.windows[i].hits++
	if how == ByBlackHole {
		e := s.event(wire.ServerSwallowed, &j.attempt)
		e.Event.Delay, e.Event.Wasted = s.worked(j), j.stage.working()
		e.Event.Cause, e.Event.Fault = wire.CauseFault, uint8(i)
		return append(out, e)
	}
	s.conns.drop(j.attempt.ID.Client)
	out = s.reset(&j.attempt, s.worked(j), !j.left, uint8(i), out)
	out[len(out)-1].Event.Wasted = j.stage.working()
	return out
}

// refused answers an attempt that found no listener: it has not arrived.
func (s *Server) refused(a *wire.Attempt, i int, out []wire.ServerEffect) []wire.ServerEffect {
	s.conns.drop(a.ID.Client)
	out = append(out, reply(a.ID, wire.Reply{Kind: wire.ReplyRefused}))
	return s.strike(a, i, out)
}

// turnedAway counts an attempt that found the listener of a live server closed.
func (s *Server) turnedAway(a *wire.Attempt, out []wire.ServerEffect) []wire.ServerEffect {
	if i, lost := s.outage(a); lost && s.config.Faults[i].How == ByRefusing {
		return s.strike(a, i, out)
	}
	return out
}
