package scenarios

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"herdscope/engine/knob"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

// faultField is a field of a fault in a file.
type faultField struct {
	knob.Field[fault.Fault]
	// kinds are the kinds of fault that have the field; nil is all.
	kinds []fault.Kind
	// required fields have no default where they belong.
	required bool
}

func (f *faultField) belongsTo(k fault.Kind) bool {
	return f.kinds == nil || slices.Contains(f.kinds, k)
}

// manualField is the field that leaves a fault to the hand.
const manualField = "manual"

var faultFields = append(windowFields(), effectFields()...)

func windowFields() []faultField {
	most := int64(longest)
	return []faultField{
		{Field: knob.AtBool(knob.Spec{
			Name: manualField, Kind: knob.Switch,
			Doc: "leaves the fault to the hand: no windows of its own",
		}, func(f *fault.Fault) *bool { return &f.Manual })},
		{Field: knob.At(knob.Spec{
			Name: "start", Kind: knob.Duration, Max: most,
			Doc: "when the first window begins",
		}, func(f *fault.Fault) *time.Duration { return &f.Start })},
		{Field: knob.At(knob.Spec{
			Name: "length", Kind: knob.Duration, Min: int64(time.Millisecond), Max: most,
			Doc: "how long each window lasts",
		}, func(f *fault.Fault) *time.Duration { return &f.Length }), required: true},
		{Field: knob.At(knob.Spec{
			Name: "every", Kind: knob.Duration, Zero: "once",
			Min: int64(time.Millisecond), Max: most,
			Doc: "the time from one window's beginning to the next",
		}, func(f *fault.Fault) *time.Duration { return &f.Every })},
	}
}

func effectFields() []faultField {
	return append([]faultField{
		{Field: knob.At(knob.Spec{
			Name: "status", Kind: knob.Int, Min: 400, Max: 599,
			Doc: "what the fault answers with",
		}, func(f *fault.Fault) *uint16 { return &f.Status }), kinds: []fault.Kind{fault.Errors}},
		{Field: knob.At(knob.Spec{
			Name: "share", Kind: knob.Ratio, Max: 1000,
			Doc: "the share of attempts that are hit: 0 hits none, 1 hits all",
		}, func(f *fault.Fault) *int64 { return &f.Share }), kinds: []fault.Kind{fault.Errors}},
		{Field: knob.At(knob.Spec{
			Name: "added", Kind: knob.Duration, Min: 1, Max: int64(fault.MaxMean),
			Doc: "how much longer the server takes for each attempt",
		}, func(f *fault.Fault) *time.Duration { return &f.Added }),
			kinds: []fault.Kind{fault.Latency}, required: true},
	}, quotaFields()...)
}

func quotaFields() []faultField {
	quota := []fault.Kind{fault.Quota}
	return []faultField{
		{Field: knob.At(knob.Spec{
			Name: "rate", Kind: knob.Rate, Min: 1, Max: fault.MaxRate,
			Doc: "attempts per second that the quota lets through",
		}, func(f *fault.Fault) *int64 { return &f.Limit.Rate }), kinds: quota, required: true},
		{Field: knob.At(knob.Spec{
			Name: "burst", Kind: knob.Int, Min: 1, Max: fault.MaxWorkers,
			Doc: "attempts that the quota lets through at once after a rest",
		}, func(f *fault.Fault) *int { return &f.Limit.Burst }), kinds: quota},
		{Field: knob.At(knob.Spec{
			Name: "retry_after", Kind: knob.Choice, Choices: wire.HintNames(),
			Doc: "the form of the Retry-After that comes with a 429",
		}, func(f *fault.Fault) *wire.HintForm { return &f.Limit.Form }), kinds: quota},
	}
}

// newFault is a fault of a kind with the defaults of what belongs to it.
func newFault(k fault.Kind) fault.Fault {
	f := fault.Fault{Kind: k}
	switch k {
	case fault.Errors:
		f.Status, f.Share = 503, 1000
	case fault.Quota:
		f.Limit = fault.RateLimit{Burst: 1, Form: wire.HintSeconds}
	}
	return f
}

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
	return badWindow(f)
}

func badEffect(f *fault.Fault) (field, msg string) {
	for i := range faultFields {
		known := &faultFields[i]
		v := known.Get(f)
		if !known.belongsTo(f.Kind) {
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
	case f.Every != 0 && f.Every <= f.Length:
		return "every", "must be longer than the fault's length, or once"
	}
	return "", ""
}

// misplaced is the message for a field of other kinds of fault.
func misplaced(name string, k fault.Kind) string {
	return "does not belong to a fault of the kind " + k.String() +
		"; allowed: " + strings.Join(fieldsOf(k), ", ")
}

// fieldsOf lists the fields that a kind of fault has.
func fieldsOf(k fault.Kind) []string {
	names := []string{"name", "kind"}
	for i := range faultFields {
		if faultFields[i].belongsTo(k) {
			names = append(names, faultFields[i].Name)
		}
	}
	return names
}
