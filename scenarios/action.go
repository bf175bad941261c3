package scenarios

import (
	"slices"
	"strconv"
	"strings"

	"herdscope/engine/clock"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// String is the action in short, as it stands under a time axis: "jitter=full",
// "critical.most=3", "outage now".
func (a Action) String() string {
	if a.Kind == DoFault {
		return a.Fault + " " + a.Do.String()
	}
	short := a.Knob
	if _, rest, ok := strings.Cut(a.Knob, "."); ok {
		short = rest
	}
	if spec, ok := scopeSpec(a.Knob); ok {
		return short + "=" + spec.Format(a.Value)
	}
	k, err := KnobNamed(a.Knob)
	if err != nil {
		return short
	}
	return short + "=" + k.Format(a.Value)
}

// WithActions is the scenario with these actions added to its timeline. Actions
// of the same moment keep their order, those already there first.
func (s Scenario) WithActions(actions []Action) Scenario {
	s.Timeline = append(slices.Clone(s.Timeline), actions...)
	slices.SortStableFunc(s.Timeline, func(a, b Action) int {
		switch {
		case a.At < b.At:
			return -1
		case a.At > b.At:
			return 1
		}
		return 0
	})
	return s
}

// After is the scenario once the action was done to it while it runs, or an
// *Error that says why it cannot be done: an unknown name, a knob that is fixed,
// a value that is out of range or does not agree with other knobs.
func (s Scenario) After(a Action) (Scenario, error) {
	if a.Kind == DoFault {
		return s, s.checkDo(a)
	}
	if err := s.change(a); err != nil {
		return s, err
	}
	return s, asError(s.checkFleet())
}

// change gives a knob that is not fixed a value that it takes.
func (s *Scenario) change(a Action) error {
	k, err := s.Knob(a.Knob)
	if err != nil {
		return err
	}
	if k.Fixed {
		return &Error{Field: a.Knob, Msg: "is fixed while a run goes on; set it beforehand"}
	}
	return s.SetValue(a.Knob, a.Value)
}

func (s *Scenario) checkDo(a Action) error {
	if int(a.Do) >= len(wire.FaultDoNames()) {
		return &Error{Field: a.Fault, Msg: "cannot be done to a fault: " + a.Do.String()}
	}
	for i := range s.Server.Faults {
		if s.Server.Faults[i].Name == a.Fault {
			return nil
		}
	}
	return s.UnknownFault(a.Fault)
}

// UnknownFault is the error for a fault that the scenario does not have; it
// suggests the nearest one.
func (s Scenario) UnknownFault(name string) error {
	if len(s.Server.Faults) == 0 {
		return &Error{Field: "fault", Msg: knob.Quote(name) + " does not exist: there are no faults"}
	}
	names := make([]string, len(s.Server.Faults))
	for i := range s.Server.Faults {
		names[i] = s.Server.Faults[i].Name
	}
	return &Error{Field: "fault", Msg: unknown(knob.Quote(name)+" does not exist", name, names)}
}

// FileName is a name for saving the scenario that is not taken: the scenario's
// own with the lowest free number, as in restart-1.yaml.
func FileName(s Scenario, taken func(string) bool) string {
	for n := 1; ; n++ {
		if name := s.Name + "-" + strconv.Itoa(n) + ".yaml"; !taken(name) {
			return name
		}
	}
}

// span is the range of a moment on the timeline.
var span = knob.Spec{Name: "at", Kind: knob.Duration, Max: int64(longest)}

// maxActions is the longest timeline, well within what a file may hold.
const maxActions = 3000

// checkTimeline plays the timeline and reports the first action that cannot be
// done, with its place on it.
func (s Scenario) checkTimeline() (*Error, int) {
	if n := len(s.Timeline); n > maxActions {
		return &Error{Field: "timeline", Msg: "has " + strconv.Itoa(n) +
			" actions; allowed: " + strconv.Itoa(maxActions)}, -1
	}
	last := clock.Instant(0)
	for i, a := range s.Timeline {
		if a.At < last {
			return &Error{Field: "at", Msg: "the timeline is not in order of time"}, i
		}
		if err := span.Check(int64(a.At)); err != nil {
			return fieldError("at", err), i
		}
		if err := s.play(a); err != nil {
			return err, i
		}
		last = a.At
		if i+1 < len(s.Timeline) && s.Timeline[i+1].At == a.At {
			continue // what happens at once is judged together
		}
		if err := s.checkFleet(); err != nil {
			return err, i
		}
		if err := s.checkServer(); err != nil {
			return err, i
		}
	}
	return nil, 0
}

func (s *Scenario) play(a Action) *Error {
	var err error
	if a.Kind == DoFault {
		err = s.checkDo(a)
	} else {
		err = s.change(a)
	}
	if err != nil {
		return toError(err)
	}
	return nil
}
