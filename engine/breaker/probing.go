package breaker

import (
	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

func (b *Breaker) reportProbe(now clock.Instant, c *Config, call Call, out []Change) []Change {
	b.inFlight--
	switch {
	case call.Result == Neutral:
	case call.Result == Failure || c.slow(call.Took):
		b.bad++
	default:
		b.good++
	}
	b.schedule(c)
	return b.decide(now, c, call.NotBefore, out)
}

// decide ends a half-open round as soon as its probes can only lead one way.
func (b *Breaker) decide(
	now clock.Instant, c *Config, hint clock.Instant, out []Change,
) []Change {
	switch {
	case b.good >= c.successes():
		return b.change(now, wire.Closed, wire.CauseProbe, out)
	case b.bad > c.tolerated():
		return b.open(now, c, wire.CauseProbe, hint, out)
	}
	return out
}

// tickRound brings a half-open round up to now. The probes that have reported may
// decide it, since other numbers may be asked for now; else a lease may be over.
func (b *Breaker) tickRound(now clock.Instant, c *Config, out []Change) []Change {
	out = b.decide(now, c, 0, out)
	if b.state == wire.HalfOpen && b.timed && now >= b.until {
		return b.expire(now, c, out)
	}
	return out
}

// expire takes the permits back from all probes in flight.
func (b *Breaker) expire(now clock.Instant, c *Config, out []Change) []Change {
	b.expired = min(b.expired, maxProbes-b.inFlight) + b.inFlight
	if b.expired >= c.probes() {
		return b.open(now, c, wire.CauseLease, 0, out)
	}
	b.inFlight = 0
	b.generation++
	b.schedule(c)
	return out
}
