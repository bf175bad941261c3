package wire

import "time"

// HintUse says what a client made of the Retry-After of a response.
type HintUse uint8

// What becomes of a Retry-After.
const (
	// HintUnused had no part in the wait: there was none, it had passed, or the
	// policy does not read it.
	HintUnused HintUse = iota
	// HintFollowed was waited for.
	HintFollowed
	// HintClamped was above the policy's maximum, which was waited for instead.
	HintClamped
	// HintIgnored was above the policy's maximum, and left the wait to the
	// backoff.
	HintIgnored
	// HintAssumed was missing, and the policy's default stood in for it.
	HintAssumed
	// HintPushedBack was gRPC's pushback in its place, and was obeyed.
	HintPushedBack
)

var hintUseNames = []string{"unused", "followed", "clamped", "ignored", "assumed", "pushback"}

// String is the use's name.
func (u HintUse) String() string { return nameOf(hintUseNames, int(u)) }

// HintForm is the form in which a Retry-After field is written.
type HintForm uint8

// The forms of Retry-After (RFC 9110, section 10.2.3): delay-seconds and the
// three forms of an HTTP-date (section 5.6.7). The forms after them are wrong on
// purpose, or look so; what a reader makes of each is in package retryafter.
const (
	HintNone HintForm = iota
	HintSeconds
	HintIMFDate
	HintRFC850Date
	HintAsctimeDate
	// HintNegative is a number of seconds with a minus sign.
	HintNegative
	// HintFraction is seconds with decimals.
	HintFraction
	// HintSigned is a number of seconds with a plus sign.
	HintSigned
	// HintPast is a date that lies in the past.
	HintPast
	// HintHuge is more seconds than 64 bits can count.
	HintHuge
	// HintGarbage is words.
	HintGarbage
	// HintEmpty is a field without a value.
	HintEmpty
	// HintTwice is two fields that disagree.
	HintTwice
	// HintPadded is seconds with spaces around them. That is not wrong, since the
	// spaces are no part of the value, but not every reader knows it.
	HintPadded
	// HintPushback is not Retry-After at all, but a field with milliseconds of
	// gRPC, by which a server says when it wants the retry (gRFC A6).
	HintPushback
	// HintPushbackStop is that field with a number below 0: no retry is wanted.
	HintPushbackStop

	// NumHintForms is the number of forms.
	NumHintForms = int(HintPushbackStop) + 1
)

var hintNames = []string{
	"none", "seconds", "date", "rfc850", "asctime",
	"negative", "fraction", "signed", "past", "huge", "garbage", "empty", "twice",
	"padded", "pushback", "pushback-stop",
}

// HintNames lists the forms' names in the order of their values.
func HintNames() []string { return hintNames }

// String is the form's name.
func (f HintForm) String() string { return nameOf(hintNames, int(f)) }

// Pushback says whether the form is one of gRPC's field, which only those read
// who know of it.
func (f HintForm) Pushback() bool { return f == HintPushback || f == HintPushbackStop }

// Dated says whether the form is a date, which means a moment by the clock of who
// wrote it.
func (f HintForm) Dated() bool {
	switch f {
	case HintIMFDate, HintRFC850Date, HintAsctimeDate, HintPast:
		return true
	}
	return false
}

// Hint is a Retry-After field as its sender means it. Value is a Unix time in
// seconds for the date forms and HintPast, a delay in milliseconds for
// HintFraction and HintPushback, nothing for HintHuge, HintGarbage, HintEmpty and
// HintPushbackStop, and a delay in seconds for the others.
type Hint struct {
	Form  HintForm
	Value int64
}

// Return says when an attempt came back, measured by the Retry-After with which
// its request had been sent away.
type Return uint8

// The kinds of return.
const (
	// ReturnedEarly is before the moment that the field names.
	ReturnedEarly Return = iota
	// ReturnedOnTime is from that moment on, for ReturnTolerance.
	ReturnedOnTime
	// ReturnedLate is later than that.
	ReturnedLate
	// ReturnedUntold is after a field that names no moment, as nobody can read
	// it: such a return is neither early nor late.
	ReturnedUntold

	// NumReturns is the number of kinds.
	NumReturns = int(ReturnedUntold) + 1
)

// ReturnTolerance is how long after the moment a return is still on time. The
// field counts in whole seconds, so that whoever obeys it need not be closer.
const ReturnTolerance = time.Second

// ReturnAfter is the kind of a return that was later than the moment named by
// the given time, which is negative for one before it.
func ReturnAfter(moment time.Duration) Return {
	switch {
	case moment < 0:
		return ReturnedEarly
	case moment <= ReturnTolerance:
		return ReturnedOnTime
	}
	return ReturnedLate
}
