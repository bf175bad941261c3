package fault

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"herdscope/engine/knob"
)

// Validate reports the first field that is out of range, as a *knob.Error whose
// Knob is the name of a knob or a path such as faults[2].status.
func (c Config) Validate() error {
	if err := knob.CheckAll(Fields, &c); err != nil {
		return err
	}
	if err := c.CheckServices(); err != nil {
		return err
	}
	if n := len(c.Faults); n > MaxFaults {
		return refuse("faults", strconv.Itoa(n)+" faults", fmt.Sprintf("at most %d", MaxFaults))
	}
	for i := range c.Faults {
		if err := c.checkFault(i); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) checkFault(i int) error {
	f, at := &c.Faults[i], fmt.Sprintf("faults[%d].", i)
	if err := c.checkName(i, at+"name"); err != nil {
		return err
	}
	if err := f.checkWindow(at); err != nil {
		return err
	}
	if int(f.Kind) >= NumKinds {
		return knob.Spec{Name: at + "kind", Kind: knob.Choice, Choices: KindNames()}.
			Check(int64(f.Kind))
	}
	if err := f.checkFields(at); err != nil {
		return err
	}
	if check := f.row().check; check != nil {
		if err := check(f, at); err != nil {
			return err
		}
	}
	return c.checkMatch(f, at)
}

// checkMatch checks that there is the service that a fault names.
func (c *Config) checkMatch(f *Fault, at string) error {
	names, name := c.ServiceNames(), f.Match.Service
	if name == "" || slices.Contains(names, name) {
		return nil
	}
	err := &knob.Error{
		Knob: at + "service", Value: name, Problem: "is no service",
		Allowed: strings.Join(names, ", "),
	}
	err.Nearest, _ = knob.Nearest(name, names)
	return err
}

// checkFields checks the fields that belong to the fault's kind.
func (f *Fault) checkFields(at string) error {
	for i := range FaultFields {
		field := &FaultFields[i]
		v := field.Get(f)
		if !field.BelongsTo(f.Kind) || v == 0 && (field.Kind == knob.Duration || field.Name == "burst") {
			continue // no time has no effect, and a burst of none counts as one
		}
		spec := field.Spec
		spec.Name = at + spec.Name
		if err := spec.Check(v); err != nil {
			return err
		}
	}
	for i := range TextFields {
		field, text := &TextFields[i], TextFields[i].Text(f)
		if text == "" {
			continue
		}
		var copied Fault
		if err := field.read(&copied, text); err != nil {
			return refuse(at+field.Name, text, field.Allowed)
		}
		if !field.BelongsTo(f.Kind) {
			return refuse(at+field.Name, text, "nothing for a fault of the kind "+f.Kind.String())
		}
	}
	return nil
}

// checkName checks that fault i has a name of its own, since hands and routes
// refer to faults by name.
func (c *Config) checkName(i int, at string) error {
	name := c.Faults[i].Name
	if name == "" {
		return refuse(at, name, "any name")
	}
	for j := range i {
		if c.Faults[j].Name == name {
			return refuse(at, name, fmt.Sprintf("a name that faults[%d] does not have", j))
		}
	}
	return nil
}

// checkWindow checks that windows have a length and do not run into each other,
// so that each has two edges.
func (f *Fault) checkWindow(at string) error {
	switch {
	case f.Length < 0:
		return refuse(at+"length", f.Length.String(), "more than 0s, or nothing for open")
	case f.Manual:
		return nil
	case f.Start < 0:
		return refuse(at+"start", f.Start.String(), "0s or more")
	case f.Every != 0 && f.Length == 0:
		return refuse(at+"every", f.Every.String(), "nothing for once, since the window has no end")
	case f.Every != 0 && f.Every <= f.Length:
		return refuse(at+"every", f.Every.String(),
			"more than the length "+f.Length.String()+", or nothing for once")
	}
	return nil
}

func refuse(at, value, allowed string) error {
	return &knob.Error{Knob: at, Value: value, Problem: "is out of range", Allowed: allowed}
}
