package run

import (
	"fmt"

	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/wire"
	"herdscope/scenarios"
)

// inputs is what an action is to the machines: an input for one of them.
type inputs struct {
	toServer bool
	fleet    fleet.Input
	server   wire.ServerInput
}

// translate turns an action into the input that does it, and changes the
// scenario to what it is after it; or it says why the action cannot be done.
func translate(s *scenarios.Scenario, a scenarios.Action) (inputs, error) {
	after, err := s.After(a)
	if err != nil {
		return inputs{}, err
	}
	*s = after
	if a.Kind == scenarios.DoFault {
		return faultInput(s, a), nil
	}
	k, err := s.Knob(a.Knob)
	if err != nil {
		return inputs{}, err
	}
	switch k.Owner {
	case scenarios.OwnerPolicy, scenarios.OwnerFleet:
		return inputs{fleet: fleet.Input{Kind: fleet.Set, Knob: k.Index, Value: a.Value}}, nil
	case scenarios.OwnerServer:
		in := wire.ServerInput{Kind: wire.ServerSet, Knob: k.Index, Value: a.Value}
		return inputs{toServer: true, server: in}, nil
	}
	return inputs{}, fmt.Errorf("%s: cannot be changed while a run goes on", a.Knob)
}

// doer is a run that inputs can be fed to.
type doer interface {
	now() clock.Instant
	do(inputs) error
}

// carryOut does an action now, by its input, after which the scenario is as
// given; it lets the metrics know before the machines.
func carryOut(d doer, watcher *hub, a scenarios.Action, in inputs, after scenarios.Scenario) error {
	watcher.mark(d.now(), a)
	watcher.retuned(after, in)
	return d.do(in)
}

// faultInput is what does something to a fault that the scenario has.
func faultInput(s *scenarios.Scenario, a scenarios.Action) inputs {
	in := wire.ServerInput{Kind: wire.ServerFault, Do: a.Do}
	for i, f := range s.Server.Faults {
		if f.Name == a.Fault {
			in.Fault = uint8(i)
		}
	}
	return inputs{toServer: true, server: in}
}
