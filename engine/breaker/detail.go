package breaker

import (
	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// Detail is what is to be seen of the breaker at now. It changes nothing, the
// window included: a call that is reported later counts as if nobody had looked.
func (b *Breaker) Detail(now clock.Instant, c *Config) wire.BreakerDetail {
	t := b.window.peek(now)
	d := wire.BreakerDetail{
		Until: clock.Never, Failures: b.failures,
		Calls: t.calls, Failed: t.failed, Slow: t.slow, Trips: b.trips, Flaps: b.flaps,
	}
	if c.hasWindow() {
		d.Size, d.Least = int64(c.shape().calls), c.minCalls()
	}
	if b.state == wire.Open {
		d.Until = b.until
	}
	return d
}

// peek is tally for those who only look.
func (w *window) peek(now clock.Instant) tally {
	if w == nil {
		return tally{}
	}
	t := w.sum
	if w.shape.calls == 0 {
		newest := now.Bin(w.shape.width)
		for n := max(w.head+1, newest-Buckets+1); n <= newest; n++ {
			t.minus(tallyOf(w.words[place(n)]))
		}
	}
	return t
}
