package fleet

import (
	"time"

	"herdscope/engine"
	"herdscope/engine/knob"
	"herdscope/engine/preset"
	"herdscope/engine/wire"
)

// MaxClients is the largest fleet.
const MaxClients = 1_000_000

// MaxNested is the most requests that can be nested in one.
const MaxNested = 8

const (
	maxRate   = 1_000_000 * 1000 // thousandths per second
	maxWeight = 1000
)

var arrivalNames = []string{"closed", "poisson", "constant"}

// ArrivalNames lists the arrival processes in the order of their values.
func ArrivalNames() []string { return arrivalNames }

// Fields is every field of a Config as a knob, save for those of its Policy,
// which are in engine.Fields.
var Fields = fleetFields()

func fleetFields() []knob.Field[Config] {
	fields := append([]knob.Field[Config]{clientsField(), presetField()}, arrivalFields()...)
	for class := range wire.NumClasses {
		fields = append(fields, mixFields(wire.Class(class))...)
	}
	return fields
}

func clientsField() knob.Field[Config] {
	return knob.At(knob.Spec{
		Name: "fleet.clients", Kind: knob.Int, Unit: "clients", Fixed: true,
		Min: 1, Max: MaxClients,
		Doc: "how many clients the fleet has",
	}, func(c *Config) *int { return &c.Clients })
}

// PresetKnob is the name of the knob that applies a preset.
const PresetKnob = "retry.preset"

// presetField sets many fields of the policy at once, so that it must come
// before those that differ from the preset.
func presetField() knob.Field[Config] {
	presets := preset.All()
	return knob.Field[Config]{
		Spec: knob.Spec{
			Name: PresetKnob, Kind: knob.Choice, Choices: append([]string{"none"}, preset.Names()...),
			Max: int64(len(presets)),
			Doc: "takes over the retries and the budget of a well-known client; none leaves all as it is",
		},
		Get: func(c *Config) int64 { return int64(c.Preset) },
		Set: func(c *Config, v int64) {
			if c.Preset = int(v); v > 0 {
				presets[v-1].Apply(&c.Policy)
			}
		},
	}
}

func arrivalFields() []knob.Field[Config] {
	return []knob.Field[Config]{
		knob.At(knob.Spec{
			Name: "arrival.kind", Kind: knob.Choice, Choices: arrivalNames, Fixed: true,
			Doc: "what makes requests begin: closed waits for the last one, the others do not",
		}, func(c *Config) *ArrivalKind { return &c.Arrival.Kind }),
		knob.At(knob.Spec{
			Name: "arrival.rate", Kind: knob.Rate, Min: 1, Max: maxRate, Step: 10 * 1000,
			Doc: "arrivals of the whole fleet per second, a request or a chain of them each; open loops only",
		}, func(c *Config) *int64 { return &c.Arrival.Rate }),
		knob.At(knob.Spec{
			Name: "arrival.think", Kind: knob.Duration,
			Max: int64(time.Hour), Step: int64(100 * time.Millisecond),
			Doc: "mean time from the end of a client's request, or chain, to its next; closed loop only",
		}, func(c *Config) *time.Duration { return &c.Arrival.Think }),
		knob.At(knob.Spec{
			Name: "arrival.rest", Kind: knob.Duration,
			Max: int64(time.Hour), Step: int64(100 * time.Millisecond),
			Doc: "least time a client rests after a request that did not succeed; closed loop only",
		}, func(c *Config) *time.Duration { return &c.Arrival.Rest }),
		knob.AtBool(knob.Spec{
			Name: "arrival.think_shape", Kind: knob.Choice, Choices: []string{"exponential", "fixed"},
			Doc: "whether think times are drawn at random or all equal; closed loop only",
		}, func(c *Config) *bool { return &c.Arrival.ThinkFixed }),
		knob.At(knob.Spec{
			Name: "arrival.held", Kind: knob.Ratio, Max: 1000, Step: 100, Fixed: true,
			Doc: "share of clients that hold a request when the run begins; closed loop only",
		}, func(c *Config) *int64 { return &c.Arrival.Held }),
		chainField(),
		knob.At(knob.Spec{
			Name: "arrival.patience", Kind: knob.Duration, Zero: "endless",
			Min: int64(time.Millisecond), Max: int64(time.Hour), Step: int64(100 * time.Millisecond),
			Doc: "mean time after which a person leaves, and what is left of the page is cancelled",
		}, func(c *Config) *time.Duration { return &c.Arrival.Patience }),
		knob.At(knob.Spec{
			Name: "arrival.double", Kind: knob.Ratio, Max: 1000, Step: 50,
			Doc: "share of requests that their users submit twice, as with a double click",
		}, func(c *Config) *int64 { return &c.Arrival.Double }),
		knob.At(knob.Spec{
			Name: "arrival.double_gap", Kind: knob.Duration, Zero: "default",
			Min: int64(time.Millisecond), Max: int64(time.Hour), Step: int64(100 * time.Millisecond),
			Doc: "the time between the two submissions; by default 300ms",
		}, func(c *Config) *time.Duration { return &c.Arrival.DoubleGap }),
		knob.At(knob.Spec{
			Name: "arrival.nested", Kind: knob.Int, Unit: "requests", Fixed: true, Max: MaxNested,
			Doc: "requests nested in each request, which keeps its slot until they have ended",
		}, func(c *Config) *int { return &c.Arrival.Nested }),
		knob.AtBool(knob.Spec{
			Name: "arrival.keys", Kind: knob.Switch,
			Doc: "whether each POST and PATCH carries an Idempotency-Key of its own",
		}, func(c *Config) *bool { return &c.Arrival.Keys }),
	}
}

