package run

import (
	"fmt"

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

// translate turns an action into the input that does it, or says why it cannot
// be done in a run of this scenario.
func translate(s *scenarios.Scenario, a scenarios.Action) (inputs, error) {
	if a.Kind == scenarios.DoFault {
		for i, f := range s.Server.Faults {
			if f.Name == a.Fault {
				in := wire.ServerInput{Kind: wire.ServerFault, Fault: uint8(i), Do: a.Do}
				return inputs{toServer: true, server: in}, nil
			}
		}
		return inputs{}, s.UnknownFault(a.Fault)
	}
	spec, err := scenarios.KnobNamed(a.Knob)
	if err != nil {
		return inputs{}, err
	}
	if spec.Fixed {
		return inputs{}, fmt.Errorf("%s: fixed while a run goes on; start again with it set", a.Knob)
	}
	if err := s.SetValue(a.Knob, a.Value); err != nil {
		return inputs{}, err
	}
	owner, index := scenarios.Target(a.Knob)
	if owner == scenarios.OwnerServer {
		in := wire.ServerInput{Kind: wire.ServerSet, Knob: index, Value: a.Value}
		return inputs{toServer: true, server: in}, nil
	}
	return inputs{fleet: fleet.Input{Kind: fleet.Set, Knob: index, Value: a.Value}}, nil
}
