package fault

import (
	"math/bits"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// windowCount counts the attempts that were let in, by windows that are aligned
// to the beginning of the run.
type windowCount struct {
	number int64 // of the current window
	count  int64 // let into it
	before int64 // let into the one before
}

// roll makes the window of now the current one, and says how far into it now is.
func (w *windowCount) roll(now clock.Instant, width time.Duration) (into time.Duration) {
	number := now.Bin(width)
	switch {
	case number == w.number+1:
		w.before, w.count = w.count, 0
	case number > w.number:
		w.before, w.count = 0, 0
	}
	w.number = number
	return time.Duration(int64(now) - number*int64(width))
}

// take lets an attempt into a fixed window, or says when the next one begins.
func (w *windowCount) take(now clock.Instant, l *RateLimit) (wait time.Duration, ok bool) {
	into := w.roll(now, l.Window)
	if w.count >= l.room() {
		return l.Window - into, false
	}
	w.count++
	return 0, true
}

// takeSliding lets an attempt in if the estimate leaves room for it, or says
// when it will.
func (w *windowCount) takeSliding(now clock.Instant, l *RateLimit) (wait time.Duration, ok bool) {
	into := w.roll(now, l.Window)
	if wait = w.untilRoom(into, l, 1); wait > 0 {
		return wait, false
	}
	w.count++
	return 0, true
}

// untilRoom is how long after the moment into the window the estimate leaves
// room for so many more, which are no more than fit; 0 is at once.
func (w *windowCount) untilRoom(into time.Duration, l *RateLimit, more int64) time.Duration {
	spare := l.room() - more - w.count
	if spare >= 0 {
		return max(0, leaves(w.before, spare, l.Window)-into)
	}
	// Not in this window, whatever the last one held: in the next, this one's
	// count is what fades.
	return l.Window - into + leaves(w.count, l.room()-more, l.Window)
}

// leaves is how far into a window the share of the window before, which had so
// many attempts, has come down to spare: the least t with
// before * (width - t) <= spare * width.
func leaves(before, spare int64, width time.Duration) time.Duration {
	if before <= spare {
		return 0
	}
	hi, lo := bits.Mul64(uint64(spare), uint64(width))
	rest, _ := bits.Div64(hi, lo, uint64(before)) // less than width, as spare < before
	return width - time.Duration(rest)
}

// quota is what the RateLimit fields say now.
func (w *windowCount) quota(now clock.Instant, l *RateLimit) wire.Quota {
	into := w.roll(now, l.Window)
	q := wire.Quota{Units: l.room()}
	if l.Window%time.Second == 0 {
		q.Window = int64(l.Window / time.Second)
	}
	if l.Law == FixedWindow {
		q.Remaining = max(0, q.Units-w.count)
		q.Reset = ceilSeconds(l.Window - into)
		return q
	}
	q.Remaining = max(0, q.Units-w.count-w.overlap(into, l.Window))
	if q.Remaining < q.Units {
		q.Reset = ceilSeconds(w.untilRoom(into, l, q.Remaining+1))
	}
	return q
}

// overlap is how many attempts of the window before the estimate still counts,
// rounded up.
func (w *windowCount) overlap(into, width time.Duration) int64 {
	hi, lo := bits.Mul64(uint64(w.before), uint64(width-into))
	n, rest := bits.Div64(hi, lo, uint64(width)) // into >= 0: no more than before
	if rest > 0 {
		n++
	}
	return int64(n)
}

// ceilSeconds is a time in whole seconds, rounded up.
func ceilSeconds(d time.Duration) int64 { return ceilDiv(int64(d), int64(time.Second)) }
