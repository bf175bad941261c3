package engine_test

import (
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/wire"
)

// request submits one request of a group.
func (h *hand) request(group uint32) wire.RequestID {
	h.next++
	h.step(engine.Input{Kind: engine.Submit, Request: h.next, Since: h.now, Group: group})
	return h.next
}

// TestNE38OrphansAfterTheParentIsGone: a parent and twenty children, of which
// five run, ten are queued and five sleep, go in one step; the next child is
// refused, and another page goes on.
func TestNE38OrphansAfterTheParentIsGone(t *testing.T) {
	p := plain()
	p.Queue.Limit = 6
	h := newHand(p, 1)
	const page, other = 1, 2
	h.request(page) // the parent, which holds its slot
	for range 5 {
		h.request(page)
	}
	for range 15 {
		h.request(page)
	}
	for _, id := range append([]wire.AttemptID(nil), h.out[1:]...) {
		h.drop(id)
		h.step(engine.Input{Kind: engine.Answered, ID: id, Reply: wire.Reply{Status: 503}})
	}
	partner := h.request(other)
	want := engine.Counts{Queued: 11, Running: 6, Sleeping: 5}
	if got := h.machine.Counts(); got != want {
		t.Fatalf("before: %+v, want %+v", got, want)
	}

	h.now = h.now.Add(time.Millisecond)
	h.step(engine.Input{Kind: engine.CancelGroup, Group: page})
	h.checker.GroupCancelled(3, page)
	if got := h.machine.Counts(); got != (engine.Counts{Running: 1}) {
		t.Errorf("after: %+v, want only the other page's request running", got)
	}
	if len(h.aborted) != 6 || len(h.out) != 1 || h.out[0].Request != partner {
		t.Errorf("aborted %v, on the wire %v, want six and request %d", h.aborted, h.out, partner)
	}
	if n := h.checker.Outcomes()[wire.Cancelled]; n != 21 {
		t.Errorf("%d cancelled, want 21", n)
	}
	h.request(page) // child 21
	if n := h.checker.Outcomes()[wire.Cancelled]; n != 22 || len(h.out) != 1 {
		t.Errorf("child 21: %d cancelled, on the wire %v", n, h.out)
	}
	if err := h.checker.Finish(h.machine.Counts()); err != nil {
		t.Error(err)
	}
}

// TestDeadGroupsAreForgotten: the memory is bounded, and the oldest goes first.
func TestDeadGroupsAreForgotten(t *testing.T) {
	h := newHand(plain(), 1)
	for g := uint32(1); g <= engine.DeadGroups+1; g++ {
		h.step(engine.Input{Kind: engine.CancelGroup, Group: g})
		h.checker.GroupCancelled(3, g)
	}
	for g := uint32(1); g <= engine.DeadGroups+1; g++ {
		h.request(g)
	}
	if len(h.out) != 1 || h.out[0].Request != 1 {
		t.Errorf("sent %v, want only that of the forgotten group", h.out)
	}
	if err := h.checker.Finish(h.machine.Counts()); err != nil {
		t.Error(err)
	}
}

func TestCancelGroupDoesNotAllocate(t *testing.T) {
	p := plain()
	p.Queue.Limit = 2
	m := engine.New(1, 1, 1, &p)
	var out []engine.Effect
	id := wire.RequestID(0)
	page := func() {
		group := uint32(id) + 1
		for range 8 {
			id++
			out = m.Step(0, engine.Input{Kind: engine.Submit, Request: id, Group: group}, out[:0])
		}
		out = m.Step(0, engine.Input{Kind: engine.CancelGroup, Group: group}, out[:0])
	}
	page()
	if n := testing.AllocsPerRun(100, page); n != 0 {
		t.Errorf("%v allocations for a page", n)
	}
}
