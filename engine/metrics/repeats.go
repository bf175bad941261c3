package metrics

import (
	"slices"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// MaxRepeats is how many requests that took effect more than once a Summary
// lists; the others are only counted.
const MaxRepeats = 20

// Repeat is an unsafe request that took effect more than once at the server.
type Repeat struct {
	// ID is the attempt that had it take effect the second time, and At when.
	ID wire.AttemptID
	At clock.Instant
	// Key is its Idempotency-Key, 0 if it has none; see wire.FormatKey.
	Key uint64
	// Times is how often it has taken effect.
	Times int64
}

// repeats is the requests that took effect more than once.
type repeats struct {
	requests int64
	listed   []Repeat
}

// add takes in one more effect of a request that had one before.
func (r *repeats) add(e *wire.Event) {
	if e.Times <= 2 {
		r.requests++
		if len(r.listed) < MaxRepeats {
			r.listed = append(r.listed, Repeat{ID: e.ID, At: e.At, Key: e.Key, Times: 2})
		}
		return
	}
	same := func(l Repeat) bool {
		return l.Key == e.Key &&
			(e.Key != 0 || l.ID.Client == e.ID.Client && l.ID.Request == e.ID.Request)
	}
	if i := slices.IndexFunc(r.listed, same); i >= 0 {
		r.listed[i].Times = int64(e.Times)
	}
}

func (c *Collector) serverRepeated(e *wire.Event) {
	c.server.duplicates++
	c.server.repeats.add(e)
}

// serverReplayed takes in an attempt that got a stored reply, without work.
func (c *Collector) serverReplayed() {
	c.server.replayed++
	c.server.backlog--
}
