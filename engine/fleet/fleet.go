// Package fleet is all clients of an experiment as one machine: the engine
// machines, the process that makes requests begin, and the index of who is due
// next.
//
// Like every machine it is pure: no clock, goroutine or lock; Step is fed one
// input with the time and appends what it wants done. It imports engine and
// what engine imports.
package fleet

import (
	"herdscope/engine"
	"herdscope/engine/budget"
	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// Fleet is N clients. Make it with New. It belongs to one goroutine at a time.
type Fleet struct {
	config   Config
	seed     uint64
	clients  []client
	timers   clock.Index // when each client's machine is due
	arrivals clock.Index // when each client's next request begins
	pages    pages
	doubles  doubles
	weights  [wire.NumClasses]uint64
	stopped  bool
	budget   budget.Budget // what clients share, if they share one
	breakers breakers
	token    token
	begun    int64
	ended    int64
}

// client is one caller: its machine and where it is in its own story.
type client struct {
	machine engine.Machine
	next    wire.RequestID // the last one given out
	asked   uint64         // how many requests it began of its own accord, which draws go by
	gaps    uint64         // how many gaps between arrivals were drawn
	began   clock.Instant  // when its latest request began
	page    int32          // its latest page; noPage if it has none
	refresh wire.RequestID // the one that gets a new token; 0 if none does
	token   uint32         // version of the shared token that it has
	warm    bool           // the next request was already held before the run
}

// New makes a fleet, or says what is wrong with its configuration.
func New(config Config, seed uint64) (*Fleet, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	f := &Fleet{config: config, seed: seed, clients: make([]client, config.Clients)}
	f.weigh()
	scopes := f.scopes()
	f.breakers = newBreakers(seed, scopes)
	for i := range f.clients {
		f.clients[i].page = noPage
		f.clients[i].machine = engine.New(wire.ClientID(i), seed, scopes, &f.config.Policy)
		f.clients[i].machine.ShareBreakers(f.breakers.Breakers)
		if config.Policy.Budget.Shared {
			f.clients[i].machine.Share(&f.budget)
		}
	}
	for i := range f.clients {
		f.plan(int32(i))
	}
	return f, nil
}

// Config is the fleet's configuration as it is now.
func (f *Fleet) Config() Config { return f.config }

// Counts is how many requests are where, over all clients.
func (f *Fleet) Counts() engine.Counts {
	var sum engine.Counts
	for i := range f.clients {
		c := f.clients[i].machine.Counts()
		sum.Queued += c.Queued
		sum.Connecting += c.Connecting
		sum.Running += c.Running
		sum.Sleeping += c.Sleeping
		sum.Sharing += c.Sharing
		sum.Nesting += c.Nesting
	}
	return sum
}

// Unfinished is how many requests have begun and not ended.
func (f *Fleet) Unfinished() int64 { return f.begun - f.ended }

// Machine is one client's machine, to be looked at only.
func (f *Fleet) Machine(id wire.ClientID) *engine.Machine { return &f.clients[id].machine }

// Deadline is when the fleet next needs a Tick; false if never. Any Step may
// change it.
func (f *Fleet) Deadline() (clock.Instant, bool) {
	_, timer, due := f.timers.Min()
	_, arrival, comes := f.arrivals.Min()
	_, leave, leaves := f.pages.leaves.Min()
	_, again, doubles := f.doubles.due.Min()
	gate, opens := f.breakers.Deadline()
	return min(timer, arrival, leave, again, gate), due || comes || leaves || doubles || opens
}

// Step feeds one input at now and appends what the fleet asks of the world. A
// Tick lets everything act that is due, in order of time; now must not go back.
func (f *Fleet) Step(now clock.Instant, in Input, out []engine.Effect) []engine.Effect {
	switch in.Kind {
	case Tick:
		return f.tick(now, out)
	case Answered:
		return f.step(now, int32(in.ID.Client), engine.Input{
			Kind: engine.Answered, ID: in.ID, Reply: in.Reply, NotBefore: in.NotBefore,
			Lead: in.Lead,
		}, out)
	case Cancel:
		return f.step(now, int32(in.ID.Client), engine.Input{
			Kind: engine.Cancel, Request: in.ID.Request,
		}, out)
	case Set:
		return f.set(now, in, out)
	case Stop:
		f.stopped = true
		f.arrivals, f.doubles = clock.Index{}, doubles{}
	}
	return out
}

// tick runs arrivals, timers, those of shared breakers among them, and lost
// patience that are due, the earlier first; of those at the same instant the
// timers are first and the arrival last, since the others may free what it needs.
func (f *Fleet) tick(now clock.Instant, out []engine.Effect) []engine.Effect {
	for {
		timer, due, _ := f.timers.Min()
		page, leaves, _ := f.pages.leaves.Min()
		arrival, comes, _ := f.arrivals.Min()
		double, again, _ := f.doubles.due.Min()
		gate, _ := f.breakers.Deadline()
		switch {
		case gate <= now && gate <= min(due, leaves, comes, again):
			out = f.tickBreakers(now, out)
		case timer >= 0 && due <= now && due <= min(leaves, comes, again):
			out = f.step(now, timer, engine.Input{Kind: engine.Tick}, out)
		case page >= 0 && leaves <= now && leaves <= min(comes, again):
			out = f.leave(now, page, out)
		case double >= 0 && again <= now && again <= comes:
			out = f.again(now, double, again, out)
		case arrival >= 0 && comes <= now:
			out = f.arrive(now, arrival, comes, out)
		default:
			return out
		}
	}
}

// step feeds one machine, and then sees to its timer and to its ended requests.
// The next of a page may begin in it, which is a step inside the step.
func (f *Fleet) step(
	now clock.Instant, i int32, in engine.Input, out []engine.Effect,
) []engine.Effect {
	c := &f.clients[i]
	from := len(out)
	out = c.machine.Step(now, in, out)
	to := len(out)
	for k := from; k < to; k++ {
		switch e := &out[k]; {
		case e.Kind == engine.Refresh:
			out = f.refresh(now, i, e.Attempt, out)
		case e.Kind == engine.Report && e.Event.Kind == wire.RequestNesting:
			out = f.nest(now, e.Event, out)
		case e.Kind == engine.Report && e.Event.Kind == wire.RequestDone:
			out = f.done(now, i, e.Event, out)
		}
	}
	if at, ok := c.machine.Deadline(); ok {
		f.timers.Set(i, at)
	} else {
		f.timers.Clear(i)
	}
	f.line(i)
	return f.wake(now, out)
}

// set changes a setting, and lets everybody look at what that set free.
func (f *Fleet) set(now clock.Instant, in Input, out []engine.Effect) []engine.Effect {
	before := f.config
	ApplyKnob(&f.config, in.Knob, in.Value)
	f.weigh()
	f.reschedule(now, before.Arrival)
	if f.config.Policy == before.Policy {
		return out
	}
	out = f.breakers.Tick(now, &f.config.Policy, out)
	for i := range f.clients {
		out = f.step(now, int32(i), engine.Input{Kind: engine.Changed}, out)
	}
	return out
}

// scopes is how many scopes the mix refers to.
func (f *Fleet) scopes() int {
	n := 1
	for _, m := range f.config.Mix {
		n = max(n, int(m.Scope)+1)
	}
	return n
}
