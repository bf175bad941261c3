package breaker

import (
	"math"
	"math/bits"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/rng"
	"herdscope/engine/wire"
)

// open opens the breaker, at least until hint if the Config honours one.
func (b *Breaker) open(
	now clock.Instant, c *Config, cause wire.Cause, hint clock.Instant, out []Change,
) []Change {
	if b.state == wire.Closed {
		b.judgeStability(now, c)
	}
	out = b.change(now, wire.Open, cause, out)
	b.trips++
	b.streak = min(b.streak, math.MaxUint8-1) + 1
	b.hint = hint
	b.schedule(c)
	return out
}

// judgeStability looks whether a breaker that is about to open has been closed
// for long enough to have recovered, or only flaps.
func (b *Breaker) judgeStability(now clock.Instant, c *Config) {
	switch {
	case now.Sub(b.since) >= c.Stable:
		b.streak = 0
	case b.streak > 0:
		b.flaps++
	}
}

// openUntil is when the present open time ends: that of the Config, grown with
// the streak, or a later hint; bounded, and only then spread.
func (b *Breaker) openUntil(c *Config) clock.Instant {
	d := grown(max(0, c.OpenFor), c.OpenGrowth, int(b.streak)-1, c.OpenMax)
	if c.OpenHint && b.hint > b.since {
		d = max(d, b.hint.Sub(b.since))
	}
	if c.OpenMax > 0 {
		d = min(d, c.OpenMax)
	}
	until := b.since.Add(d)
	if room := share(d, c.OpenJitter); room > 0 {
		u := rng.At(b.key, rng.BreakerOpen, uint64(b.trips), 0, 0)
		until = until.Add(rng.Scale(u, room))
	}
	return until
}

// grown is d * (growth/1000)^times, saturating; it need not be exact beyond
// limit, if that is not 0.
func grown(d time.Duration, growth int64, times int, limit time.Duration) time.Duration {
	if growth <= 1000 {
		return d
	}
	for range times {
		if limit > 0 && d >= limit {
			break
		}
		d = share(d, growth)
	}
	return d
}

// share is d times a share in thousandths, rounded down and saturating; 0 if
// the share is not positive.
func share(d time.Duration, thousandths int64) time.Duration {
	if thousandths <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(d), uint64(thousandths))
	if hi >= 1000 {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, 1000)
	return time.Duration(min(q, math.MaxInt64))
}
