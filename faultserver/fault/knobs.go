package fault

import (
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
var Fields = append(append(capacityFields(), serviceFields()...), limitFields()...)

func capacityFields() []knob.Field[Config] {
	return []knob.Field[Config]{
		knob.At(knob.Spec{
			Name: "server.workers", Kind: knob.Int, Unit: "workers",
			Max: MaxWorkers, Step: 1, Zero: "unlimited",
			Doc: "attempts that the server works on at once",
		}, func(c *Config) *int { return &c.Workers }),
		knob.At(knob.Spec{
			Name: "server.backlog", Kind: knob.Int, Unit: "attempts",
			Max: MaxWorkers, Step: 10, Zero: "unlimited",
			Doc: "attempts that may wait for a worker; one more is answered with 503",
		}, func(c *Config) *int { return &c.Backlog }),
	}
}

func serviceFields() []knob.Field[Config] {
	return []knob.Field[Config]{
		knob.At(knob.Spec{
			Name: "server.service.shape", Kind: knob.Choice, Choices: shapeNames,
			Doc: "how service times are distributed around their mean",
		}, func(c *Config) *Shape { return &c.Service.Shape }),
		knob.At(knob.Spec{
			Name: "server.service.mean", Kind: knob.Duration, Max: int64(MaxMean), Zero: "none",
			Doc: "the mean time that a worker takes for an attempt",
		}, func(c *Config) *time.Duration { return &c.Service.Mean }),
		knob.At(knob.Spec{
			Name: "server.service.sigma", Kind: knob.Ratio, Max: MaxSigma, Step: 100,
			Doc: "how long the tail of lognormal service times is",
		}, func(c *Config) *int64 { return &c.Service.Sigma }),
	}
}

func limitFields() []knob.Field[Config] {
	return []knob.Field[Config]{
		knob.At(knob.Spec{
			Name: "server.limit.rate", Kind: knob.Rate, Max: MaxRate, Zero: "off",
			Doc: "attempts per second that the server lets in; others are answered with 429",
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
			Doc: "how a 429 of the rate limit writes its Retry-After",
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
