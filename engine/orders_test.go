package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/queue"
	"herdscope/engine/wire"

	"pgregory.net/rapid"
)

// ordered is a policy of one try, with an order.
func ordered(o queue.Order, slots int) engine.Policy {
	p := plain()
	p.Retry.Attempts = 1
	p.Queue.Order, p.Queue.Limit = o, slots
	return p
}

// drawCounter draws a load with an order's tuning: too little for the slots, or
// too much.
func drawCounter(t *rapid.T, o queue.Order) (*counter, [wire.NumClasses]time.Duration) {
	p := ordered(o, rapid.IntRange(1, 4).Draw(t, "slots"))
	p.Queue.Ageing = time.Duration(rapid.IntRange(1, 500).Draw(t, "ageing")) * time.Millisecond
	p.Queue.CodelInterval = time.Duration(rapid.IntRange(10, 200).Draw(t, "interval")) * time.Millisecond
	var gaps [wire.NumClasses]time.Duration
	for c := range gaps {
		p.Queue.Class[c].Turns = rapid.IntRange(0, 5).Draw(t, "turns")
		gaps[c] = time.Duration(rapid.IntRange(5, 60).Draw(t, "gap")) * time.Millisecond
	}
	service := time.Duration(rapid.IntRange(1, 40).Draw(t, "service")) * time.Millisecond
	return newCounter(&p, rapid.Uint64().Draw(t, "seed"), service), gaps
}

// bounds is what each order promises, as a check of every start.
var bounds = []struct {
	order queue.Order
	watch func(p *engine.Policy) func(clock.Instant, ticket, []ticket) string
}{
	{queue.Strict, nobody("more important", func(_ *engine.Policy, w, t ticket) bool {
		return w.class < t.class || w.class == t.class && w.id < t.id
	})},
	{queue.FIFO, nobody("came before", func(_ *engine.Policy, w, t ticket) bool {
		return w.id < t.id
	})},
	{queue.LIFO, nobody("came after", func(_ *engine.Policy, w, t ticket) bool {
		return w.id > t.id
	})},
	{queue.Ageing, nobody("is overtaken by one too late for it", func(p *engine.Policy, w, t ticket) bool {
		ahead := time.Duration(w.class) - time.Duration(t.class)
		return w.id < t.id && t.came >= w.came.Add(ahead*p.Queue.Ageing)
	})},
	{queue.EDF, nobody("has less time", func(_ *engine.Policy, w, t ticket) bool {
		return w.deadline < t.deadline
	})},
	{queue.Weighted, oneRound},
}

// nobody makes a watch that finds no one waiting whom the start has wronged.
func nobody(problem string, wronged func(p *engine.Policy, w, t ticket) bool) func(
	*engine.Policy) func(clock.Instant, ticket, []ticket) string {
	return func(p *engine.Policy) func(clock.Instant, ticket, []ticket) string {
		return func(_ clock.Instant, t ticket, waiting []ticket) string {
			for _, w := range waiting {
				if wronged(p, w, t) {
					return fmt.Sprintf("%v %d, which waits, %s", w.class, w.id, problem)
				}
			}
			return ""
		}
	}
}

// oneRound counts for each class with somebody waiting how many turns the others
// have had since its own last one.
func oneRound(p *engine.Policy) func(clock.Instant, ticket, []ticket) string {
	var passed [wire.NumClasses]int
	return func(_ clock.Instant, t ticket, waiting []ticket) string {
		var waits [wire.NumClasses]bool
		for _, w := range waiting {
			waits[w.class] = true
		}
		for c := range passed {
			if !waits[c] || c == int(t.class) {
				passed[c] = 0
				continue
			}
			passed[c]++
			if round := turnsOfOthers(p, c); passed[c] > round {
				return fmt.Sprintf("class %d was passed over %d times; a round is %d", c, passed[c], round)
			}
		}
		return ""
	}
}

func turnsOfOthers(p *engine.Policy, c int) int {
	turns := 0
	for other := range p.Queue.Class {
		switch n := p.Queue.Class[other].Turns; {
		case other == c:
		case n > 0:
			turns += n
		default:
			turns += queue.DefaultWeight(wire.Class(other))
		}
	}
	return turns
}

// TestEveryOrderKeepsItsBound holds for any load, slots and tuning.
func TestEveryOrderKeepsItsBound(t *testing.T) {
	for _, tt := range bounds {
		t.Run(tt.order.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c, gaps := drawCounter(t, tt.order)
				if tt.order == queue.EDF {
					drawDeadlines(t, c.policy)
				}
				c.watch = tt.watch(c.policy)
				c.run(gaps, clock.Instant(time.Second))
				if c.fault != "" {
					t.Fatal(c.fault)
				}
			})
		})
	}
}

