package scenarios

import (
	"slices"
	"strings"
	"time"

	"herdscope/engine"
	"herdscope/engine/fleet"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

// Owner is the machine that a knob belongs to.
type Owner uint8

// The owners. Knobs of the policy and the fleet are changed by a fleet.Input Set,
// those of the server by a wire.ServerInput ServerSet. Those of the network are
// all Fixed, and so are those of single faults and services.
const (
	OwnerPolicy Owner = iota
	OwnerFleet
	OwnerServer
	OwnerNetwork
	OwnerFault
	OwnerService
)

// Setting is a knob of a scenario and the machine that it belongs to.
type Setting struct {
	knob.Spec
	Owner Owner
	// Index is what the owner calls the knob: fleet.Input.Knob, which counts
	// through engine.Fields and then fleet.Fields, or wire.ServerInput.Knob.
	Index uint16

	get func(*Scenario) int64
	set func(*Scenario, int64)
}

// settings is every knob, and settingOf their places by name. They are never
// changed once made.
var (
	settings  = allSettings()
	settingOf = placesByName(settings)
)

var networkFields = []knob.Field[Scenario]{
	knob.At(knob.Spec{
		Name: "network.delay", Kind: knob.Duration, Fixed: true,
		Max: int64(time.Minute), Step: int64(time.Millisecond),
		Doc: "how long each message takes each way; virtual runs only",
	}, func(s *Scenario) *time.Duration { return &s.NetworkDelay }),
}

func allSettings() []Setting {
	all := slices.DeleteFunc(lift(engine.Fields, OwnerPolicy, 0, policyOf), isScoped)
	all = append(all, lift(fleet.Fields, OwnerFleet, len(engine.Fields),
		func(s *Scenario) *fleet.Config { return &s.Fleet })...)
	all = append(all, lift(fault.Fields, OwnerServer, 0,
		func(s *Scenario) *fault.Config { return &s.Server })...)
	return append(all, lift(networkFields, OwnerNetwork, 0,
		func(s *Scenario) *Scenario { return s })...)
}

// lift makes settings of fields: those of the part of a scenario that at finds,
// counted from base on.
func lift[C any](fields []knob.Field[C], o Owner, base int, at func(*Scenario) *C) []Setting {
	lifted := make([]Setting, len(fields))
	for i, f := range fields {
		lifted[i] = Setting{
			Spec: f.Spec, Owner: o, Index: uint16(base + i),
			get: func(s *Scenario) int64 { return f.Get(at(s)) },
			set: func(s *Scenario, v int64) { f.Set(at(s), v) },
		}
	}
	return lifted
}

func placesByName(all []Setting) map[string]int {
	places := make(map[string]int, len(all))
	for i := range all {
		places[all[i].Name] = i
	}
	return places
}

// Settings lists every knob that all scenarios have, grouped by owner.
func Settings() []Setting { return slices.Clone(settings) }

// Of is the knob's value in a scenario.
func (k Setting) Of(s Scenario) int64 { return k.get(&s) }

// Knobs lists the descriptions of all knobs, in the order of Settings.
func Knobs() []knob.Spec {
	specs := make([]knob.Spec, len(settings))
	for i := range settings {
		specs[i] = settings[i].Spec
	}
	return specs
}

// KnobNamed finds a knob that every scenario has. The error for an unknown name
// is an *Error that suggests the nearest one.
func KnobNamed(name string) (Setting, error) {
	if i, ok := settingOf[name]; ok {
		return settings[i], nil
	}
	return Setting{}, &Error{Field: shorten(name), Msg: noKnob(name)}
}

// noKnob is the message for an unknown knob. It lists none: they are too many.
func noKnob(name string) string {
	const msg = "there is no such knob"
	if strings.HasPrefix(name, engine.ScopePrefix) {
		return msg + ": which scopes there are is up to the scenario"
	}
	if strings.HasPrefix(name, servicePrefix) {
		return "the knobs of services are fixed while a run goes on; set it beforehand"
	}
	if strings.HasPrefix(name, faultPrefix) {
		return "the knobs of faults are fixed while a run goes on; set it beforehand"
	}
	names := make([]string, len(settings))
	for i := range settings {
		names[i] = settings[i].Name
	}
	if nearest, ok := knob.Nearest(name, names); ok {
		return msg + "; did you mean " + knob.Quote(nearest) + "?"
	}
	return msg
}

// Value is the present value of a knob. The error is that of Knob.
func (s Scenario) Value(name string) (int64, error) {
	k, err := s.Knob(name)
	if err != nil {
		return 0, err
	}
	return k.get(&s), nil
}

// Set gives a knob the value that text says. It checks the value alone; whether
// it agrees with other knobs is for Validate to say, so that the order of
// several changes does not matter. The error is an *Error.
func (s *Scenario) Set(name, text string) error {
	if known, err := s.setFaultText(name, text); known {
		return err
	}
	k, err := s.Knob(name)
	if err != nil {
		return err
	}
	v, err := k.Parse(text)
	if err != nil {
		return fieldError(name, err)
	}
	k.set(s, v)
	return nil
}

// SetValue is Set with the value as a number, as knob.Spec describes it.
func (s *Scenario) SetValue(name string, v int64) error {
	k, err := s.Knob(name)
	if err != nil {
		return err
	}
	if err := k.Check(v); err != nil {
		return fieldError(name, err)
	}
	k.set(s, v)
	return nil
}

// fieldOf is where a knob stands in a file: under classes if it belongs to one,
// else under its own name.
func fieldOf(name string) string {
	section, rest, _ := strings.Cut(name, ".")
	if section == "mix" || section == "queue" && isClass(rest) {
		return "classes." + rest
	}
	return name
}

// isClass says whether a dotted path begins with the name of a class.
func isClass(path string) bool {
	first, _, nested := strings.Cut(path, ".")
	return nested && slices.Contains(wire.ClassNames(), first)
}

// shorten keeps a name from a file or a flag from flooding the screen.
func shorten(name string) string {
	if quoted := knob.Quote(name); len(quoted) != len(name)+2 {
		return quoted
	}
	return name
}
