package engine_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/wire"
)

// TestNE27WaitersComeAndGoAtOneSlot acquires, cancels and releases one slot at
// random, 100,000 times: whoever loses a race gives the slot back, who leaves the
// line wakes the next, and in the end the slot is free.
func TestNE27WaitersComeAndGoAtOneSlot(t *testing.T) {
	t.Run("one scope", func(t *testing.T) { comeAndGo(t, 1, 0) })
	t.Run("two scopes, one connection", func(t *testing.T) { comeAndGo(t, 2, 1) })
}

func comeAndGo(t *testing.T, scopes, conns int) {
	p := plain()
	p.Retry.Attempts, p.Queue.Limit, p.Transport.Conns = 1, 1, conns
	h := newHand(p, 27)
	random := rand.New(rand.NewPCG(27, uint64(scopes)))
	for range 100_000 {
		h.now = h.now.Add(time.Duration(random.IntN(3)) * time.Millisecond)
		switch n := random.IntN(10); {
		case n < 4:
			h.acquire(uint8(random.IntN(scopes)), wire.Class(random.IntN(wire.NumClasses)))
		case n < 7:
			back := wire.RequestID(random.IntN(12))
			h.step(engine.Input{Kind: engine.Cancel, Request: max(back, h.next) - back})
		case len(h.out) > 0:
			h.release(h.out[random.IntN(len(h.out))])
		case len(h.aborted) > 0:
			h.release(h.aborted[len(h.aborted)-1]) // the loser of the race, once more
		}
		h.checkOneSlot(t)
	}
	h.comeToAnEnd(t)
	if err := h.checker.Finish(h.machine.Counts()); err != nil {
		t.Fatal(err)
	}
	if h.acquire(0, wire.Critical); len(h.out) != 1 {
		t.Error("the slot is not free in the end")
	}
}

func (h *hand) acquire(scope uint8, class wire.Class) {
	h.next++
	h.step(engine.Input{
		Kind: engine.Submit, Request: h.next, Scope: scope, Class: class, Since: h.now,
	})
}

func (h *hand) release(id wire.AttemptID) {
	h.drop(id)
	h.step(engine.Input{Kind: engine.Answered, ID: id, Reply: wire.Reply{Status: 200}})
}

// checkOneSlot checks that a slot is taken once, and never idle while somebody
// waits for it; and so is the connection.
func (h *hand) checkOneSlot(t *testing.T) {
	t.Helper()
	c, slots := h.machine.Counts(), 0
	for scope := range uint8(2) {
		n := h.machine.Running(scope)
		slots += n
		if n < 0 || n > 1 {
			t.Fatalf("%d in one slot of scope %d", n, scope)
		}
	}
	switch {
	case c.Running+c.Connecting != slots:
		t.Fatalf("%d slots are taken: %+v", slots, c)
	case c.Running != len(h.out) || c.Running > 1:
		t.Fatalf("%v are on the wire: %+v", h.out, c)
	case c.Queued > 0 && slots == 0, c.Connecting > 0 && c.Running == 0:
		t.Fatalf("somebody waits for what is free: %+v", c)
	}
	if err := h.checker.Finish(c); err != nil {
		t.Fatal(err)
	}
}

// TestNE28AbortedWaitersSettleAtOnce aborts every second one of 1,000 that wait,
// half of them in a pause: each ends in the instant of its abort and takes no
// time of the slot, so that the others are done when 500 have been served; and
// the machine comes to rest once.
func TestNE28AbortedWaitersSettleAtOnce(t *testing.T) {
	const service = 10 * time.Millisecond
	p := plain()
	p.Queue.Limit = 1
	h := newHand(p, 28)
	for range 1001 { // the first has the slot
		h.acquire(0, wire.Interactive)
	}
	abort := func(from, to wire.RequestID) {
		for id := from; id < to; id += 2 {
			before := h.machine.Counts()
			h.step(engine.Input{Kind: engine.Cancel, Request: id})
			if after := h.machine.Counts(); after.Queued != before.Queued-1 || len(h.out) > 1 {
				t.Fatalf("%d has not settled: %+v, then %+v", id, before, after)
			}
		}
	}
	abort(2, 502)
	h.setLimit(engine.Paused)
	h.release(h.out[0])
	abort(502, 1002)
	if c := h.machine.Counts(); c != (engine.Counts{Queued: 500}) {
		t.Fatalf("in the pause: %+v", c)
	}
	began, rests, served := h.now, 0, 0
	for h.setLimit(1); len(h.out) > 0; served++ {
		h.now = h.now.Add(service)
		h.release(h.out[0])
		if h.machine.Counts() == (engine.Counts{}) {
			rests++
		}
	}
	if took := h.now.Sub(began); served != 500 || rests != 1 || took != 500*service {
		t.Errorf("%d served in %v, and %d times at rest", served, took, rests)
	}
	ended := h.checker.Outcomes()
	if ended[wire.Cancelled] != 500 || ended[wire.Succeeded] != 501 || h.checker.Finish(h.machine.Counts()) != nil {
		t.Errorf("%v, %v", ended, h.checker.Err())
	}
}

func (h *hand) setLimit(limit int) {
	h.policy.Queue.Limit = limit
	h.step(engine.Input{Kind: engine.Changed})
}

// TestNE29TheLimitMovesUnderLoad resizes the limit through 8, 1, 0 and 16 again
// and again, with cancels, timeouts and replies that come twice: what is in
// flight is never below 0, nor above the limit but for what was in flight when it
// fell.
func TestNE29TheLimitMovesUnderLoad(t *testing.T) {
	p := plain()
	p.Retry.Attempts, p.Queue.Limit = 2, 8
	h := newHand(p, 29)
	random := rand.New(rand.NewPCG(29, 0))
	limits, ceiling := []int{8, 1, engine.Paused, 16}, 8
	for i := range 40_000 {
		h.now = h.now.Add(time.Duration(random.IntN(40)) * time.Millisecond)
		if i%100 == 0 {
			h.setLimit(limits[i/100%len(limits)])
		}
		switch n := random.IntN(10); {
		case n < 4:
			h.next++
			h.step(engine.Input{
				Kind: engine.Submit, Request: h.next, Since: h.now, Timeout: time.Second,
			})
		case n < 5:
			back := wire.RequestID(random.IntN(20))
			h.step(engine.Input{Kind: engine.Cancel, Request: max(back, h.next) - back})
		case len(h.out) > 0:
			id := h.out[random.IntN(len(h.out))]
			h.release(id)
			h.release(id) // counted as late
		default:
			h.tick(h.now.Add(time.Second))
		}
		limit := max(h.policy.Queue.Limit, 0)
		running := h.machine.Running(0)
		if ceiling = max(limit, min(ceiling, running)); running < 0 || running > ceiling || running != len(h.out) {
			t.Fatalf("%d in flight, %d by the effects, with a limit of %d", running, len(h.out), limit)
		}
		if c := h.machine.Counts(); c.Queued > 0 && running < limit {
			t.Fatalf("%+v with a limit of %d", c, limit)
		}
	}
	h.comeToAnEnd(t)
	if err := h.checker.Finish(h.machine.Counts()); err != nil {
		t.Fatal(err)
	}
}
