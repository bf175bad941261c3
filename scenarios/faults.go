package scenarios

import (
	"errors"
	"strconv"
	"strings"

	"herdscope/engine/knob"
	"herdscope/faultserver/fault"
)

func (s *Scenario) checkFaults() *Error {
	if len(s.Server.Faults) > fault.MaxFaults {
		return &Error{Field: "faults", Msg: "there are more than " + strconv.Itoa(fault.MaxFaults)}
	}
	for i := range s.Server.Faults {
		f := &s.Server.Faults[i]
		if field, msg := s.badFault(i, f); msg != "" {
			return &Error{Field: join(itemPath("faults", i), field), Msg: msg}
		}
	}
	return nil
}

// badFault says which field of a fault is wrong, and why.
func (s *Scenario) badFault(i int, f *fault.Fault) (field, msg string) {
	if !isName(f.Name) {
		return "name", badName(f.Name)
	}
	if int(f.Kind) >= fault.NumKinds {
		return "kind", unknown("there is no kind "+f.Kind.String(), "", fault.KindNames())
	}
	for _, other := range s.Server.Faults[:i] {
		if other.Name == f.Name {
			return "name", knob.Quote(f.Name) + " is the name of another fault already"
		}
	}
	if field, msg = badEffect(f); msg != "" {
		return field, msg
	}
	if field, msg = badWindow(f); msg != "" {
		return field, msg
	}
	return s.badAgreement(f)
}

func badEffect(f *fault.Fault) (field, msg string) {
	for i := range fault.FaultFields {
		known := &fault.FaultFields[i]
		v := known.Get(f)
		if !known.BelongsTo(f.Kind) {
			if v != 0 {
				return known.Name, misplaced(known.Name, f.Kind)
			}
			continue
		}
		if err := known.Check(v); err != nil {
			return known.Name, fieldError("", err).Msg
		}
	}
	return "", ""
}

// badWindow checks that a window has two edges of its own, and that a fault left
// to the hand has no schedule.
func badWindow(f *fault.Fault) (field, msg string) {
	switch {
	case f.Manual && f.Start != 0:
		return "start", "does not belong to a fault that is manual"
	case f.Manual && f.Every != 0:
		return "every", "does not belong to a fault that is manual"
	case f.Every != 0 && f.Length == 0:
		return "every", "does not belong to a fault whose window is open"
	case f.Every != 0 && f.Every <= f.Length:
		return "every", "must be longer than the fault's length, or once"
	}
	return "", ""
}

// badAgreement says which field does not agree with the others.
func (s *Scenario) badAgreement(f *fault.Fault) (field, msg string) {
	alone := s.Server
	alone.Faults = []fault.Fault{*f}
	var refused *knob.Error
	if !errors.As(alone.Validate(), &refused) {
		return "", ""
	}
	field, ok := strings.CutPrefix(refused.Knob, "faults[0].")
	if !ok {
		return "", "" // it is not the fault that is wrong
	}
	return field, refused.Message()
}

// misplaced is the message for a field of other kinds of fault.
func misplaced(name string, k fault.Kind) string {
	return "does not belong to a fault of the kind " + k.String() +
		"; allowed: " + strings.Join(fault.FieldNames(k), ", ")
}
