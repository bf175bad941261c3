// Package enginetest holds what tests of machines and runs share: a Checker
// that holds every event against the identities, and a Script harness that
// plays a story to one Machine and prints what it does.
//
// It is imported by tests only. The checks stand outside the code under test and
// use nothing of its insides.
package enginetest

import (
	"fmt"

	"herdscope/engine"
	"herdscope/engine/breaker"
	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// Checker is an observer that holds every event of a run against what must
// always be so. It remembers the first thing that was not.
type Checker struct {
	policy   func() engine.Policy
	requests map[key]*track
	scopes   map[scopeKey]*scopeTrack
	arrived  map[wire.AttemptID]bool // at the server; true while unanswered
	last     clock.Instant
	began    int64
	outcomes [wire.NumOutcomes]int64
	sent     int64
	arrivals int64
	groups   groups
	sockets  map[wire.ClientID][]wire.RequestID // those who wait, first come first
	wired    map[wire.ClientID]int              // attempts on the wire
	flights  map[key]*flightTrack
	lanes    map[laneKey]int // slots taken
	err      error
}

type key struct {
	client  wire.ClientID
	request wire.RequestID
}

type scopeKey struct {
	client wire.ClientID
	scope  uint8
}

// track is what events have said of one request.
type track struct {
	class wire.Class
	stage stage
	tries uint16 // attempts that got a slot
	wired int    // those of them that were sent
	// replays is how often it was held after an attempt, for a new token.
	replays int
	group   uint32
	// refused says that its group, or its parent, was over before it began.
	refused bool
	scope   uint8
	came    clock.Instant
	since   clock.Instant // when it was last seen to join a queue
	flight  *flightTrack  // that it shares
	parent  *track
	kids    int // nested requests that have not ended
	level   uint8
	lane    bool // it has slots of a lane
	knotted bool // it was said to wait in a deadlock
}

type stage uint8

const (
	begun stage = iota
	queued
	dequeued
	connecting
	connected
	sent
	attempted
	sleeping
	held
	aboard  // shares a flight
	nesting // has its reply, and waits for nested requests
	over
)

// next says which stages may follow one; a request goes no other way.
var next = map[stage][]stage{
	begun:      {queued, connecting, sent, held, aboard, over},
	queued:     {dequeued},
	dequeued:   {connecting, sent, held, over},
	connecting: {connected},
	connected:  {sent, sleeping, held, over},
	sent:       {attempted},
	attempted:  {sleeping, held, nesting, over},
	aboard:     {over},
	nesting:    {over},
	held:       {held, queued, connecting, sent, over},
	sleeping:   {queued, connecting, sent, held, over},
}

// NewChecker makes a Checker for machines under the policy, which it asks for
// anew at each event, since it may be changed.
func NewChecker(policy func() engine.Policy) *Checker {
	return &Checker{
		policy: policy, requests: map[key]*track{}, scopes: map[scopeKey]*scopeTrack{},
		arrived: map[wire.AttemptID]bool{}, last: wire.Held, groups: newGroups(),
		sockets: map[wire.ClientID][]wire.RequestID{}, wired: map[wire.ClientID]int{},
		flights: map[key]*flightTrack{}, lanes: map[laneKey]int{},
	}
}

// Err is the first thing that was not as it must be; nil if all was.
func (c *Checker) Err() error { return c.err }

// Sent and Arrivals are how many attempts went out, and how many got there.
func (c *Checker) Sent() int64 { return c.sent }

// Arrivals is how many attempts arrived at the server.
func (c *Checker) Arrivals() int64 { return c.arrivals }

// Outcomes is how many requests ended in each way.
func (c *Checker) Outcomes() [wire.NumOutcomes]int64 { return c.outcomes }

// Finish holds the end of a run against the machines' own counts, and returns
// the first thing that was wrong.
func (c *Checker) Finish(counts engine.Counts) error {
	var ended int64
	for _, n := range c.outcomes {
		ended += n
	}
	open := int64(counts.Queued + counts.Connecting + counts.Running + counts.Sleeping +
		counts.Sharing + counts.Nesting)
	waiting := 0
	for _, line := range c.sockets {
		waiting += len(line)
	}
	c.must(waiting == counts.Connecting, "%d wait for a connection: %+v", waiting, counts)
	c.must(c.began == ended+open, "%d requests began, %d ended, %d are open (%+v)",
		c.began, ended, open, counts)
	c.flying(counts)
	c.nested(counts)
	return c.err
}

func (c *Checker) must(ok bool, format string, args ...any) {
	if !ok && c.err == nil {
		c.err = fmt.Errorf("at %v: "+format, append([]any{c.last.Duration()}, args...)...)
	}
}

// Observe checks one event.
func (c *Checker) Observe(e wire.Event) {
	c.must(e.At >= c.last, "time goes back to %v", e.At.Duration())
	c.last = max(c.last, e.At)
	switch {
	case e.Kind == wire.RequestHeld, e.Kind == wire.SocketQueued, e.Kind == wire.SocketDequeued,
		e.Kind == wire.RequestJoined, e.Kind == wire.RequestNesting, e.Kind == wire.NestedDeadlock,
		e.Kind == wire.ClassChanged,
		e.Kind <= wire.RequestDone && e.Kind != wire.AttemptLate:
		c.request(e)
	case e.Kind == wire.PageEnded:
		c.pageEnded(e)
	case e.Kind == wire.LimitChanged:
		c.scope(e).limit = int(e.Limit)
	case e.Kind == wire.ScopePaused || e.Kind == wire.ScopeResumed:
		c.pause(e)
	case e.Kind == wire.BreakerChanged:
		c.changeBreaker(e)
	case e.Kind == wire.ProbeDone && !e.Good:
		s := c.gate(e)
		s.probes = max(0, s.probes-1) // after a failure the round is over anyway
	case e.Kind == wire.StarvationBegan || e.Kind == wire.StarvationEnded:
		s := c.scope(e)
		c.must(s.starving[e.Class] == (e.Kind == wire.StarvationEnded), "%v of %v twice", e.Kind, e.Class)
		s.starving[e.Class] = e.Kind == wire.StarvationBegan
	case e.Kind == wire.ServerArrived:
		_, twice := c.arrived[e.ID]
		c.must(!twice, "%v arrived twice", e.ID)
		c.arrived[e.ID] = true
		c.arrivals++
	case e.Kind == wire.ServerDone, e.Kind == wire.ServerRejected,
		e.Kind == wire.ServerReset, e.Kind == wire.ServerCancelled, e.Kind == wire.ServerSwallowed:
		c.must(c.arrived[e.ID], "%v: %v of one that is not at the server", e.ID, e.Kind)
		c.arrived[e.ID] = false
	}
}

// request checks an event about a request.
func (c *Checker) request(e wire.Event) {
	k := key{e.ID.Client, e.ID.Request}
	r := c.requests[k]
	if e.Kind == wire.RequestBegan {
		c.must(r == nil, "%v began twice", e.ID)
		r = &track{class: e.Class, scope: e.Scope, group: e.Group, refused: c.join(e), came: e.At}
		c.nest(e, r)
		c.requests[k] = r
		c.began++
		c.protect(e, 1)
		return
	}
	r = c.whose(e, r)
	if r == nil {
		c.must(false, "%v: %v before it began", e.ID, e.Kind)
		return
	}
	if e.Kind == wire.ClassChanged {
		c.reclass(e, r)
		return
	}
	c.must(r.class == e.Class, "%v changed from %v to %v", e.ID, r.class, e.Class)
	c.must(r.group == e.Group, "%v changed from group %d to %d", e.ID, r.group, e.Group)
	switch e.Kind {
	case wire.RequestQueued:
		c.move(e, r, queued)
		r.since = e.At
	case wire.RequestDequeued:
		c.move(e, r, dequeued)
	case wire.SocketQueued:
		c.move(e, r, connecting)
		c.start(e, r)
		c.sockets[e.ID.Client] = append(c.sockets[e.ID.Client], e.ID.Request)
	case wire.SocketDequeued:
		c.move(e, r, connected)
		c.leaveSocket(e, r)
	case wire.AttemptSent:
		if r.stage != connected {
			c.must(len(c.sockets[e.ID.Client]) == 0, "%v: sent past those who wait for a connection", e.ID)
			c.start(e, r)
		}
		c.move(e, r, sent)
		c.send(e, r)
	case wire.AttemptEnded:
		c.move(e, r, attempted)
		c.must(e.Delay >= 0, "%v took %v", e.ID, e.Delay)
		c.release(e, r)
		c.wired[e.ID.Client]--
	case wire.RequestHeld:
		if r.stage == attempted {
			c.must(r.replays == 0, "%v is replayed twice", e.ID)
			r.replays++
		}
		c.move(e, r, held)
	case wire.RetryScheduled:
		c.move(e, r, sleeping)
		c.retry(e)
	case wire.RequestJoined:
		c.joined(e, r)
	case wire.RequestNesting:
		c.keep(e, r)
	case wire.NestedDeadlock:
		c.deadlock(e, r)
	case wire.RequestDone:
		was := r.stage
		c.move(e, r, over)
		if r.flight != nil {
			c.alight(e, r)
		}
		c.done(e, r)
		c.unnest(e, r, was)
		c.leave(e, r)
		c.protect(e, -1)
		delete(c.requests, k)
	}
}

func (c *Checker) move(e wire.Event, r *track, to stage) {
	for _, s := range next[r.stage] {
		if s == to {
			r.stage = to
			return
		}
	}
	c.must(false, "%v: %v out of turn (stage %d)", e.ID, e.Kind, r.stage)
	r.stage = to
}

// start checks that an attempt may have the slot that it has got.
func (c *Checker) start(e wire.Event, r *track) {
	p := c.policy()
	s := c.scope(e)
	r.tries++
	c.must(!e.Refresh || e.ID.Try <= 1, "%v: %d tries of a refresh", e.ID, e.ID.Try)
	c.must(e.ID.Try == r.tries, "%v is try %d", e.ID, r.tries)
	c.must(int(r.tries)-r.replays <= max(p.Retry.Attempts, 1), "%v is more than %d attempts", e.ID, p.Retry.Attempts)
	if r.lane {
		c.must(s.limitUnder(&p) > 0, "%v: its scope is paused", e.ID)
		c.sendNested(e, r, p.Queue.NestedLimit)
	} else {
		c.sendOwn(e, s, &p)
	}
	c.slots(e, r, 1)
	s.inFlight++
	// A request that asked once for all its attempts retries past the breaker.
	if p.Breaker.Placement == breaker.PerRequest && e.ID.Try > 1 {
		return
	}
	b := c.gate(e)
	c.must(passes(b.breaker) || e.Probe, "%v: sent through a breaker that is %v", e.ID, b.breaker)
	c.must(!e.Shared || p.Breaker.Shared, "%v: sent through a shared breaker out of use", e.ID)
	if e.Probe {
		c.must(b.breaker == wire.HalfOpen, "%v: probe of a breaker that is %v", e.ID, b.breaker)
		c.probe(e, b, p.Breaker)
	}
}

func (c *Checker) retry(e wire.Event) {
	p := c.policy()
	c.must(e.Delay >= 0 && e.Delay <= e.Ceiling, "%v: waits %v of %v", e.ID, e.Delay, e.Ceiling)
	c.must(e.Until == e.At.Add(e.Delay), "%v: waits %v until %v", e.ID, e.Delay, e.Until)
	if e.Hint == wire.HintPushedBack {
		c.must(p.Retry.Pushback && e.Hinted && e.Delay == e.Ceiling,
			"%v: pushed back by %v of %v, pushback %v", e.ID, e.Delay, e.Ceiling, p.Retry.Pushback)
	}
	if !e.Hinted {
		c.must(e.Ceiling <= p.Retry.Backoff.Cap, "%v: could wait %v, above the cap", e.ID, e.Ceiling)
	}
}

func (c *Checker) done(e wire.Event, r *track) {
	c.must(e.Outcome != wire.Unfinished, "%v ended unfinished", e.ID)
	c.must(e.ID.Try == r.tries, "%v ended after %d tries", e.ID, r.tries)
	switch e.Outcome {
	case wire.ExpiredInQueue:
		c.must(r.wired == 0, "%v expired in queue after %d tries on the wire", e.ID, r.wired)
	case wire.Succeeded, wire.Failed, wire.TimedOut:
		c.must(r.tries > 0 || e.Cause == wire.CauseAuth || r.knotted, "%v %v without a try", e.ID, e.Outcome)
	}
	c.outcomes[e.Outcome]++
}
