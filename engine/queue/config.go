package queue

import (
	"time"

	"herdscope/engine/wire"
)

// Config is an order and what it is tuned with; an order reads only its own
// fields. The zero Config is Strict. A field at 0 stands for its default.
type Config struct {
	Order Order
	// Weight is how many turns a class has in a round of Weighted; by default
	// DefaultWeight.
	Weight [wire.NumClasses]int
	// Ageing is the head start that Ageing gives a class over the next one; by
	// default DefaultAgeing.
	Ageing time.Duration
	// Estimate is the time that EDF reckons an attempt to take. At 0 it sends
	// whatever has not missed its deadline yet.
	Estimate time.Duration
	// CodelTarget is how long AdaptiveLIFO lets a request wait that joins a
	// standing queue, and CodelInterval how long any other; a queue stands when
	// it has not been empty for CodelInterval. By default DefaultCodelTarget
	// and DefaultCodelInterval. A target above the interval counts as that.
	CodelTarget, CodelInterval time.Duration
}

// What a field of a Config at 0 stands for. Those of CoDel are the published
// ones: B. Maurer, "Fail at Scale", ACM Queue 13(8), 2015.
const (
	DefaultAgeing        = 5 * time.Second
	DefaultCodelTarget   = 5 * time.Millisecond
	DefaultCodelInterval = 100 * time.Millisecond
)

// DefaultWeight is how many turns a class has in a round if nothing else is
// said: each twice as many as the next.
func DefaultWeight(c wire.Class) int { return 1 << (wire.NumClasses - 1 - int(c)) }

// WithDefaults is the Config with its defaults written out.
func (c Config) WithDefaults() Config {
	for i := range c.Weight {
		c.Weight[i] = orElse(c.Weight[i], DefaultWeight(wire.Class(i)))
	}
	c.Ageing = orElse(c.Ageing, DefaultAgeing)
	c.CodelTarget, c.CodelInterval = c.codelTarget(), c.codelInterval()
	return c
}

func (c *Config) codelTarget() time.Duration {
	return min(orElse(c.CodelTarget, DefaultCodelTarget), c.codelInterval())
}

func (c *Config) codelInterval() time.Duration {
	return orElse(c.CodelInterval, DefaultCodelInterval)
}

func orElse[T int | time.Duration](value, standard T) T {
	if value <= 0 {
		return standard
	}
	return value
}
