package scenarios

import (
	"embed"
	"slices"
	"sync"

	"herdscope/engine/knob"
)

//go:embed library/*.yaml
var libraryFiles embed.FS

// libraryNames is the built-in scenarios in the order in which they are offered.
var libraryNames = []string{"restart", "rate-limit", "gateway-down", "starvation"}

// library reads the built-in scenarios once. They are part of the program, so
// one that cannot be read is a broken build.
var library = sync.OnceValue(func() []Scenario {
	all := make([]Scenario, len(libraryNames))
	for i, name := range libraryNames {
		file := "library/" + name + ".yaml"
		data, err := libraryFiles.ReadFile(file)
		if err == nil {
			all[i], err = Parse(file, data)
		}
		if err != nil {
			panic("scenarios: broken library: " + err.Error())
		}
	}
	return all
})

// Library is the built-in scenarios, always in the same order. The caller may
// change them.
func Library() []Scenario {
	all := slices.Clone(library())
	for i := range all {
		all[i] = all[i].Clone()
	}
	return all
}

// Builtin is the built-in scenario of that name. The error for another name is an
// *Error that lists the names and suggests the nearest.
func Builtin(name string) (Scenario, error) {
	if i := slices.Index(libraryNames, name); i >= 0 {
		return library()[i].Clone(), nil
	}
	return Scenario{}, &Error{Msg: unknown(
		knob.Quote(name)+" is not a built-in scenario", name, libraryNames)}
}

// Clone is a copy that shares nothing with the scenario.
func (s Scenario) Clone() Scenario {
	s.Routes = slices.Clone(s.Routes)
	s.Scopes = slices.Clone(s.Scopes)
	s.Server.Faults = slices.Clone(s.Server.Faults)
	s.Timeline = slices.Clone(s.Timeline)
	return s
}
