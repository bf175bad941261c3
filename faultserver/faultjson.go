package faultserver

import (
	"net/http"
	"slices"

	"herdscope/engine/knob"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

// The fields of a fault that are in no table.
const (
	nameField  = "name"
	kindField  = "kind"
	startField = "start"
)

// describeFault is all fields of a fault, as files name and write them.
func describeFault(f *fault.Fault) object {
	o := object{{nameField, f.Name}, {kindField, f.Kind.String()}}
	for i := range fault.FaultFields {
		if field := &fault.FaultFields[i]; field.BelongsTo(f.Kind) {
			o = append(o, pair{field.Name, jsonValue(&field.Spec, field.Get(f))})
		}
	}
	for i := range fault.TextFields {
		if field := &fault.TextFields[i]; field.BelongsTo(f.Kind) {
			o = append(o, pair{field.Name, field.Text(f)})
		}
	}
	return o
}

// newFault is the fault that an object asks for. One without a start and not
// left to the hand begins at once: it has no schedule, and begins says so.
func newFault(entries []entry) (f fault.Fault, begins bool, wrong *problem) {
	kind, wrong := kindOf(entries)
	if wrong != nil {
		return f, false, wrong
	}
	f, wrong = changedFault(fault.NewFault(kind), entries)
	if wrong != nil {
		return f, false, wrong
	}
	if wrong := missing(&f, entries); wrong != nil {
		return f, false, wrong
	}
	if !given(entries, startField) && !f.Manual {
		f.Manual, begins = true, true
	}
	return f, begins, badSchedule(&f)
}

func given(entries []entry, name string) bool {
	return slices.ContainsFunc(entries, func(e entry) bool { return e.name == name })
}

// kindOf reads the kind before all else, since it says which fields there are.
func kindOf(entries []entry) (fault.Kind, *problem) {
	spec := knob.Spec{Name: kindField, Kind: knob.Choice, Choices: fault.KindNames()}
	for _, e := range entries {
		if e.name == kindField {
			v, err := spec.Parse(e.text)
			if err != nil {
				return 0, choices(refusal(err), spec.Choices)
			}
			return fault.Kind(v), nil
		}
	}
	p := trouble(http.StatusBadRequest, "kind: it is missing")
	p.Field, p.Allowed = kindField, spec.Choices
	return 0, p
}

// choices names what is allowed one by one.
func choices(p *problem, allowed []string) *problem {
	p.Allowed = allowed
	return p
}

// changedFault is a fault with what an object says in place of what it had.
func changedFault(f fault.Fault, entries []entry) (fault.Fault, *problem) {
	for _, e := range entries {
		if wrong := change(&f, e); wrong != nil {
			return f, wrong
		}
	}
	return f, badSchedule(&f)
}

func change(f *fault.Fault, e entry) *problem {
	switch e.name {
	case nameField:
		return rename(f, e.text)
	case kindField:
		if e.text != f.Kind.String() {
			p := trouble(http.StatusBadRequest, "kind: a fault keeps its kind")
			p.Field, p.Value, p.Allowed = kindField, e.text, []string{f.Kind.String()}
			return p
		}
		return nil
	}
	for i := range fault.FaultFields {
		field := &fault.FaultFields[i]
		if field.Name != e.name || !field.BelongsTo(f.Kind) {
			continue
		}
		v, err := field.Parse(e.text)
		if err == nil {
			field.Set(f, v)
			return nil
		}
		if field.Kind == knob.Choice {
			return choices(refusal(err), field.Choices)
		}
		return refusal(err)
	}
	if field := fault.TextFieldNamed(e.name); field != nil && field.BelongsTo(f.Kind) {
		if err := field.Set(f, e.text); err != nil {
			return refusal(err)
		}
		return nil
	}
	p := unknown("field", e.name, fault.FieldNames(f.Kind))
	p.Error += " in a fault of the kind " + f.Kind.String()
	p.Field, p.Value = e.name, e.text
	return p
}

// rename gives a new fault its name; one that has a name keeps it.
func rename(f *fault.Fault, name string) *problem {
	p := trouble(http.StatusBadRequest, "name: a fault keeps its name")
	p.Field, p.Value, p.Allowed = nameField, name, []string{f.Name}
	switch {
	case f.Name != "" && name != f.Name:
		return p
	case !knob.IsName(name):
		p.Error = "name: " + knob.Quote(name) + " is not a name"
		p.Allowed = []string{"lower case words with hyphens, such as rate-limit"}
		return p
	}
	f.Name = name
	return nil
}

// missing is what is wrong with an object that leaves out what a fault needs.
func missing(f *fault.Fault, entries []entry) *problem {
	p := trouble(http.StatusBadRequest, "")
	if f.Name == "" {
		p.Error, p.Field = "name: it is missing", nameField
		p.Allowed = []string{"lower case words with hyphens, such as rate-limit"}
		return p
	}
	for i := range fault.FaultFields {
		field := &fault.FaultFields[i]
		if field.Required && field.BelongsTo(f.Kind) && !given(entries, field.Name) {
			p.Error, p.Field = field.Name+": it is missing", field.Name
			p.Allowed = []string{field.Allowed()}
			return p
		}
	}
	return nil
}

// badSchedule says what is wrong with the windows of a fault that is left to the
// hand and yet has some. The model sees to the rest.
func badSchedule(f *fault.Fault) *problem {
	if !f.Manual || f.Start == 0 && f.Every == 0 {
		return nil
	}
	p := trouble(http.StatusBadRequest, "it does not belong to a fault that is manual")
	p.Field, p.Allowed = startField, []string{"manual: false, or no start and no every"}
	if f.Start == 0 {
		p.Field = "every"
	}
	p.Error = p.Field + ": " + p.Error
	return p
}

// knobInputs reads an object of knobs by name.
func knobInputs(entries []entry) ([]wire.ServerInput, *problem) {
	var inputs []wire.ServerInput
	for _, e := range entries {
		i, ok := knob.Index(fault.Fields, e.name)
		if !ok {
			p := unknown("knob", e.name, knobNames())
			p.Field, p.Value = e.name, e.text
			return nil, p
		}
		v, err := fault.Fields[i].Parse(e.text)
		if err != nil {
			return nil, refusal(err)
		}
		inputs = append(inputs, wire.ServerInput{Kind: wire.ServerSet, Knob: uint16(i), Value: v})
	}
	return inputs, nil
}

func knobNames() []string {
	names := make([]string, len(fault.Fields))
	for i := range fault.Fields {
		names[i] = fault.Fields[i].Name
	}
	return names
}