// chainField shows the zero value as what it stands for, one request.
func chainField() knob.Field[Config] {
	return knob.Field[Config]{
		Spec: knob.Spec{
			Name: "arrival.chain", Kind: knob.Int, Unit: "requests", Fixed: true, Min: 1, Max: MaxChain,
			Doc: "requests that an arrival asks for, each after the one before it succeeded",
		},
		Get: func(c *Config) int64 { return int64(c.Arrival.chain()) },
		Set: func(c *Config, v int64) { c.Arrival.Chain = int(v) },
	}
}

func mixFields(class wire.Class) []knob.Field[Config] {
	prefix := "mix." + class.String() + "."
	return []knob.Field[Config]{
		knob.At(knob.Spec{
			Name: prefix + "weight", Kind: knob.Int, Unit: "parts", Max: maxWeight, Step: 1,
			Doc: "the class's part of all requests, relative to the other weights",
		}, func(c *Config) *int { return &c.Mix[class].Weight }),
		knob.At(knob.Spec{
			Name: prefix + "method", Kind: knob.Choice, Choices: wire.MethodNames(),
			Doc: "the HTTP method of the class's requests",
		}, func(c *Config) *wire.Method { return &c.Mix[class].Method }),
		knob.At(knob.Spec{
			Name: prefix + "timeout", Kind: knob.Duration, Zero: "off",
			Min: int64(time.Millisecond), Max: int64(24 * time.Hour),
			Step: int64(100 * time.Millisecond),
			Doc:  "how long each attempt may take",
		}, func(c *Config) *time.Duration { return &c.Mix[class].Timeout }),
	}
}

// ApplyKnob gives a knob of the fleet or of its policy a value, which must have
// passed the knob's Check. Input.Knob counts in the same way: an index into
// engine.Fields and then, beyond its end, into Fields.
func ApplyKnob(c *Config, index uint16, v int64) {
	i := int(index)
	if i < len(engine.Fields) {
		engine.Fields[i].Set(&c.Policy, v)
		return
	}
	Fields[i-len(engine.Fields)].Set(c, v)
}

// Validate checks every field against its knob, the policy included, and that
// some class has a weight. The error names the knob; it is a *knob.Error.
func (c Config) Validate() error {
	if err := knob.CheckAll(Fields, &c); err != nil {
		return err
	}
	total := 0
	for i := range c.Mix {
		total += c.Mix[i].Weight
	}
	if total == 0 {
		return &knob.Error{
			Knob: "mix." + wire.Interactive.String() + ".weight", Value: "0",
			Problem: "leaves no class a weight", Allowed: "1 to 1000 for at least one class",
		}
	}
	return c.Policy.Validate()
}
