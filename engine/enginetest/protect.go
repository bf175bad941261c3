package enginetest

import (
	"time"

	"herdscope/engine"
	"herdscope/engine/wire"
)

// protect counts the unfinished critical requests of a scope.
func (c *Checker) protect(e wire.Event, n int) {
	if e.Class == wire.Critical {
		c.scope(e).critical += n
	}
}

// reclass takes in that a request, or a flight, has another class, and moves all that
// is counted by class. It is the members that are critical, and not the flight.
func (c *Checker) reclass(e wire.Event, r *track) {
	c.must(e.Was == r.class && e.Class != e.Was, "%v: from %v to %v, but was %v",
		e.ID, e.Was, e.Class, r.class)
	c.must((e.Leader != 0) == (r.stage == aboard), "%v: of the flight of %d (stage %d)",
		e.ID, e.Leader, r.stage)
	was := e
	was.Class = e.Was
	if !e.Shared {
		c.protect(was, -1)
		c.protect(e, 1)
	}
	if r.stage == sent || r.stage == connecting || r.stage == nesting {
		c.slots(was, r, -1)
		c.slots(e, r, 1)
	}
	r.class = e.Class
}

// window checks that window protection lets no background attempt start while
// critical work is unfinished, save after its hold.
func (c *Checker) window(e wire.Event, s *scopeTrack, p *engine.Policy) {
	if !p.Queue.Protect || e.Class != wire.Background || s.critical == 0 {
		return
	}
	waited, hold := max(e.Delay, c.longestWait(e)), p.Queue.ProtectHold
	c.must(hold > 0 && waited >= hold, "%v: sent after %v with %d critical requests unfinished",
		e.ID, waited, s.critical)
}

// longestWait is how long the oldest of those has waited that wait in the queue
// of an event, in its class.
func (c *Checker) longestWait(e wire.Event) (longest time.Duration) {
	for k, r := range c.requests {
		longest = max(longest, waited(e, k, r))
	}
	for k, f := range c.flights {
		longest = max(longest, waited(e, k, &f.track))
	}
	return longest
}

// waited is how long one has waited in the queue of an event, in its class.
func waited(e wire.Event, k key, r *track) time.Duration {
	if k.client != e.ID.Client || r.scope != e.Scope || r.class != e.Class || r.lane || r.stage != queued {
		return 0
	}
	return e.At.Sub(r.since)
}
