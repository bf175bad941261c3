// Package run turns a scenario into a run: it builds the machines, gives them a
// driver, lets observers watch, and does to them what a timeline or a hand says.
//
// Headless runs a scenario to its end. Open begins a Session that a screen can
// watch and steer. The package knows nothing of screens, files and flags.
package run

import (
	"fmt"
	"log"

	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
	"herdscope/scenarios"
)

// Options is how a scenario is run.
type Options struct {
	// Live runs over real HTTP and the wall clock; otherwise time is virtual.
	Live bool
	// Addr is where the server of a live run listens; empty is a free loopback
	// port.
	Addr string
	// Foreign, if set, runs only the server, for clients that are not ours: over
	// real HTTP, without a timeline. Only Open can do that.
	Foreign *Foreign
	// Observers see every event, one at a time.
	Observers []wire.Observer
	// Progress, if set, is told about ten times a second how far a headless run
	// has come.
	Progress func(Progress)
	// Log takes what the HTTP server and client have to complain about; nil
	// drops it.
	Log *log.Logger
}

// Progress is how far a headless run has come. At is later than Until while the
// requests under way may still end.
type Progress struct {
	At, Until clock.Instant
	Live      bool
	Snapshot  *metrics.Snapshot
}

// Result is what a run has shown.
type Result struct {
	// Scenario is what was run, as it was at the end.
	Scenario scenarios.Scenario
	Live     bool
	Summary  metrics.Summary
	Faults   []metrics.FaultView
	// Aborted says that it was stopped before its time.
	Aborted bool
}

// parts is the machines of a run, and what watches them.
type parts struct {
	fleet *fleet.Fleet
	model *fault.Server
	hub   *hub
}

// build makes the machines for a scenario. The epoch is the wall clock at the
// run's beginning, in Unix nanoseconds.
func build(s scenarios.Scenario, epoch int64, o Options) (parts, error) {
	if err := s.Validate(); err != nil {
		return parts{}, fmt.Errorf("scenario %s: %w", s.Name, err)
	}
	clients, err := fleet.New(s.Fleet, s.Seed)
	if err != nil {
		return parts{}, fmt.Errorf("scenario %s: fleet: %w", s.Name, err)
	}
	s.Server.Routes, s.Server.Headers = s.Routes, s.Headers
	model, err := fault.New(s.Server, s.Seed, epoch)
	if err != nil {
		return parts{}, fmt.Errorf("scenario %s: server: %w", s.Name, err)
	}
	watcher := &hub{collector: metrics.New(watching(s, epoch)), others: o.Observers}
	return parts{fleet: clients, model: model, hub: watcher}, nil
}

// watching is what the metrics must know of a scenario.
func watching(s scenarios.Scenario, epoch int64) metrics.Config {
	c := metrics.Config{
		Clients:        s.Fleet.Clients,
		Scopes:         max(1, len(s.Scopes)),
		BreakersOn:     s.Fleet.Policy.Breaker.On(),
		BreakersShared: s.Fleet.Policy.Breaker.Shared,
		Workers:        s.ServerWorkers(),
		Base:           s.Fleet.Policy.Retry.Backoff.Base,
		Cap:            s.Fleet.Policy.Retry.Backoff.Cap,
		EpochFraction:  fractionOfSecond(epoch),
	}
	for _, f := range s.Server.Faults {
		c.Faults = append(c.Faults, metrics.FaultPlan{
			Name: f.Name, Length: f.Length, Next: f.NextAfter,
		})
	}
	return c
}
