package fault

import (
	"math"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// NextAfter is the beginning of the first window of the schedule at or after t;
// clock.Never if there is none.
func (f Fault) NextAfter(t clock.Instant) clock.Instant {
	start := clock.Instant(f.Start)
	switch {
	case f.Manual:
		return clock.Never
	case t <= start:
		return start
	case f.Every <= 0:
		return clock.Never
	}
	into := t.Sub(start) % f.Every
	if into == 0 {
		return t
	}
	return t.Add(f.Every - into)
}

// scheduled says whether t lies in a window of the schedule, and when that
// window ends.
func (f *Fault) scheduled(t clock.Instant) (end clock.Instant, on bool) {
	into := t.Sub(clock.Instant(f.Start))
	if f.Manual || into < 0 {
		return clock.Never, false
	}
	if f.Length == 0 {
		return clock.Never, true
	}
	if f.Every > 0 {
		into %= f.Every
	}
	if into >= f.Length {
		return clock.Never, false
	}
	return t.Add(f.Length - into), true
}

// longPast is before every moment of a run.
const longPast clock.Instant = math.MinInt64

// window is the state of one fault. It is on while a hand holds it on, while a
// window begun by hand lasts, and, unless a hand holds it off, in the windows
// of its schedule. Windows that overlap are one: there is no edge inside.
type window struct {
	on   bool
	hand wire.FaultDo // FaultAuto, FaultOn or FaultOff
	// until is the end of the window that FaultNow began, or longPast. One that
	// is over means nothing any more.
	until clock.Instant
	// next is when on changes, clock.Never if it does not by itself.
	next clock.Instant
	// began and ended are when it last turned on and off.
	began, ended clock.Instant
	// hits counts the attempts that the fault has hit, before those when it
	// began.
	hits, before int64
	counts       windowCounts
	// limiter is the limit of a Quota.
	limiter limiter
}

// begin starts the counts of a window anew.
func (w *window) begin(now clock.Instant) {
	w.began, w.before = now, w.hits
	w.counts.restart()
}

// move is what a hand does at now. FaultOn, FaultOff and FaultAuto end a window
// that FaultNow began; FaultNow leaves the rest as it is, begins the window
// anew if there is one, and for a fault without a length it is FaultOn.
func (w *window) move(f *Fault, do wire.FaultDo, now clock.Instant) {
	if do == wire.FaultNow && f.Length > 0 {
		w.until = now.Add(f.Length)
		return
	}
	if do == wire.FaultNow {
		do = wire.FaultOn
	}
	w.hand, w.until = do, longPast
}

// state says whether the fault is on at t and when that changes next.
func (w *window) state(f *Fault, t clock.Instant) (on bool, next clock.Instant) {
	if w.hand == wire.FaultOn {
		return true, clock.Never
	}
	end := w.end(f, t)
	switch {
	case end > t:
		return true, end
	case w.hand == wire.FaultOff:
		return false, clock.Never
	}
	return false, f.NextAfter(t)
}

// end is the end of the windows around t, t itself if it lies in none. Windows
// that begin before another has ended prolong it.
func (w *window) end(f *Fault, t clock.Instant) clock.Instant {
	for {
		end := max(t, w.until)
		if w.hand == wire.FaultAuto {
			if e, on := f.scheduled(end); on {
				end = e
			}
		}
		if end == t {
			return t
		}
		t = end
	}
}
