package queue

import (
	"math"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// Waiter is one request that waits, with all that any order asks of it, so that
// the order can be changed while it waits.
type Waiter struct {
	// Handle is the caller's name for it, a small integer.
	Handle int32
	Class  wire.Class
	// Reentry is where it comes in. A first try is Aged.
	Reentry Requeue
	// Came is when it was submitted.
	Came clock.Instant
	// Number settles ties: the lower goes first. It grows with every request
	// that is submitted, and a retry that comes in at the Tail needs a new one.
	Number uint64
	// Entered is when it joined the queue this time.
	Entered clock.Instant
	// Deadline is when it has to be done; clock.Never if nobody minds.
	Deadline clock.Instant

	expires clock.Instant
}

// Requeue is where a retry comes back into the queue.
type Requeue uint8

// Where a retry comes back into the queue.
const (
	// Aged gives it the place that its submission had: it goes before all who
	// came later. In a LIFO queue it is as old as its submission, and never
	// takes the place of the newest.
	Aged Requeue = iota
	// Head lets it go before all others: of its class, where the order serves
	// classes apart, strictly or by weight, else of the whole queue. Not so in
	// EDF, where the deadline decides.
	Head
	// Tail lets it go behind all who wait: of its class, or of the whole queue.
	// In EDF it goes behind those of the same deadline.
	Tail
)

var requeueNames = []string{"aged", "head", "tail"}

// RequeueNames lists the names in the order of their values.
func RequeueNames() []string { return requeueNames }

// rank is a place in a line: the lower goes first.
type rank struct {
	at     clock.Instant
	number uint64
}

func (r rank) before(s rank) bool {
	return r.at < s.at || r.at == s.at && r.number < s.number
}

// ranking ranks a request. It takes no time: a rank that changed with the clock
// would leave those who wait in an order that is true of no moment.
type ranking func(c *Config, w *Waiter) rank

// place ranks the requests in the order in which they came.
func place(_ *Config, w *Waiter) rank {
	switch w.Reentry {
	case Head:
		return rank{math.MinInt64, w.Number}
	case Tail:
		return rank{w.Entered, w.Number}
	}
	return rank{w.Came, w.Number}
}
