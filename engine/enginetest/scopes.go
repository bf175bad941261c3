package enginetest

import (
	"math"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/limiter"
	"herdscope/engine/wire"
)

// scopeTrack is what events have said of one client's scope.
type scopeTrack struct {
	number   uint8
	paused   bool
	running  [wire.NumClasses]int
	breaker  wire.BreakerState
	probes   int // permits of this half-open round that are used up or out
	probed   clock.Instant
	starving [wire.NumClasses]bool
	limit    int // as a limiter last moved it; 0 if it has not
	critical int // unfinished critical requests
	kept     int // slots of parents that have their reply
	inFlight int // attempts that have a slot, those of lanes included
}

// limitUnder is how many attempts the scope may have in flight.
func (s *scopeTrack) limitUnder(p *engine.Policy) int {
	limit := p.Queue.Scope[s.number].Limit
	own := limit != 0
	if !own {
		limit = p.Queue.Limit
	}
	switch {
	case limit == engine.Paused:
		return 0
	case own && limit > 0:
		return limit
	case own:
		return math.MaxInt
	case p.Limiter.Kind == limiter.Fixed && limit > 0:
		return limit
	case p.Limiter.Kind == limiter.Fixed:
		return math.MaxInt
	case s.limit == 0:
		var fresh limiter.Limiter // knows how bounds bear on where it begins
		return fresh.Limit(&p.Limiter)
	}
	return s.limit
}

// sendOwn checks that a scope has a slot for one more of a class.
func (c *Checker) sendOwn(e wire.Event, s *scopeTrack, p *engine.Policy) {
	total := 0
	for _, n := range s.running {
		total += n
	}
	limit := s.limitUnder(p)
	c.must(total < limit, "%v: all %d slots are taken", e.ID, total)
	most := p.Queue.Class[e.Class].Most
	c.must(most == 0 || s.running[e.Class] < most, "%v: class %v has its %d slots", e.ID, e.Class, most)
	c.window(e, s, p)
}

// pause checks that a pause is told once, at its beginning and at its end.
func (c *Checker) pause(e wire.Event) {
	s, p := c.scope(e), c.policy()
	pauses := e.Kind == wire.ScopePaused
	c.must(s.paused != pauses, "%v of scope %d twice", e.Kind, e.Scope)
	c.must(pauses == (s.limitUnder(&p) == 0), "%v of scope %d with a limit of %d",
		e.Kind, e.Scope, s.limitUnder(&p))
	c.must(!pauses || int(e.Limit) == s.inFlight, "scope %d pauses with %d in flight, not %d",
		e.Scope, s.inFlight, e.Limit)
	s.paused = pauses
}

func (c *Checker) scope(e wire.Event) *scopeTrack {
	return c.track(scopeKey{e.ID.Client, e.Scope})
}

func (c *Checker) track(k scopeKey) *scopeTrack {
	if c.scopes[k] == nil {
		c.scopes[k] = &scopeTrack{number: k.scope}
	}
	return c.scopes[k]
}
