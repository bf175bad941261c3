package run

import (
	"sort"

	"herdscope/engine/clock"
	"herdscope/scenarios"
)

// script is the actions of a timeline that are still to come.
type script struct {
	actions []scenarios.Action
}

// newScript orders a timeline by time; actions of the same instant keep their
// order.
func newScript(timeline []scenarios.Action) script {
	sorted := append([]scenarios.Action(nil), timeline...)
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].At < sorted[j].At })
	return script{actions: sorted}
}

// next is when the next action is due; clock.Never if there is none.
func (s *script) next() clock.Instant {
	if len(s.actions) == 0 {
		return clock.Never
	}
	return s.actions[0].At
}

// due takes out the next action if its time has come.
func (s *script) due(now clock.Instant) (scenarios.Action, bool) {
	if s.next() > now {
		return scenarios.Action{}, false
	}
	a := s.actions[0]
	s.actions = s.actions[1:]
	return a, true
}
