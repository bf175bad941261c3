package budget

import (
	"math"
	"time"

	"herdscope/engine/clock"
)

// slots is how many parts a window has; the oldest is forgotten as a whole.
const slots = 10

// window counts what happened of late. Its slots are aligned to the run clock.
type window struct {
	slots  [slots]counts32
	newest int64 // number of the current slot, counted from the start of the run
	width  time.Duration
}

// counts32 is what one slot counts: requests, and those things of them that the
// kind looks for, such as retries or accepts.
type counts32 struct{ requests, marked int32 }

// counts is the sum of all slots.
type counts struct{ requests, marked int64 }

// roll forgets what is older than the window at now. A time that lies before
// the current slot counts as in it.
func (w *window) roll(now clock.Instant, length time.Duration) {
	width := max(length/slots, 1)
	at := now.Bin(width)
	if width != w.width {
		*w = window{newest: at, width: width}
		return
	}
	for gap := min(at-w.newest, slots); gap > 0; gap-- {
		w.slots[index(at-gap+1)] = counts32{}
	}
	w.newest = max(w.newest, at)
}

// current is the slot of the present.
func (w *window) current() *counts32 { return &w.slots[index(w.newest)] }

func (w *window) request() { bump(&w.current().requests) }

func (w *window) markIf(marked bool) {
	if marked {
		bump(&w.current().marked)
	}
}

// bump saturates, since a window without end has one slot for a whole run.
func bump(n *int32) {
	if *n < math.MaxInt32 {
		*n++
	}
}

func (w *window) sum() (all counts) {
	for _, s := range w.slots {
		all.requests += int64(s.requests)
		all.marked += int64(s.marked)
	}
	return all
}

// index is the place of a slot by its number, which may be negative.
func index(number int64) int64 { return (number%slots + slots) % slots }