func drawDeadlines(t *rapid.T, p *engine.Policy) {
	for c := range p.Queue.Class {
		p.Queue.Class[c].Deadline = time.Duration(rapid.IntRange(0, 800).Draw(t, "deadline")) * time.Millisecond
	}
}

// TestEDFSendsNothingTooLate: whoever has a deadline is sent before it, less the
// estimate, or dropped then.
func TestEDFSendsNothingTooLate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, gaps := drawCounter(t, queue.EDF)
		drawDeadlines(t, c.policy)
		c.policy.Queue.Estimate = time.Duration(rapid.IntRange(0, 40).Draw(t, "estimate")) * time.Millisecond
		c.run(gaps, clock.Instant(time.Second))
		for _, e := range c.ended {
			last := e.deadline.Add(-c.policy.Queue.Estimate)
			switch {
			case e.deadline == clock.Never:
			case e.sent && e.left >= last:
				t.Fatalf("%v %d is sent at %v, and %v is too late", e.class, e.id, e.left, last)
			case !e.sent && (e.left != max(last, e.came) || e.outcome != wire.ExpiredInQueue):
				t.Fatalf("%v %d ends as %v at %v, not %v", e.class, e.id, e.outcome, e.left, last)
			}
		}
	})
}

// TestAdaptiveLIFOKeepsNobodyLong: whoever has waited for the interval is shed.
func TestAdaptiveLIFOKeepsNobodyLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, gaps := drawCounter(t, queue.AdaptiveLIFO)
		c.run(gaps, clock.Instant(time.Second))
		for _, e := range c.ended {
			if stay := e.left.Sub(e.came); stay > c.policy.Queue.CodelInterval {
				t.Fatalf("%v %d waits %v", e.class, e.id, stay)
			}
			if want := e.sent == (e.outcome == wire.Succeeded); !want || !e.sent && e.outcome != wire.Shed {
				t.Fatalf("%v %d, sent: %v, ends as %v", e.class, e.id, e.sent, e.outcome)
			}
		}
	})
}

// crowd is a run of ten seconds in which one slot gets half as much again as the
// 100 requests a second that it can do.
func crowd(p engine.Policy, seed uint64) *counter {
	c := newCounter(&p, seed, 10*time.Millisecond)
	gap := 20 * time.Millisecond
	c.run([wire.NumClasses]time.Duration{gap, gap, gap}, clock.Instant(10*time.Second))
	return c
}

// latency is the middle one of how long those took that succeeded, and how many
// that were.
func (c *counter) latency() (p50 time.Duration, n int) {
	var all []time.Duration
	for _, e := range c.ended {
		if e.outcome == wire.Succeeded {
			all = append(all, e.took)
		}
	}
	slices.Sort(all)
	return all[len(all)/2], len(all)
}

func TestAdaptiveLIFOAnswersSoonInOverload(t *testing.T) {
	for seed := range uint64(5) {
		fifo, _ := crowd(ordered(queue.FIFO, 1), seed).latency()
		adaptive, n := crowd(ordered(queue.AdaptiveLIFO, 1), seed).latency()
		t.Logf("seed %d: p50 %v by fifo, %v by adaptive-lifo of %d served in 10s", seed, fifo, adaptive, n)
		if adaptive > fifo/10 || n < 800 {
			t.Errorf("seed %d: p50 %v of %d, by fifo %v", seed, adaptive, n, fifo)
		}
	}
}

// TestEDFNeedsItsEstimate shows what it is for: without one the slot is spent, in
// overload, on what has no time left to be answered.
func TestEDFNeedsItsEstimate(t *testing.T) {
	for seed := range uint64(5) {
		var good [2]int
		for i, estimate := range []time.Duration{0, 20 * time.Millisecond} {
			p := ordered(queue.EDF, 1)
			p.Queue.Estimate = estimate
			for c := range p.Queue.Class {
				p.Queue.Class[c].Deadline = 500 * time.Millisecond
			}
			_, good[i] = crowd(p, seed).latency()
		}
		t.Logf("seed %d: %d in time, with an estimate %d", seed, good[0], good[1])
		if good[1] < good[0]*11/10 {
			t.Errorf("seed %d: the estimate saves little: %d in time, with it %d", seed, good[0], good[1])
		}
	}
}

// starts counts the starts of each class in the first five seconds of a run in
// which every class alone wants more than the one slot.
func starts(p engine.Policy, seed uint64) (n [wire.NumClasses]int) {
	c := newCounter(&p, seed, 5*time.Millisecond)
	gap := 4 * time.Millisecond
	c.run([wire.NumClasses]time.Duration{gap, gap, gap}, clock.Instant(5*time.Second))
	for _, e := range c.ended {
		if e.sent && e.left <= clock.Instant(5*time.Second) {
			n[e.class]++
		}
	}
	return n
}

func TestStrictStarves(t *testing.T) {
	n := starts(ordered(queue.Strict, 1), 1)
	t.Logf("starts by class: %v", n)
	if n[wire.Background] > 2 || n[wire.Critical] < 900 {
		t.Errorf("strict started %v", n)
	}
}

