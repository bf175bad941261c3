package scenarios

import (
	"time"

	"herdscope/engine"
	"herdscope/engine/backoff"
	"herdscope/engine/breaker"
	"herdscope/engine/fleet"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

// What a class gets that names no path or scope.
const (
	defaultPath  = "/"
	defaultScope = "default"
)

// defaultSigma gives lognormal times a long tail: in thousandths, a mean 1.65
// times the median.
const defaultSigma = 1000

// defaultSpread lets uniform times go half their mean either way, in thousandths.
const defaultSpread = 500

// Default is what a scenario file starts from: a hundred clients in a closed
// loop that retry with full jitter, and a healthy server.
func Default() Scenario {
	return Scenario{
		Name:         "default",
		Seed:         1,
		Duration:     60 * time.Second,
		Drain:        10 * time.Second,
		Routes:       []string{defaultPath},
		Scopes:       []string{defaultScope},
		Fleet:        defaultFleet(),
		Server:       defaultServer(),
		NetworkDelay: 500 * time.Microsecond,
	}
}

func defaultFleet() fleet.Config {
	c := fleet.Config{
		Clients: 100,
		Arrival: fleet.Arrival{Kind: fleet.ClosedLoop, Rate: 100 * 1000, Think: time.Second, Chain: 1},
		Policy:  defaultPolicy(),
	}
	c.Mix[wire.Interactive].Weight = 1
	return c
}

func defaultPolicy() engine.Policy {
	return engine.Policy{
		Retry: engine.Retry{
			Attempts: 3,
			Backoff: backoff.Config{
				Curve: backoff.Exponential, Jitter: backoff.Full, Multiplier: 2000,
				Base: 100 * time.Millisecond, Cap: 10 * time.Second,
			},
			Statuses: engine.StatusTransient, Network: true, Timeouts: true,
			Methods: engine.MethodsIdempotent, RetryAfter: true,
		},
		Breaker: breaker.Config{OpenFor: 10 * time.Second, Probes: 1, Successes: 1},
		Queue: engine.Queue{ProtectHold: 10 * time.Second, Class: [wire.NumClasses]engine.ClassQueue{
			wire.Critical:    {StarvedAfter: 5 * time.Second},
			wire.Interactive: {StarvedAfter: 10 * time.Second},
			wire.Background:  {StarvedAfter: 30 * time.Second},
		}},
	}
}

func defaultServer() fault.Config {
	return fault.Config{
		// Sigma and Spread are there for who asks for a lognormal or uniform shape
		// and says no more: with none at all that would be the fixed one.
		Service: fault.Service{
			Shape: fault.FixedShape, Mean: 50 * time.Millisecond, Sigma: defaultSigma,
			Spread: defaultSpread,
		},
		Limit: fault.RateLimit{Burst: 1, Form: wire.HintSeconds},
	}
}
