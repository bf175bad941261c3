package fault

import (
	"slices"
	"time"

	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// FaultField is a field of a fault as files and the admin API write it. Name and
// kind are in no table: they say which fault it is, and which fields it has.
type FaultField struct {
	knob.Field[Fault]
	// Kinds are the kinds of fault that have the field; nil is all.
	Kinds []Kind
	// Required fields have no default where they belong.
	Required bool
}

// BelongsTo says whether faults of a kind have the field.
func (f *FaultField) BelongsTo(k Kind) bool {
	return f.Kinds == nil || slices.Contains(f.Kinds, k)
}

// MaxMoment is the latest moment, and the longest window, that a fault may name.
const MaxMoment = 24 * time.Hour

// ManualField is the field that leaves a fault to the hand.
const ManualField = "manual"

// FaultFields are the fields of a fault, in the order in which files write them.
var FaultFields = append(windowFields(), effectFields()...)

func windowFields() []FaultField {
	most := int64(MaxMoment)
	return []FaultField{
		{Field: knob.AtBool(knob.Spec{
			Name: ManualField, Kind: knob.Switch,
			Doc: "leaves the fault to the hand: no windows of its own",
		}, func(f *Fault) *bool { return &f.Manual })},
		{Field: knob.At(knob.Spec{
			Name: "start", Kind: knob.Duration, Max: most,
			Doc: "when the first window begins",
		}, func(f *Fault) *time.Duration { return &f.Start })},
		{Field: knob.At(knob.Spec{
			Name: "length", Kind: knob.Duration, Min: int64(time.Millisecond), Max: most,
			Doc: "how long each window lasts",
		}, func(f *Fault) *time.Duration { return &f.Length }), Required: true},
		{Field: knob.At(knob.Spec{
			Name: "every", Kind: knob.Duration, Zero: "once",
			Min: int64(time.Millisecond), Max: most,
			Doc: "the time from one window's beginning to the next",
		}, func(f *Fault) *time.Duration { return &f.Every })},
	}
}

func effectFields() []FaultField {
	return append([]FaultField{
		{Field: knob.At(knob.Spec{
			Name: "status", Kind: knob.Int, Min: 400, Max: 599,
			Doc: "what the fault answers with",
		}, func(f *Fault) *uint16 { return &f.Status }), Kinds: []Kind{Errors}},
		{Field: knob.At(knob.Spec{
			Name: "share", Kind: knob.Ratio, Max: 1000,
			Doc: "the share of attempts that are hit: 0 hits none, 1 hits all",
		}, func(f *Fault) *int64 { return &f.Share }), Kinds: []Kind{Errors}},
		{Field: knob.At(knob.Spec{
			Name: "added", Kind: knob.Duration, Min: 1, Max: int64(MaxMean),
			Doc: "how much longer the server takes for each attempt",
		}, func(f *Fault) *time.Duration { return &f.Added }),
			Kinds: []Kind{Latency}, Required: true},
	}, append(quotaFields(), limitOfQuota()...)...)
}

func quotaFields() []FaultField {
	quota := []Kind{Quota}
	return []FaultField{
		{Field: knob.At(knob.Spec{
			Name: "rate", Kind: knob.Rate, Min: 1, Max: MaxRate,
			Doc: "attempts per second that the quota lets through",
		}, func(f *Fault) *int64 { return &f.Limit.Rate }), Kinds: quota, Required: true},
		{Field: knob.At(knob.Spec{
			Name: "burst", Kind: knob.Int, Min: 1, Max: MaxWorkers,
			Doc: "attempts that the quota lets through at once after a rest",
		}, func(f *Fault) *int { return &f.Limit.Burst }), Kinds: quota},
		{Field: knob.At(knob.Spec{
			Name: "retry_after", Kind: knob.Choice, Choices: wire.HintNames(),
			Doc: "the form of the Retry-After that comes with a refusal",
		}, func(f *Fault) *wire.HintForm { return &f.Limit.Form }), Kinds: quota},
	}
}

// limitOfQuota is the fields of a quota that the server's own limit has as well.
// Other kinds of fault have no limit, and so nothing that stands for 0.
func limitOfQuota() []FaultField {
	var fields []FaultField
	for _, f := range lift(rateFields, "", func(f *Fault) *RateLimit { return &f.Limit }) {
		get := f.Get
		f.Get = func(f *Fault) int64 {
			if f.Kind != Quota {
				return 0
			}
			return get(f)
		}
		fields = append(fields, FaultField{Field: f, Kinds: []Kind{Quota}})
	}
	return fields
}

// NewFault is a fault of a kind with the defaults of what belongs to it.
func NewFault(k Kind) Fault {
	f := Fault{Kind: k}
	switch k {
	case Errors:
		f.Status, f.Share = 503, 1000
	case Quota:
		f.Limit = RateLimit{Burst: 1, Window: time.Second, Form: wire.HintSeconds}
	}
	return f
}
