// Package retryafter reads, writes and resolves the Retry-After field of HTTP
// (RFC 9110, section 10.2.3): a number of seconds or one of three date forms.
//
// It is pure: whatever depends on the time of day gets it as an argument. On the
// run clock an HTTP date means something only with the run's epoch, the Unix
// time of run instant 0. It imports only clock and wire.
package retryafter

import (
	"math"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// VirtualEpochUnixNanos is the epoch of a virtual run, 2020-01-01T00:00:00Z, in
// Unix nanoseconds. A live run has its own.
const VirtualEpochUnixNanos int64 = 1_577_836_800 * second

const second = int64(time.Second)

// Resolve is the earliest moment that a hint allows: seconds count from when it
// was received, and a date is converted with the run's epoch in Unix
// nanoseconds. It saturates at clock.Never, and at the earliest Instant. A date
// that has passed is a moment before received; no hint, and a negative number
// of seconds, allow at once.
func Resolve(h wire.Hint, received clock.Instant, epochUnixNanos int64) clock.Instant {
	switch h.Form {
	case wire.HintNone:
		return received
	case wire.HintSeconds:
		return received.Add(seconds(max(h.Value, 0)))
	}
	whole, rest := split(epochUnixNanos)
	value := min(max(h.Value, -1<<62), 1<<62) // far beyond what an Instant holds
	moment := clock.Instant(seconds(value - whole))
	if moment == clock.Never {
		return moment
	}
	return moment.Add(-time.Duration(rest))
}

// FromDelay is the hint with which a server at now asks to wait for the given
// time, negative times as 0. It is rounded up to a whole second, so that
// Resolve never gives a moment before now+wait, and always one less than a
// second after it.
func FromDelay(
	form wire.HintForm, now clock.Instant, epochUnixNanos int64, wait time.Duration,
) wire.Hint {
	if form == wire.HintNone {
		return wire.Hint{}
	}
	whole, rest := split(int64(max(wait, 0)))
	if form != wire.HintSeconds {
		epochWhole, epochRest := split(epochUnixNanos)
		nowWhole, nowRest := split(int64(now))
		whole += epochWhole + nowWhole
		rest += epochRest + nowRest
	}
	return wire.Hint{Form: form, Value: whole + (rest+second-1)/second}
}

// seconds is n seconds, saturating at the ends of time.Duration.
func seconds(n int64) time.Duration {
	const most = math.MaxInt64 / second
	switch {
	case n > most:
		return math.MaxInt64
	case n < -most:
		return math.MinInt64
	}
	return time.Duration(n * second)
}

// split is a number of nanoseconds as whole seconds, rounded down, and the rest.
func split(nanos int64) (whole, rest int64) {
	whole, rest = nanos/second, nanos%second
	if rest < 0 {
		whole, rest = whole-1, rest+second
	}
	return whole, rest
}
