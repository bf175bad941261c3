package live

import (
	"sync"

	"herdscope/engine/clock"
	"herdscope/engine/fleet"
)

// message is one thing for the owner: what came of an attempt, or an input
// from a hand, which has no attempt, or somebody who only wants to look.
type message struct {
	at      clock.Instant
	in      fleet.Input
	look    func(clock.Instant)
	attempt *attempt
	result  result
}

// inbox collects messages for the owner. Posting never waits.
type inbox struct {
	clock *Clock
	wake  chan struct{} // holds a token while there may be messages

	mu       sync.Mutex
	messages []message
	closed   bool
}

func newInbox(c *Clock) *inbox {
	return &inbox{clock: c, wake: make(chan struct{}, 1)}
}

// post stamps the message and adds it; false if the inbox is closed. The stamp
// is taken under the lock, so that messages lie in the order of their stamps.
func (b *inbox) post(m message) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	m.at = b.clock.Now()
	b.messages = append(b.messages, m)
	select {
	case b.wake <- struct{}{}:
	default:
	}
	return true
}

// take returns all messages and leaves room in their place.
func (b *inbox) take(room []message) []message {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.messages
	b.messages = room[:0]
	return taken
}

func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.messages = nil
}
