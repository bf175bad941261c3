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

// FieldNames lists the names of the fields that a kind of fault has, as files
// and the admin API write them.
func FieldNames(k Kind) []string {
	names := []string{"name", "kind"}
	for i := range FaultFields {
		if FaultFields[i].BelongsTo(k) {
			names = append(names, FaultFields[i].Name)
		}
	}
	for i := range TextFields {
		if TextFields[i].BelongsTo(k) {
			names = append(names, TextFields[i].Name)
		}
	}
	return names
}

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
			Name: "length", Kind: knob.Duration, Zero: "open",
			Min: int64(time.Millisecond), Max: most,
			Doc: "how long each window lasts; open is without end",
		}, func(f *Fault) *time.Duration { return &f.Length })},
		{Field: knob.At(knob.Spec{
			Name: "every", Kind: knob.Duration, Zero: "once",
			Min: int64(time.Millisecond), Max: most,
			Doc: "the time from one window's beginning to the next",
		}, func(f *Fault) *time.Duration { return &f.Every })},
	}
}

// effectFields are the fields of what a fault does, those that pick its victims
// first.
func effectFields() []FaultField {
	fields := append(pickFields(), countFields()...)
	for _, more := range [][]FaultField{
		outageFields(), errorFields(), latencyFields(), quotaFields(), limitOfQuota(), cutFields(), connectionFields(),
	} {
		fields = append(fields, more...)
	}
	return fields
}

// picking are the kinds that pick their victims one by one.
func picking() []Kind { return kindsThat(func(k *kindRow) bool { return k.picks }) }

func pickFields() []FaultField {
	matching := kindsThat(func(k *kindRow) bool { return k.matches || k.idle })
	return []FaultField{
		{Field: knob.At(knob.Spec{
			Name: "clients", Kind: knob.Ratio, Max: 1000, Zero: "all",
			Doc: "the share of the clients that may be hit; the same ones every time for a seed",
		}, func(f *Fault) *int64 { return &f.Match.Clients }), Kinds: matching},
		{Field: knob.At(knob.Spec{
			Name: "share", Kind: knob.Share, Max: Always, Step: Always / 20,
			Doc: "the share of attempts that are hit: 0 hits none, 1 hits all",
		}, func(f *Fault) *int64 { return &f.Share }), Kinds: picking()},
		{Field: knob.At(knob.Spec{
			Name: "unit", Kind: knob.Choice, Choices: unitNames,
			Doc: "what the share is drawn for",
		}, func(f *Fault) *Unit { return &f.Unit }), Kinds: picking()},
	}
}

func countFields() []FaultField {
	most := int64(MaxWorkers)
	return []FaultField{
		{Field: knob.At(knob.Spec{
			Name: "first", Kind: knob.Int, Max: most, Zero: "off",
			Doc: "hits only the first that many attempts of a window",
		}, func(f *Fault) *int { return &f.Count.First }), Kinds: picking()},
		{Field: knob.At(knob.Spec{
			Name: "nth", Kind: knob.Int, Max: most, Zero: "off",
			Doc: "hits only each n-th attempt of a window",
		}, func(f *Fault) *int { return &f.Count.Nth }), Kinds: picking()},
		{Field: knob.At(knob.Spec{
			Name: "until", Kind: knob.Int, Max: most, Zero: "off",
			Doc: "hits only until that many attempts have been served well in a window",
		}, func(f *Fault) *int { return &f.Count.Until }), Kinds: picking()},
		{Field: knob.AtBool(knob.Spec{
			Name: "per_client", Kind: knob.Switch,
			Doc: "counts first, nth and until for each client alone",
		}, func(f *Fault) *bool { return &f.Count.PerClient }), Kinds: picking()},
	}
}

func outageFields() []FaultField {
	return []FaultField{{Field: knob.At(knob.Spec{
		Name: "how", Kind: knob.Choice, Choices: mannerNames,
		Doc: "how the server is away",
	}, func(f *Fault) *Manner { return &f.How }), Kinds: []Kind{Outage}}}
}

