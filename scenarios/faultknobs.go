package scenarios

import (
	"slices"
	"strings"

	"herdscope/engine/knob"
	"herdscope/faultserver/fault"
)

// faultPrefix begins the names of the knobs of faults: fault.NAME.FIELD.
const faultPrefix = "fault."

// FaultKnobs lists the knobs that the faults of the scenario have, such as
// fault.outage.length. They are Fixed: a running fault is moved by hand with
// DoFault.
func (s Scenario) FaultKnobs() []knob.Spec {
	var specs []knob.Spec
	for i := range s.Server.Faults {
		for j := range fault.FaultFields {
			if fault.FaultFields[j].BelongsTo(s.Server.Faults[i].Kind) {
				specs = append(specs, s.faultSetting(i, j).Spec)
			}
		}
	}
	return specs
}

// faultSetting is the knob for field j of fault i.
func (s *Scenario) faultSetting(i, j int) Setting {
	field := &fault.FaultFields[j]
	spec := field.Spec
	spec.Name = faultPrefix + s.Server.Faults[i].Name + "." + field.Name
	spec.Fixed = true
	return Setting{
		Spec: spec, Owner: OwnerFault, Index: uint16(i),
		get: func(s *Scenario) int64 { return field.Get(&s.Server.Faults[i]) },
		set: func(s *Scenario, v int64) {
			s.Server.Faults = append(s.Server.Faults[:0:0], s.Server.Faults...) // others may share them
			field.Set(&s.Server.Faults[i], v)
			if s.Server.Faults[i].Manual && field.Name == fault.ManualField {
				unschedule(&s.Server.Faults[i])
			}
		},
	}
}

// unschedule takes the windows from a fault that is now left to the hand: they
// have no value that says that there are none.
func unschedule(f *fault.Fault) { f.Start, f.Every = 0, 0 }

// Knob finds a knob of this scenario, those of its faults, services and scopes included. The error
// for an unknown name is an *Error that suggests the nearest one.
func (s Scenario) Knob(name string) (Setting, error) {
	if strings.HasPrefix(name, servicePrefix) {
		return s.serviceKnob(name)
	}
	if !strings.HasPrefix(name, faultPrefix) {
		return s.plainKnob(name)
	}
	for i := range s.Server.Faults {
		for j := range fault.FaultFields {
			if !fault.FaultFields[j].BelongsTo(s.Server.Faults[i].Kind) {
				continue
			}
			if k := s.faultSetting(i, j); k.Name == name {
				return k, nil
			}
		}
	}
	return Setting{}, &Error{Field: shorten(name), Msg: s.noFaultKnob(name)}
}

// setFaultText gives a field of a fault that is text, which is no knob, the value
// text; false if there is no such field.
func (s *Scenario) setFaultText(name, text string) (known bool, err error) {
	for i := range s.Server.Faults {
		key, ok := strings.CutPrefix(name, faultPrefix+s.Server.Faults[i].Name+".")
		field := fault.TextFieldNamed(key)
		if !ok || field == nil || !field.BelongsTo(s.Server.Faults[i].Kind) {
			continue
		}
		s.Server.Faults = slices.Clone(s.Server.Faults) // others may share them
		if err := field.Set(&s.Server.Faults[i], text); err != nil {
			return true, fieldError(name, err)
		}
		return true, nil
	}
	return false, nil
}

func (s Scenario) noFaultKnob(name string) string {
	if len(s.Server.Faults) == 0 {
		return "there is no such knob: the scenario has no faults"
	}
	var names []string
	for _, spec := range s.FaultKnobs() {
		names = append(names, spec.Name)
	}
	for i := range s.Server.Faults {
		f := &s.Server.Faults[i]
		for j := range fault.TextFields {
			if fault.TextFields[j].BelongsTo(f.Kind) {
				names = append(names, faultPrefix+f.Name+"."+fault.TextFields[j].Name)
			}
		}
	}
	return unknownKnob(name, names)
}
