package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"herdscope/engine/clock"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// AddFault gives the server one more fault at now, whole or not at all, and
// returns its index: the lowest that is free, which is also its place in the
// order of precedence. The error is a *knob.Error that names the field, or says
// that there are MaxFaults already.
func (s *Server) AddFault(
	now clock.Instant, f Fault, out []wire.ServerEffect,
) (i int, effects []wire.ServerEffect, err error) {
	if i = s.freePlace(); i == MaxFaults {
		return i, out, refuse("name", f.Name, fmt.Sprintf("at most %d faults at a time", MaxFaults))
	}
	if err := s.checkFault(i, &f); err != nil {
		return i, out, err
	}
	out = s.pass(now, out)
	if i == len(s.windows) {
		s.config.Faults = append(s.config.Faults, Fault{})
		s.windows = append(s.windows, window{})
	}
	s.windows[i] = window{until: longPast}
	return i, s.plan(i, f, out), nil
}

// ChangeFault gives the fault with index i other settings at now, all at once.
// Its name and kind stay, and so do its hits and what a hand has done to it. The
// error is a *knob.Error that names the field.
func (s *Server) ChangeFault(
	now clock.Instant, i int, f Fault, out []wire.ServerEffect,
) ([]wire.ServerEffect, error) {
	switch was := &s.config.Faults[i]; {
	case f.Name != was.Name:
		return out, refuse("name", f.Name, "only "+was.Name+", since a fault keeps its name")
	case f.Kind != was.Kind:
		return out, refuse("kind", f.Kind.String(), "only "+was.Kind.String()+", since a fault keeps its kind")
	}
	if err := s.checkFault(i, &f); err != nil {
		return out, err
	}
	out = s.pass(now, out)
	s.windows[i].limiter.change(f.Limit, s.now)
	return s.plan(i, f, out), nil
}

// RemoveFault ends the fault with index i at now and takes it away. The others
// keep their indices; HasFault is false for i until AddFault gives the place to
// another fault.
func (s *Server) RemoveFault(now clock.Instant, i int, out []wire.ServerEffect) []wire.ServerEffect {
	out = s.pass(now, out)
	s.windows[i].move(&s.config.Faults[i], wire.FaultOff, s.now)
	out = s.turn(i, out)
	s.windows[i] = window{until: longPast}
	out = s.plan(i, noFault, out)
	for slot := range s.jobs.table {
		s.jobs.table[slot].forget(i)
	}
	return out
}

// noFault is what stands in a place without a fault: it never begins.
var noFault = Fault{Manual: true}

// HasFault says whether there is a fault with index i.
func (s *Server) HasFault(i int) bool {
	return i >= 0 && i < len(s.config.Faults) && s.config.Faults[i].Name != ""
}

// FaultHand is what a hand has done to the fault with index i: FaultOn, FaultOff,
// or FaultAuto if that is over or nothing.
func (s *Server) FaultHand(i int) wire.FaultDo { return s.windows[i].hand }

// Config is the configuration as it is now, with the faults that have come and
// gone since New.
func (s *Server) Config() Config {
	c := s.config
	c.Faults = slices.Clone(c.Faults)
	return c
}

// Seed is the root of all draws, and EpochUnixNanos the wall clock time at which
// the run clock is 0, both as given to New.
func (s *Server) Seed() uint64 { return s.seed }

// EpochUnixNanos: see Seed.
func (s *Server) EpochUnixNanos() int64 { return s.epoch }

// ForgetHits sets the hits of every fault to 0.
func (s *Server) ForgetHits() {
	for i := range s.windows {
		s.windows[i].hits, s.windows[i].before = 0, 0
	}
}

// pass lets time go on to now, or does nothing if that has passed.
func (s *Server) pass(now clock.Instant, out []wire.ServerEffect) []wire.ServerEffect {
	return s.advance(max(now, s.now), out)
}

// plan puts a fault in place i, to begin or end at once.
func (s *Server) plan(i int, f Fault, out []wire.ServerEffect) []wire.ServerEffect {
	s.config.Faults[i] = f
	s.conns.watch(&f)
	out = s.turn(i, out)
	s.seeEdges()
	return out
}

// freePlace is the lowest index without a fault; MaxFaults if there is none.
func (s *Server) freePlace() int {
	i := slices.IndexFunc(s.config.Faults, func(f Fault) bool { return f.Name == "" })
	if i < 0 {
		return len(s.config.Faults)
	}
	return i
}

// checkFault checks what is to stand in place i as files are checked.
func (s *Server) checkFault(i int, f *Fault) error {
	for j := range s.config.Faults {
		if j != i && f.Name != "" && s.config.Faults[j].Name == f.Name {
			return refuse("name", f.Name, "a name that no other fault has")
		}
	}
	for j := range FaultFields {
		if field := &FaultFields[j]; field.BelongsTo(f.Kind) {
			if err := field.Check(field.Get(f)); err != nil {
				return err
			}
		}
	}
	const at = "faults[0]."
	err := (&Config{Faults: []Fault{*f}, Services: s.config.Services}).checkFault(0)
	if refused := (*knob.Error)(nil); errors.As(err, &refused) {
		refused.Knob = strings.TrimPrefix(refused.Knob, at)
	}
	return err
}
