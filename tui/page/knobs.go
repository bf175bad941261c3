package page

import (
	"herdscope/engine/knob"
	"herdscope/scenarios"
)

// specs are the descriptions of all knobs, by name.
var specs = specsByName()

func specsByName() map[string]knob.Spec {
	m := map[string]knob.Spec{}
	for _, s := range scenarios.Knobs() {
		m[s.Name] = s
	}
	return m
}

// Knobs are the settings that a scenario offers for tuning, with their values,
// appended to ks.
func Knobs(ks []Knob, s scenarios.Scenario) []Knob {
	for _, name := range s.Panel() {
		value, err := s.Value(name)
		if err != nil {
			continue // A panel names only knobs that exist; a test says so.
		}
		ks = append(ks, Knob{Spec: specs[name], Value: value})
	}
	return ks
}
