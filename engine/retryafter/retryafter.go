// Package retryafter reads, writes and resolves the Retry-After field of HTTP
// (RFC 9110, section 10.2.3): a number of seconds or one of three date forms. It
// also writes the fields RateLimit and RateLimit-Policy, Retry-After in forms
// that are wrong on purpose, and gRPC's pushback, which stands in for it. Servers
// and clients, live or virtual, have no other place for what these fields mean.
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

// Malformed says whether a field of the form is no Retry-After to a reader that
// obeys RFC 9110: who gets one should act as if there were none.
func Malformed(f wire.HintForm) bool {
	switch f {
	case wire.HintNegative, wire.HintFraction, wire.HintSigned, wire.HintGarbage, wire.HintEmpty:
		return true
	}
	return false
}

// AsRead is what ParseFields makes of the Fields of a hint at a time of day, as
// Unix time, and no hint where there is none to be read. It is how a reply that never
// was on a wire comes to mean what it would have meant there.
func AsRead(h wire.Hint, nowUnix int64) wire.Hint {
	switch {
	case h.Form == wire.HintNone || Malformed(h.Form):
		return wire.Hint{}
	case h.Form == wire.HintSeconds && h.Value >= 0:
		return h
	case h.Form == wire.HintPushback:
		return wire.Hint{Form: h.Form, Value: max(h.Value, 0)}
	case h.Form == wire.HintPushbackStop:
		return wire.Hint{Form: h.Form}
	case h.Form == wire.HintIMFDate && firstSecond <= h.Value && h.Value <= lastSecond:
		return h
	case h.Form == wire.HintHuge:
		return wire.Hint{Form: wire.HintSeconds, Value: math.MaxInt64}
	case h.Form == wire.HintTwice:
		return wire.Hint{Form: wire.HintSeconds, Value: twice(h.Value)}
	case h.Form == wire.HintPadded:
		return wire.Hint{Form: wire.HintSeconds, Value: max(h.Value, 0)}
	case h.Form == wire.HintPast:
		h.Form = wire.HintIMFDate
	}
	read, err := Parse(Format(h), nowUnix)
	if err != nil {
		return wire.Hint{}
	}
	return read
}

// Resolve is the earliest moment that a hint allows: seconds count from when it
// was received, and a date is converted with the run's epoch in Unix
// nanoseconds. It saturates at clock.Never, and at the earliest Instant. A date
// that has passed is a moment before received; no hint, a malformed one, and a
// negative number of seconds, allow at once; a pushback that wants no retry never
// does.
func Resolve(h wire.Hint, received clock.Instant, epochUnixNanos int64) clock.Instant {
	switch {
	case h.Form == wire.HintNone || Malformed(h.Form):
		return received
	case h.Form == wire.HintSeconds || h.Form == wire.HintPadded:
		return received.Add(seconds(max(h.Value, 0)))
	case h.Form == wire.HintTwice:
		return received.Add(seconds(twice(h.Value)))
	case h.Form == wire.HintHuge || h.Form == wire.HintPushbackStop:
		return clock.Never
	case h.Form == wire.HintPushback:
		return received.Add(milliseconds(h.Value))
	}
	whole, rest := split(epochUnixNanos)
	value := min(max(h.Value, -1<<62), 1<<62) // far beyond what an Instant holds
	moment := clock.Instant(seconds(value - whole))
	if moment == clock.Never {
		return moment
	}
	return moment.Add(-time.Duration(rest))
}

// Lead is how far the clock of a server is ahead of the epoch's, by the Date of a
// response in Unix seconds and the moment at which that was received: it includes
// what the response took on its way, and what Date, which is in whole seconds,
// leaves out. It saturates.
func Lead(dateUnix int64, received clock.Instant, epochUnixNanos int64) time.Duration {
	return Resolve(wire.Hint{Form: wire.HintIMFDate, Value: dateUnix}, 0, epochUnixNanos).Sub(received)
}

// FromDelay is the hint with which a server at now asks to wait for the given
// time, negative times as 0. It says the true moment where the form can: a
// number of seconds if the wait is whole, a date if the moment is. Everything
// else is rounded up to a whole second, so that Resolve never gives a moment
// before now+wait, and always one less than a second after it.
//
// The forms that are wrong are made of the same wait: HintFraction says it to
// the millisecond, rounded up, HintPast is a date as far back as the wait
// reaches ahead and a second at least, and HintTwice says it and its double.
// HintPushback says it as HintFraction does.
func FromDelay(
	form wire.HintForm, now clock.Instant, epochUnixNanos int64, wait time.Duration,
) wire.Hint {
	wait = max(wait, 0)
	switch form {
	case wire.HintNone:
		return wire.Hint{}
	case wire.HintHuge, wire.HintGarbage, wire.HintEmpty, wire.HintPushbackStop:
		return wire.Hint{Form: form}
	case wire.HintFraction, wire.HintPushback:
		const ms = time.Millisecond
		return wire.Hint{Form: form, Value: int64(wait/ms) + int64((wait%ms+ms-1)/ms)}
	case wire.HintPast:
		epoch, _ := split(epochUnixNanos)
		back, _ := split(int64(max(wait, time.Second)))
		return wire.Hint{Form: form, Value: epoch + now.Second() - back - 1}
	}
	whole, rest := split(int64(wait))
	if form == wire.HintIMFDate || form == wire.HintRFC850Date || form == wire.HintAsctimeDate {
		epochWhole, epochRest := split(epochUnixNanos)
		nowWhole, nowRest := split(int64(now))
		whole += epochWhole + nowWhole
		rest += epochRest + nowRest
	}
	return wire.Hint{Form: form, Value: whole + (rest+second-1)/second}
}

// twice is double a number of seconds, which counts as 0 if it is negative.
func twice(n int64) int64 {
	if n > math.MaxInt64/2 {
		return math.MaxInt64
	}
	return 2 * max(n, 0)
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
