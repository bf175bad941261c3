package live

import "herdscope/engine/wire"

// maxPending is how many events may wait for slow observers.
const maxPending = 1 << 16

// herald keeps events until the observers have seen them. The transport's lock
// guards it.
type herald struct {
	pending []wire.Event
	seen    []wire.Event // room for the next pending
	busy    bool         // a goroutine is at it
	missed  uint64
}

// add takes an event; true if nobody is announcing.
func (h *herald) add(e wire.Event) bool {
	if len(h.pending) >= maxPending {
		h.missed++
		return false
	}
	h.pending = append(h.pending, e)
	idle := !h.busy
	h.busy = true
	return idle
}

// take is the events that wait now; with none, the announcing is over.
func (h *herald) take() []wire.Event {
	h.pending, h.seen = h.seen[:0], h.pending
	h.busy = len(h.seen) > 0
	return h.seen
}

// announce shows events to the observers, outside the lock, until there are no
// more. There is one such goroutine at a time, so they stay in order.
func (t *Transport) announce() {
	for {
		t.mu.Lock()
		events := t.herald.take()
		t.mu.Unlock()
		if len(events) == 0 {
			return
		}
		for _, e := range events {
			for _, observe := range t.observers {
				observe(e)
			}
		}
	}
}

// MissedEvents is how many events observers did not see, because 65,536 were
// waiting for them already.
func (t *Transport) MissedEvents() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.herald.missed
}
