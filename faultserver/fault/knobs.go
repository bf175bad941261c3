package fault

import (
	"slices"
	"time"

	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// The largest values of a configuration.
const (
	// MaxWorkers limits workers, backlog and burst.
	MaxWorkers = 1_000_000
	// MaxMean limits the mean service time and what a fault adds to it.
	MaxMean = time.Hour
	// MaxSigma limits the sigma of a lognormal service time, in thousandths.
	MaxSigma = 5000
	// MaxRate limits a rate limit, in thousandths of a token per second.
	MaxRate = 1_000_000_000
	// MaxFaults limits how many faults a server has.
	MaxFaults = 64
)

// Fields is the knobs of a server. ServerSet inputs refer to them by index.
var Fields = slices.Concat(capacityFields(), limitFields(),
	lift(rateFields, "server.limit.", func(c *Config) *RateLimit { return &c.Limit }),
	effectKnobs())

func limitFields() []knob.Field[Config] {
	return []knob.Field[Config]{
		knob.At(knob.Spec{
			Name: "server.limit.rate", Kind: knob.Rate, Max: MaxRate, Zero: "off",
			Doc: "attempts per second that the server lets in; others are answered with server.limit.answer",
		}, func(c *Config) *int64 { return &c.Limit.Rate }),
		{
			Spec: knob.Spec{
				Name: "server.limit.burst", Kind: knob.Int, Unit: "attempts",
				Min: 1, Max: MaxWorkers, Step: 1,
				Doc: "attempts that the rate limit lets in at once after a quiet time",
			},
			Get: func(c *Config) int64 { return int64(c.Limit.burst()) },
			Set: func(c *Config, v int64) { c.Limit.Burst = int(v) },
		},
		knob.At(knob.Spec{
			Name: "server.limit.retry_after", Kind: knob.Choice, Choices: wire.HintNames(),
			Doc: "how the rate limit writes its Retry-After; the forms after asctime are wrong on purpose",
		}, func(c *Config) *wire.HintForm { return &c.Limit.Form }),
	}
}

// burst is the size of the bucket; one that is not set holds one token, since
// an empty one could never let anything in.
func (l RateLimit) burst() int {
	if l.Burst == 0 {
		return 1
	}
	return l.Burst
}
