package enginetest

import (
	"math"

	"herdscope/engine/breaker"
	"herdscope/engine/wire"
)

// probe checks that a half-open round starts no more probes than it may. One
// without a verdict gives its permit back, and so do all whose lease is over.
func (c *Checker) probe(e wire.Event, s *scopeTrack, b breaker.Config) {
	lease := b.Lease
	if lease == 0 {
		lease = b.OpenFor
	}
	if s.probes > 0 && e.At >= s.probed.Add(lease) {
		s.probes = 0
	}
	s.probes++
	s.probed = e.At
	c.must(s.probes <= b.Probes, "%v: probe %d of %d", e.ID, s.probes, b.Probes)
}

// passes says whether a breaker in that state lets everything through.
func passes(s wire.BreakerState) bool {
	return s == wire.Closed || s == wire.Disabled || s == wire.MetricsOnly
}

// legal says which states of a breaker may follow one. A setting may impose one
// of the last three on any other; one that only watches reports itself when a
// rule is met.
var legal = map[wire.BreakerState][]wire.BreakerState{
	wire.Closed:      {wire.Open},
	wire.Open:        {wire.Eligible, wire.Closed},
	wire.Eligible:    {wire.HalfOpen, wire.Closed},
	wire.HalfOpen:    {wire.Closed, wire.Open},
	wire.ForcedOpen:  {wire.Closed},
	wire.Disabled:    {wire.Closed},
	wire.MetricsOnly: {wire.Closed, wire.MetricsOnly},
}

func (c *Checker) changeBreaker(e wire.Event) {
	s := c.gate(e)
	c.must(e.From == s.breaker, "breaker of client %d goes from %v, but was %v", e.ID.Client, e.From, s.breaker)
	allowed := e.Cause == wire.CauseMode && e.To >= wire.ForcedOpen && e.To != e.From
	for _, to := range legal[e.From] {
		allowed = allowed || to == e.To
	}
	c.must(allowed, "breaker of client %d goes from %v to %v", e.ID.Client, e.From, e.To)
	s.breaker, s.probes = e.To, 0
}

// gate is where the breaker is tracked that an event is about: in its client's
// scope, or in that of all clients, which is under a number that no client has.
func (c *Checker) gate(e wire.Event) *scopeTrack {
	if e.Shared {
		return c.track(scopeKey{math.MaxUint32, e.Scope})
	}
	return c.scope(e)
}