func errorFields() []FaultField {
	return []FaultField{{Field: knob.At(knob.Spec{
		Name: "status", Kind: knob.Int, Min: 400, Max: 599,
		Doc: "what the fault answers with",
	}, func(f *Fault) *uint16 { return &f.Status }), Kinds: []Kind{Errors}}}
}

func latencyFields() []FaultField {
	latency := []Kind{Latency}
	return []FaultField{
		{Field: knob.At(knob.Spec{
			Name: "added", Kind: knob.Duration, Min: 1, Max: int64(MaxMean),
			Doc: "how much longer the server takes for each attempt",
		}, func(f *Fault) *time.Duration { return &f.Added }), Kinds: latency, Required: true},
		{Field: knob.AtBool(knob.Spec{
			Name: "replace", Kind: knob.Switch,
			Doc: "puts what is added in the place of the service time",
		}, func(f *Fault) *bool { return &f.Replace }), Kinds: latency},
		{Field: knob.At(knob.Spec{
			Name: "shape", Kind: knob.Choice, Choices: shapeNames[:EmpiricalShape],
			Doc: "how what is added is distributed around its mean",
		}, func(f *Fault) *Shape { return &f.Shape }), Kinds: latency},
		{Field: knob.At(knob.Spec{
			Name: "sigma", Kind: knob.Ratio, Max: MaxSigma,
			Doc: "how long the tail of a lognormal shape is",
		}, func(f *Fault) *int64 { return &f.Sigma }), Kinds: latency},
		{Field: knob.At(knob.Spec{
			Name: "spread", Kind: knob.Ratio, Max: 1000,
			Doc: "how far a uniform shape goes from its mean, as a share of it",
		}, func(f *Fault) *int64 { return &f.Spread }), Kinds: latency},
		{Field: knob.At(knob.Spec{
			Name: "alpha", Kind: knob.Ratio, Min: 1100, Max: 100_000, Zero: "standard",
			Doc: "how heavy the tail of a pareto shape is",
		}, func(f *Fault) *int64 { return &f.Alpha }), Kinds: latency},
		{Field: knob.At(knob.Spec{
			Name: "wave", Kind: knob.Choice, Choices: waveNames,
			Doc: "how what is added swings over time",
		}, func(f *Fault) *Wave { return &f.Wave }), Kinds: latency},
		{Field: knob.At(knob.Spec{
			Name: "period", Kind: knob.Duration, Max: int64(MaxMoment), Zero: "none",
			Doc: "how long one swing takes",
		}, func(f *Fault) *time.Duration { return &f.Period }), Kinds: latency},
	}
}

func cutFields() []FaultField {
	return []FaultField{{Field: knob.At(knob.Spec{
		Name: "left", Kind: knob.Ratio, Max: 1000,
		Doc: "the share of the workers that are left, rounded down",
	}, func(f *Fault) *int64 { return &f.Left }), Kinds: []Kind{CapacityCut}}}
}

func connectionFields() []FaultField {
	return []FaultField{
		{Field: knob.At(knob.Spec{
			Name: "point", Kind: knob.Choice, Choices: pointNames,
			Doc: "where on the attempt's way its connection ends",
		}, func(f *Fault) *Point { return &f.Point }), Kinds: []Kind{Close, Reset}},
		{Field: knob.At(knob.Spec{
			Name: "over", Kind: knob.Duration, Min: int64(time.Millisecond), Max: int64(MaxMean),
			Doc: "how long the reply takes to write",
		}, func(f *Fault) *time.Duration { return &f.Over }), Kinds: []Kind{Drip, SlowHeader}},
		{Field: knob.At(knob.Spec{
			Name: "after", Kind: knob.Duration, Min: int64(time.Millisecond), Max: int64(MaxMean),
			Doc: "how long a connection may be idle",
		}, func(f *Fault) *time.Duration { return &f.After }), Kinds: []Kind{IdleClose}, Required: true},
		{Field: knob.At(knob.Spec{
			Name: "race", Kind: knob.Duration, Max: int64(time.Second), Zero: "none",
			Doc: "how long after that a request may be on its way to the closed connection; virtual runs only",
		}, func(f *Fault) *time.Duration { return &f.Race }), Kinds: []Kind{IdleClose}},
	}
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