func TestKeptSlotsEndStarvation(t *testing.T) {
	p := ordered(queue.Strict, 2)
	p.Queue.Class[wire.Background].Least = 1
	n := starts(p, 1)
	t.Logf("starts by class: %v", n)
	if n[wire.Background] < 900 {
		t.Errorf("with a slot of its own, background started %v", n)
	}
}

func TestWeightedSharesAreTheWeights(t *testing.T) {
	for _, turns := range [][wire.NumClasses]int{{5, 3, 1}, {1, 1, 1}, {1, 2, 7}, {0, 0, 0}} {
		p := ordered(queue.Weighted, 1)
		sum := 0
		for c := range turns {
			p.Queue.Class[c].Turns = turns[c]
			if turns[c] == 0 {
				turns[c] = queue.DefaultWeight(wire.Class(c))
			}
			sum += turns[c]
		}
		n := starts(p, 1)
		total := n[0] + n[1] + n[2]
		t.Logf("turns %v: starts %v of %d", turns, n, total)
		for c := range n {
			if got, want := n[c]*1000/total, turns[c]*1000/sum; got < want-20 || got > want+20 {
				t.Errorf("turns %v: class %d has %d thousandths of the starts, want %d", turns, c, got, want)
			}
		}
	}
}

// TestMachineKeepsTheIdentitiesInEveryOrder does anything at all to a machine
// whose order, and place for retries, change all the time.
func TestMachineKeepsTheIdentitiesInEveryOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHand(drawPolicy(t), rapid.Uint64().Draw(t, "seed"))
		drawOrder(t, &h.policy)
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			h.now = h.now.Add(time.Duration(rapid.IntRange(0, 700).Draw(t, "pass")) * time.Millisecond)
			if rapid.IntRange(0, 9).Draw(t, "reorder") == 0 {
				drawOrder(t, &h.policy)
				h.step(engine.Input{Kind: engine.Changed})
			}
			h.anything(t)
			if err := h.checker.Finish(h.machine.Counts()); err != nil {
				t.Fatal(err)
			}
		}
		h.comeToAnEnd(t)
	})
}

func drawOrder(t *rapid.T, p *engine.Policy) {
	q := &p.Queue
	q.Order = queue.Order(rapid.IntRange(0, len(queue.OrderNames())-1).Draw(t, "order"))
	q.Requeue = queue.Requeue(rapid.IntRange(0, len(queue.RequeueNames())-1).Draw(t, "requeue"))
	q.Ageing = time.Duration(rapid.IntRange(0, 2).Draw(t, "ageing")) * time.Second
	q.Estimate = time.Duration(rapid.IntRange(0, 1500).Draw(t, "estimate")) * time.Millisecond
	q.CodelTarget = time.Duration(rapid.IntRange(0, 2000).Draw(t, "target")) * time.Millisecond
	q.CodelInterval = time.Duration(rapid.IntRange(0, 4000).Draw(t, "interval")) * time.Millisecond
	for c := range q.Class {
		q.Class[c].Turns = rapid.IntRange(0, 3).Draw(t, "turns")
	}
}

// orderedLoad is a closed loop of requests in an order.
func orderedLoad(o queue.Order, waiting int) *load {
	p := busyPolicy()
	p.Queue.Order = o
	p.Queue.CodelTarget, p.Queue.CodelInterval = time.Second, time.Second
	return newLoad(&p, waiting)
}

func TestStepDoesNotAllocateInAnyOrder(t *testing.T) {
	for i, name := range queue.OrderNames() {
		l := orderedLoad(queue.Order(i), 50)
		for range 50_000 {
			l.step()
		}
		allocs := testing.AllocsPerRun(5, func() {
			for range 10_000 {
				l.step()
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations in 10,000 steps", name, allocs)
		}
	}
}

func BenchmarkOrders(b *testing.B) {
	for i, name := range queue.OrderNames() {
		b.Run(name, func(b *testing.B) {
			l := orderedLoad(queue.Order(i), 1000)
			b.ReportAllocs()
			for b.Loop() {
				l.step()
			}
		})
	}
}

func TestEstimateLeavesTime(t *testing.T) {
	p := sound()
	p.Queue.Order, p.Queue.Estimate = queue.EDF, 2*time.Second
	p.Queue.Class[wire.Critical].Deadline = 3 * time.Second
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	p.Queue.Class[wire.Background].Deadline = 2 * time.Second
	want := `queue.estimate: "2s" is not below queue.background.deadline; ` +
		`allowed: less than 2s under edf, or off`
	if err := p.Validate(); err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	p.Queue.Order = queue.FIFO
	if err := p.Validate(); err != nil {
		t.Errorf("fifo minds the estimate: %v", err)
	}
}
