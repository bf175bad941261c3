package page

import "herdscope/scenarios"

// Knobs are the settings that a scenario offers for tuning, with their values,
// appended to ks.
func Knobs(ks []Knob, s scenarios.Scenario) []Knob {
	for _, name := range s.Panel() {
		k, err := s.Knob(name)
		if err != nil {
			continue // A panel names only knobs that exist; a test says so.
		}
		ks = append(ks, Knob{Spec: k.Spec, Value: k.Of(s)})
	}
	return ks
}
