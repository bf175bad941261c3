package fault

import (
	"time"

	"herdscope/engine/knob"
	"herdscope/engine/queue"
	"herdscope/engine/wire"
)

// The largest values of a capacity.
const (
	// MaxFactor is how many times as long a class may take, in thousandths.
	MaxFactor = 1_000_000
	// MaxPerInFlight is how much longer each attempt in flight may make another.
	MaxPerInFlight = time.Minute
	// MaxQuantiles is how many quantiles an empirical service time may have.
	MaxQuantiles = 100
)

// CapacityFields is what is tuned at each service. Those of the server's own have
// server. before their names, and are among Fields.
var CapacityFields = append([]knob.Field[Capacity]{
	knob.At(knob.Spec{
		Name: "workers", Kind: knob.Int, Unit: "workers",
		Max: MaxWorkers, Step: 1, Zero: "unlimited",
		Doc: "attempts that the server works on at once",
	}, func(c *Capacity) *int { return &c.Workers }),
	knob.At(knob.Spec{
		Name: "backlog", Kind: knob.Int, Unit: "attempts",
		Max: MaxWorkers, Step: 10, Zero: "unlimited",
		Words: []knob.Word{{Name: "0", Value: NoBacklog, Means: "to let nobody wait"}},
		Doc:   "attempts that may wait for a worker",
	}, func(c *Capacity) *int { return &c.Backlog }),
	knob.At(knob.Spec{
		Name: "when_full", Kind: knob.Choice, Choices: whenFullNames,
		Doc: "what becomes of one more: answered with 503, left to wait outside, " +
			"or taken in while the oldest is answered with 503",
	}, func(c *Capacity) *WhenFull { return &c.WhenFull }),
	knob.At(knob.Spec{
		Name: "order", Kind: knob.Choice, Choices: orderNames,
		Doc: "who of those that wait is served next",
	}, func(c *Capacity) *Order { return &c.Order }),
}, lift(ServiceFields, "service.", func(c *Capacity) *Service { return &c.Service })...)

// ServiceFields is what is tuned at a service time.
var ServiceFields = []knob.Field[Service]{
	knob.At(knob.Spec{
		Name: "shape", Kind: knob.Choice, Choices: shapeNames,
		Doc: "how service times are distributed around their mean",
	}, func(c *Service) *Shape { return &c.Shape }),
	knob.At(knob.Spec{
		Name: "mean", Kind: knob.Duration, Max: int64(MaxMean), Zero: "none",
		Doc: "the mean time that a worker takes for an attempt; not with empirical",
	}, func(c *Service) *time.Duration { return &c.Mean }),
	knob.At(knob.Spec{
		Name: "sigma", Kind: knob.Ratio, Max: MaxSigma, Step: 100,
		Doc: "how long the tail of lognormal service times is",
	}, func(c *Service) *int64 { return &c.Sigma }),
	knob.At(knob.Spec{
		Name: "spread", Kind: knob.Ratio, Max: 1000, Step: 100,
		Doc: "how far from their mean uniform service times go, as a share of it",
	}, func(c *Service) *int64 { return &c.Spread }),
	{
		Spec: knob.Spec{
			Name: "alpha", Kind: knob.Ratio, Min: 1100, Max: 100_000, Step: 100,
			Doc: "the tail index of pareto service times: the lower, the longer the tail",
		},
		Get: func(c *Service) int64 { return c.alpha() },
		Set: func(c *Service, v int64) { c.Alpha = v },
	},
	knob.At(knob.Spec{
		Name: "per_in_flight", Kind: knob.Duration, Max: int64(MaxPerInFlight), Zero: "none",
		Doc: "how much longer the work takes for each attempt in service, itself included",
	}, func(c *Service) *time.Duration { return &c.PerInFlight }),
}

// lift makes fields of C of those of a part of it.
func lift[C, P any](fields []knob.Field[P], prefix string, at func(*C) *P) []knob.Field[C] {
	lifted := make([]knob.Field[C], len(fields))
	for i, f := range fields {
		f.Name = prefix + f.Name
		lifted[i] = knob.Field[C]{
			Spec: f.Spec,
			Get:  func(c *C) int64 { return f.Get(at(c)) },
			Set:  func(c *C, v int64) { f.Set(at(c), v) },
		}
	}
	return lifted
}

