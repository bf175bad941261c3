package run

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/retryafter"
	"herdscope/engine/sim"
	"herdscope/engine/wire"
	"herdscope/scenarios"
)

// virtual is a run in simulated time. It belongs to one goroutine.
type virtual struct {
	parts
	sim *sim.Sim

	// Pacing against the wall clock, for a run that is watched.
	paused  bool
	last    time.Time
	target  clock.Instant
	speed   float64
	measure measure
}

// measure is how far run and wall clock have come since the speed was taken.
type measure struct {
	wall time.Duration
	run  time.Duration
}

func startVirtual(s scenarios.Scenario, o Options) (*virtual, error) {
	p, err := build(s, retryafter.VirtualEpochUnixNanos, o)
	if err != nil {
		return nil, err
	}
	v := &virtual{parts: p, speed: 1}
	v.sim = sim.New(sim.Config{
		Fleet: p.fleet, Server: p.model, Observers: []wire.Observer{p.hub},
		Delay: s.NetworkDelay, Epoch: retryafter.VirtualEpochUnixNanos, Date: p.model.Date,
		MaxAtOnce: 1_000_000 + 20*s.Fleet.Clients,
	})
	return v, nil
}

func (v *virtual) now() clock.Instant { return v.sim.Now() }

func (v *virtual) do(in inputs) error {
	if in.toServer {
		v.sim.Serve(in.server)
	} else {
		v.sim.Do(in.fleet)
	}
	return nil
}

func (v *virtual) stop() error {
	v.sim.Do(fleet.Input{Kind: fleet.Stop})
	return nil
}

func (v *virtual) close() error { return nil }

const (
	// slice is how far a watched run goes before it looks at the wall clock.
	slice = 5 * time.Millisecond
	// budget is how long one call of advance may take.
	budget = 25 * time.Millisecond
)

// advance lets the run catch up with the wall clock, but not past until. A
// machine that cannot keep up makes the run slower, never later.
func (v *virtual) advance(until clock.Instant) error {
	began := time.Now()
	passed := began.Sub(v.last)
	first := v.last.IsZero()
	v.last = began
	if v.paused || first {
		return nil
	}
	from := v.sim.Now()
	v.target = min(v.target.Add(passed), until)
	for v.sim.Now() < v.target {
		if err := v.sim.RunUntil(min(v.sim.Now().Add(slice), v.target)); err != nil {
			return err
		}
		if time.Since(began) > budget {
			v.target = v.sim.Now()
		}
	}
	v.measureSpeed(passed, v.sim.Now().Sub(from))
	return nil
}

// measureSpeed takes the speed anew about every second.
func (v *virtual) measureSpeed(wall, run time.Duration) {
	v.measure.wall += wall
	v.measure.run += run
	if v.measure.wall >= time.Second {
		v.speed = float64(v.measure.run) / float64(v.measure.wall)
		v.measure = measure{}
	}
}

func (v *virtual) look(look func(clock.Instant, *fleet.Fleet)) { look(v.sim.Now(), v.fleet) }

func (v *virtual) pause(paused bool) { v.paused = paused }

func (v *virtual) condition() condition { return condition{speed: v.speed} }
