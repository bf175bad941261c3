package enginetest

import (
	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// flightTrack is what events have said of a flight that several requests share:
// its way is that of a request, under the number of the first of them.
type flightTrack struct {
	track
	leader  key
	members int
	// landed says that a member has ended as the flight has; the others end in the
	// same moment.
	landed bool
	at     clock.Instant
}

// joined takes a request into the flight of another.
func (c *Checker) joined(e wire.Event, r *track) {
	lead := key{e.ID.Client, e.Leader}
	f := c.flights[lead]
	if f == nil {
		leader := c.requests[lead]
		if leader == nil || leader.stage == aboard {
			c.must(false, "%v joined %d, which has no flight", e.ID, e.Leader)
			return
		}
		f = &flightTrack{track: *leader, leader: lead, members: 1}
		leader.stage, leader.flight = aboard, f
		c.flights[lead] = f
	}
	p := c.policy()
	c.must(!f.landed, "%v joined %d, which has landed", e.ID, e.Leader)
	c.must(e.At < f.came.Add(p.Dedup.Window), "%v joined %d, which came %v before", e.ID, e.Leader,
		e.At.Sub(f.came))
	c.must(!e.Method.Safe() || p.Dedup.Methods == engine.DedupAll, "%v joined: a %v", e.ID, e.Method)
	c.must(f.scope == e.Scope && f.class <= e.Class && e.Parent == 0,
		"%v joined %d, which is of another kind", e.ID, e.Leader)
	c.move(e, r, aboard)
	r.flight = f
	f.members++
}

// alight takes a member that has ended out of its flight. The flight ends with the
// last one, and takes all along where it has ended by itself.
func (c *Checker) alight(e wire.Event, r *track) {
	f := r.flight
	r.tries, r.wired = f.tries, f.wired
	f.members--
	c.must(e.Shared == (f.members > 0), "%v ended, shared=%v with %d others", e.ID, e.Shared, f.members)
	c.must(!f.landed || f.at == e.At, "%v ended %v after its flight", e.ID, e.At.Sub(f.at))
	if e.Outcome != wire.Cancelled && e.Cause != wire.CauseDeadline {
		f.landed, f.at = true, e.At
	}
	if f.members == 0 {
		c.move(e, &f.track, over)
		delete(c.flights, f.leader)
	}
}

// whose is what an event about an attempt, or a wait for one, is told of: the
// flight of that number, if there is one.
func (c *Checker) whose(e wire.Event, r *track) *track {
	f := c.flights[key{e.ID.Client, e.ID.Request}]
	if f == nil || e.Kind == wire.RequestDone || e.Kind == wire.RequestJoined ||
		e.Kind == wire.ClassChanged && !e.Shared {
		c.must(e.Kind != wire.ClassChanged || !e.Shared, "%v has no flight that could change", e.ID)
		return r
	}
	c.must(!f.landed, "%v: %v after its flight has landed", e.ID, e.Kind)
	return &f.track
}

// flying checks that as many requests share as the machines count, and that each
// flight has the most important class of its members.
func (c *Checker) flying(counts engine.Counts) {
	sharing := 0
	least := map[*flightTrack]wire.Class{}
	for _, r := range c.requests {
		if f := r.flight; f != nil {
			if class, ok := least[f]; !ok || r.class < class {
				least[f] = r.class
			}
		}
	}
	for _, f := range c.flights {
		sharing += f.members - 1
		c.must(!f.landed, "%d members of the flight of %v are left", f.members, f.leader)
		c.must(f.class == least[f], "the flight of %v is %v, and one of its members %v", f.leader,
			f.class, least[f])
	}
	c.must(sharing == counts.Sharing, "%d requests share, %+v", sharing, counts)
}