// capacityFields is CapacityFields of the server's own service, and what holds
// for all services.
func capacityFields() []knob.Field[Config] {
	fields := make([]knob.Field[Config], len(CapacityFields))
	for i, f := range CapacityFields {
		f.Name = "server." + f.Name
		fields[i] = knob.Field[Config]{
			Spec: f.Spec,
			Get: func(c *Config) int64 {
				own := c.capacity(0)
				return f.Get(&own)
			},
			Set: func(c *Config, v int64) {
				own := c.capacity(0)
				f.Set(&own, v)
				c.setCapacity(own)
			},
		}
	}
	return append(append(fields, factorFields()...), wasteFields()...)
}

func (c *Config) setCapacity(own Capacity) {
	c.Workers, c.Backlog, c.WhenFull, c.Order = own.Workers, own.Backlog, own.WhenFull, own.Order
	c.Service = own.Service
}

func factorFields() (fields []knob.Field[Config]) {
	for i, class := range wire.ClassNames() {
		fields = append(fields, knob.Field[Config]{
			Spec: knob.Spec{
				Name: "server.service.factor." + class, Kind: knob.Ratio,
				Min: 1, Max: MaxFactor, Step: 100,
				Doc: "how many times as long " + class + " attempts take",
			},
			Get: func(c *Config) int64 { return c.factor(wire.Class(i)) },
			Set: func(c *Config, v int64) { c.ClassFactor[i] = v },
		})
	}
	return fields
}

// wasteFields is what is tuned about waiting too long, and about work that nobody
// has anything of.
func wasteFields() []knob.Field[Config] {
	return []knob.Field[Config]{
		codelField("target", "how long those may wait that join a queue that stands",
			queue.DefaultCodelTarget, func(c *Config) *time.Duration { return &c.CodelTarget }),
		codelField("interval", "how long all others may wait, and a queue has waited that stands",
			queue.DefaultCodelInterval, func(c *Config) *time.Duration { return &c.CodelInterval }),
		knob.At(knob.Spec{
			Name: "server.rejection_cost", Kind: knob.Ratio, Max: 1000, Step: 50,
			Doc: "the share of a service time that a worker spends on turning one away",
		}, func(c *Config) *int64 { return &c.RejectionCost }),
		knob.At(knob.Spec{
			Name: "server.abandoned", Kind: knob.Choice, Choices: abandonedNames,
			Doc: "whether work goes on for callers that have left",
		}, func(c *Config) *Abandoned { return &c.Abandoned }),
		{
			Spec: knob.Spec{
				Name: "server.cold_start.share", Kind: knob.Ratio, Min: 1, Max: 1000, Step: 50,
				Doc: "the share of its capacity with which the server comes back from an outage",
			},
			Get: func(c *Config) int64 { return c.ColdStart.share() },
			Set: func(c *Config, v int64) { c.ColdStart.Share = v },
		},
		knob.At(knob.Spec{
			Name: "server.cold_start.time", Kind: knob.Duration, Max: int64(MaxMean), Zero: "off",
			Doc: "how long the server then takes to reach its whole capacity",
		}, func(c *Config) *time.Duration { return &c.ColdStart.Time }),
	}
}

// codelField is a time of CoDel; one that is not set has its default.
func codelField(
	name, doc string, standard time.Duration, at func(*Config) *time.Duration,
) knob.Field[Config] {
	return knob.Field[Config]{
		Spec: knob.Spec{
			Name: "server.codel." + name, Kind: knob.Duration,
			Min: int64(time.Millisecond), Max: int64(MaxMean),
			Doc: doc + "; codel and adaptive-lifo",
		},
		Get: func(c *Config) int64 {
			if *at(c) == 0 {
				return int64(standard)
			}
			return int64(*at(c))
		},
		Set: func(c *Config, v int64) { *at(c) = time.Duration(v) },
	}
}
