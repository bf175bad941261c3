package run

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/live"
	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/faultserver"
	"herdscope/faultserver/fault"
	"herdscope/scenarios"
)

// Foreign is a run of a scenario's server alone, for clients that are not ours.
type Foreign struct {
	// Admin, AdminToken and MaxConns are those of faultserver.Config.
	Admin, AdminToken string
	MaxConns          int
	// OnArrival, if set, is told of every arrival, from many goroutines.
	OnArrival func(faultserver.Arrival)
}

// errForeign is the error of an action that is about the clients.
var errForeign = errors.New("belongs to the clients, which are not ours: only the server can be changed")

// alone is a run of a server alone.
type alone struct {
	parts
	clock  *live.Clock
	server *faultserver.Server
}

// startForeign starts the server. What its admin API changes goes to the session,
// whose hub must be told of the events before the first arrives.
func (s *Session) startForeign(o Options) error {
	runClock := live.NewClock()
	p, err := build(s.scenario, runClock.EpochUnixNanos(), o)
	if err != nil {
		return err
	}
	watched := watching(s.scenario, runClock.EpochUnixNanos())
	watched.Clients, watched.BreakersOn = 0, false
	p.hub = &hub{collector: metrics.New(watched), others: o.Observers, guests: newGuestBook()}
	s.hub = p.hub
	server, err := faultserver.Start(faultserver.Config{
		Addr: o.Addr, Model: p.model, Clock: runClock, Routes: s.scenario.Routes, ErrorLog: o.Log,
		Admin: o.Foreign.Admin, AdminToken: o.Foreign.AdminToken, MaxConns: o.Foreign.MaxConns,
		Guarded: true, AdHoc: true, AnyPath: true,
		Observer: p.hub.Observe, OnEdit: s.edited,
		OnArrival: func(a faultserver.Arrival) {
			p.hub.over(a)
			if o.Foreign.OnArrival != nil {
				o.Foreign.OnArrival(a)
			}
		},
	})
	if err != nil {
		return fmt.Errorf("start server: %w", err)
	}
	runClock.Resume()
	s.foreign, s.runner = true, &alone{p, runClock, server}
	return nil
}

func (a *alone) now() clock.Instant { return a.clock.Now() }

func (a *alone) do(in inputs) error {
	if !in.toServer {
		return errForeign
	}
	return a.server.Do(in.server)
}

func (a *alone) advance(clock.Instant) error { return a.server.Err() }

// pause does nothing: clients that are not ours cannot be held.
func (a *alone) pause(bool) {}

// look does nothing: there is no fleet.
func (a *alone) look(func(clock.Instant, *fleet.Fleet)) {}

func (a *alone) condition() condition {
	return condition{speed: 1, target: a.server.URL()}
}

func (a *alone) close() error { return a.server.Close() }

// AdminURL is where the admin API of a Foreign run listens; empty if there is
// none.
func (s *Session) AdminURL() string {
	if a, ok := s.runner.(*alone); ok {
		return a.server.AdminURL()
	}
	return ""
}

// Target is where the server of a run over real HTTP listens; else empty.
func (s *Session) Target() string { return s.runner.condition().target }

// edited takes in what was done through the admin API, so that the scenario is
// what the server is now.
func (s *Session) edited(e faultserver.Edit) {
	before := s.hub.edited(e)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.scenario.Server
	c.Faults = slices.Clone(c.Faults) // others may share them
	i := slices.IndexFunc(c.Faults, func(f fault.Fault) bool { return f.Name == before })
	switch {
	case e.Fault < 0:
		fault.Fields[e.Knob].Set(c, e.Value)
		s.hub.staffed(s.scenario.ServerWorkers())
	case e.New:
		c.Faults = append(c.Faults, e.Plan)
	case i < 0 || e.Moved:
	case e.Plan.Name == "":
		c.Faults = slices.Delete(c.Faults, i, i+1)
	default:
		c.Faults[i] = e.Plan
	}
}

// edited tells the metrics of an edit, and returns the name that the fault had
// before.
func (h *hub) edited(e faultserver.Edit) (before string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e.Fault < 0 {
		k := &fault.Fields[e.Knob]
		h.collector.Mark(e.At, k.Name+" = "+k.Format(e.Value))
		return ""
	}
	i := uint8(e.Fault)
	before = h.collector.FaultName(i)
	h.collector.MarkDone(e.At, cmp.Or(e.Plan.Name, before)+" "+editWord(e))
	if e.Moved {
		h.collector.SetFault(i, e.Do)
		return before
	}
	plan := metrics.FaultPlan{}
	if f := e.Plan; f.Name != "" {
		plan = metrics.FaultPlan{Name: f.Name, Length: f.Length, Next: f.NextAfter}
	}
	h.collector.SetFaultPlan(i, plan)
	return before
}

// staffed tells the metrics how many workers there are.
func (h *hub) staffed(workers int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.collector.SetWorkers(workers)
}

// editWord says what was done to a fault.
func editWord(e faultserver.Edit) string {
	switch {
	case e.New:
		return "added"
	case e.Moved:
		return e.Do.String()
	case e.Plan.Name == "":
		return "removed"
	}
	return "changed"
}

// over takes in the end of an arrival of a foreign client.
func (h *hub) over(a faultserver.Arrival) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.guests.over(a, h.emit)
}

// meet takes in an event of a server for foreign clients. h.mu is held.
func (h *hub) meet(e wire.Event) {
	h.guests.saw(e, func(e wire.Event) {
		h.collector.SetClients(len(h.guests.rows))
		h.emit(e)
	})
}

// placed gives an action on a fault the index that the server has for it: in a
// Foreign run faults come and go.
func (h *hub) placed(a scenarios.Action, in inputs) (inputs, error) {
	if a.Kind != scenarios.DoFault || h.guests == nil {
		return in, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	i, ok := h.collector.FaultIndex(a.Fault)
	if !ok {
		return in, fmt.Errorf("%s: there is no such fault any more", a.Fault)
	}
	in.server.Fault = i
	return in, nil
}
