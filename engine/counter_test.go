package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// ticket is what an onlooker at a queue knows of one request.
type ticket struct {
	id       wire.RequestID
	class    wire.Class
	came     clock.Instant
	deadline clock.Instant
	left     clock.Instant // when its last stay in the queue ended
	took     time.Duration // from its submission to its end
	sent     bool
	outcome  wire.Outcome
}

// counter is one machine at work with a server that answers everything after a
// random time, and with an onlooker.
type counter struct {
	policy  *engine.Policy
	machine engine.Machine
	replies clock.Queue[wire.AttemptID]
	random  *rand.Rand
	service time.Duration // mean of a uniform time
	waiting []ticket      // in the order of coming
	ended   []ticket
	// watch is asked at each start, with those who wait meanwhile. What it
	// returns is what is wrong.
	watch func(now clock.Instant, t ticket, waiting []ticket) string
	fault string
}

func newCounter(p *engine.Policy, seed uint64, service time.Duration) *counter {
	return &counter{
		policy: p, machine: engine.New(1, seed, 1, p), service: service,
		random: rand.New(rand.NewPCG(seed, 1)),
		watch:  func(clock.Instant, ticket, []ticket) string { return "" },
	}
}

// drawAround is a random time with the given mean.
func (c *counter) drawAround(mean time.Duration) time.Duration {
	return time.Duration(c.random.Int64N(int64(2*mean))) + 1
}

// run lets requests of each class come with a mean gap, 0 for none, until a
// moment, and then waits for all to end.
func (c *counter) run(gaps [wire.NumClasses]time.Duration, until clock.Instant) {
	var arrivals clock.Queue[wire.Class]
	for class, gap := range gaps {
		for at := clock.Instant(0); gap > 0 && at < until; at = at.Add(c.drawAround(gap)) {
			arrivals.Push(at, wire.Class(class))
		}
	}
	id := wire.RequestID(0)
	for {
		came, arrives := arrivals.Peek()
		answered, answers := c.replies.Peek()
		due, ticks := c.machine.Deadline()
		switch {
		case ticks && due <= min(came, answered):
			c.step(due, engine.Input{Kind: engine.Tick})
		case answers && answered <= came:
			_, attempt, _ := c.replies.Pop()
			reply := wire.Reply{Status: 200}
			c.step(answered, engine.Input{Kind: engine.Answered, ID: attempt, Reply: reply})
		case arrives:
			_, class, _ := arrivals.Pop()
			id++
			c.step(came, engine.Input{Kind: engine.Submit, Request: id, Class: class, Since: came})
		default:
			return
		}
	}
}

func (c *counter) step(now clock.Instant, in engine.Input) {
	for _, e := range c.machine.Step(now, in, nil) {
		switch {
		case e.Kind == engine.Send:
			c.replies.Push(now.Add(c.drawAround(c.service)), e.Attempt.ID)
		case e.Kind == engine.Report:
			c.observe(e.Event)
		}
	}
}

func (c *counter) observe(e wire.Event) {
	switch e.Kind {
	case wire.RequestBegan:
		t := ticket{id: e.ID.Request, class: e.Class, came: e.At, deadline: clock.Never}
		if d := c.policy.Queue.Class[e.Class].Deadline; d > 0 {
			t.deadline = e.At.Add(d)
		}
		c.waiting = append(c.waiting, t)
	case wire.AttemptSent:
		t := c.leave(e)
		t.sent, t.left = true, e.At
		c.ended = append(c.ended, t)
		if wrong := c.watch(e.At, t, c.waiting); wrong != "" && c.fault == "" {
			c.fault = fmt.Sprintf("at %v, %v %d: %s", e.At.Duration(), t.class, t.id, wrong)
		}
	case wire.RequestDone:
		c.done(e)
	}
}

// leave takes a request out of those who wait.
func (c *counter) leave(e wire.Event) ticket {
	i := slices.IndexFunc(c.waiting, func(t ticket) bool { return t.id == e.ID.Request })
	t := c.waiting[i]
	c.waiting = slices.Delete(c.waiting, i, i+1)
	return t
}

func (c *counter) done(e wire.Event) {
	i := slices.IndexFunc(c.ended, func(t ticket) bool { return t.id == e.ID.Request })
	if i < 0 {
		t := c.leave(e)
		t.left = e.At
		c.ended = append(c.ended, t)
		i = len(c.ended) - 1
	}
	c.ended[i].outcome, c.ended[i].took = e.Outcome, e.Delay
}
