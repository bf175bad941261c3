package scenarios

import (
	"slices"
	"strings"

	"herdscope/engine/fleet"
)

// favourites are the knobs that the tuning panel shows first.
var favourites = []string{
	"retry.jitter", "retry.attempts", "retry.base", "retry.cap", fleet.PresetKnob,
	"queue.limit", "queue.critical.most", "queue.interactive.most", "queue.background.most",
	"queue.order", "breaker.failures", "breaker.open_for", "budget.kind", "limiter.kind",
	"arrival.rate", "arrival.think", "server.workers",
}

// panelGroups is the order of the knobs after them, by the first part of their
// names.
var panelGroups = []string{
	"retry", "breaker", "queue", "fallback", "auth", "transport", "budget", "limiter", "dedup",
	"arrival", "mix", "server",
}

// Panel lists the knobs of the tuning panel in its order: those that matter most,
// then all others that can be changed while the scenario runs, in groups. Those
// of the other kind of arrival are left out.
func (s Scenario) Panel() []string {
	var names []string
	add := func(name string) {
		i, ok := settingOf[name]
		if ok && !settings[i].Fixed && s.applies(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range favourites {
		add(name)
	}
	for _, group := range panelGroups {
		for i := range settings {
			if strings.HasPrefix(settings[i].Name, group+".") {
				add(settings[i].Name)
			}
		}
		if group == "queue" && len(s.Scopes) > 1 {
			for _, k := range s.ScopeSettings() {
				names = append(names, k.Name)
			}
		}
	}
	return names
}

// applies says whether the knob does anything with the scenario's arrivals.
func (s Scenario) applies(name string) bool {
	closed := s.Fleet.Arrival.Kind == fleet.ClosedLoop
	switch name {
	case "arrival.rate":
		return !closed
	case "arrival.think", "arrival.think_shape", "arrival.rest":
		return closed
	}
	return true
}
