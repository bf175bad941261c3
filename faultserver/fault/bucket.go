package fault

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// token is one token in the bucket's unit. A rate of one thousandth of a token
// per second is one unit per nanosecond, so that refilling needs no division
// and loses nothing.
const token = 1_000_000_000_000

// bucket is a token bucket that is refilled continuously, in integers. It is
// brought up to date whenever it is looked at.
type bucket struct {
	rate     int64 // units per nanosecond; 0 is off
	capacity int64 // units
	level    int64 // units
	at       clock.Instant
}

// fullBucket is the bucket of a rate limit, full at now.
func fullBucket(l RateLimit, now clock.Instant) bucket {
	capacity := int64(l.burst()) * token
	return bucket{rate: l.Rate, capacity: capacity, level: capacity, at: now}
}

// take takes a token. If there is none, it says how long it is until there is
// one; nobody else has a claim on that one.
func (b *bucket) take(now clock.Instant) (wait time.Duration, ok bool) {
	b.settle(now)
	if b.rate == 0 {
		return 0, true
	}
	if b.level < token {
		return time.Duration(ceilDiv(token-b.level, b.rate)), false
	}
	b.level -= token
	return 0, true
}

// change puts another limit in force. A bucket that was off starts full, any
// other keeps its level as far as there is room.
func (b *bucket) change(l RateLimit, now clock.Instant) {
	b.settle(now)
	full := fullBucket(l, now)
	if b.rate > 0 {
		full.level = min(b.level, full.capacity)
	}
	*b = full
}

// settle lets flow in what is due up to now.
func (b *bucket) settle(now clock.Instant) {
	elapsed := int64(now.Sub(b.at))
	b.at = now
	switch {
	case b.rate == 0 || b.level == b.capacity:
	case elapsed >= ceilDiv(b.capacity-b.level, b.rate):
		b.level = b.capacity
	default:
		b.level += elapsed * b.rate // less than what is missing: no overflow
	}
}

// quota is what the RateLimit fields say now.
func (b *bucket) quota(now clock.Instant) wire.Quota {
	b.settle(now)
	q := wire.Quota{
		Units:     b.capacity / token,
		Window:    ceilSeconds(time.Duration(ceilDiv(b.capacity, b.rate))),
		Remaining: b.level / token,
	}
	if q.Remaining < q.Units {
		next := ceilDiv((q.Remaining+1)*token-b.level, b.rate)
		q.Reset = ceilSeconds(time.Duration(next))
	}
	return q
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
