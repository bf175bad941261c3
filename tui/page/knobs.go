package page

import "herdscope/scenarios"

// Knobs are the settings that a scenario offers for tuning, with their values, put
// into ks from its beginning: all, or where the clients are foreign those of the
// server.
func Knobs(ks []Knob, s scenarios.Scenario, foreign bool) []Knob {
	ks = ks[:0]
	for _, name := range s.Panel() {
		k, err := s.Knob(name)
		if err != nil {
			continue // A panel names only knobs that exist; a test says so.
		}
		ks = append(ks, Knob{Spec: k.Spec, Value: k.Of(s)})
	}
	if foreign {
		return foreignKnobs(ks)
	}
	return ks
}
