// Package budget limits retries as a whole, where a number of attempts limits
// them for one request only: retry budgets, and throttles that a client puts on
// itself.
//
// A Budget is a small value without clock, lock or goroutine; the time and the
// configuration are arguments. One serves a client, or, behind a pointer, all
// clients that share it. It has no timers: what has been refused is over, so
// nobody waits for it. Arithmetic is on integers, tokens and shares being in
// thousandths. The package imports only clock and rng.
//
// The kinds, with their figures where Config leaves them 0:
//
//	none                 every retry is granted
//	aws-legacy           500 tokens; a retry costs 5, after a timeout 10; a success
//	                     at the first try returns 1, at a retry what that retry cost
//	aws-2026             the same with costs of 14, and 5 after throttling
//	deposit-per-try      5 tokens; a retry costs 1, every first try returns 0.1
//	deposit-per-success  5 tokens; a retry costs 1, every success returns 0.1
//	ratio                retries of the last 10 s are at most 20 % of its requests
//	                     and 10 more for each second
//	grpc                 10 tokens; a failure takes 1, a success returns 0.1; retries
//	                     only while more than half are left
//	active-share         retries scheduled or under way are at most 20 % of the
//	                     attempts waiting and in flight, or 3 if that is more
//	sre-throttle         an attempt is rejected before it is sent, with the chance
//	                     (requests - 2 accepts) / (requests + 1) of the last 2 minutes
//	failure-share        no retry while failed attempts are more than 10 % of the
//	                     requests of the last 2 minutes
//
// Sources, in that order: the standard retry modes of the AWS SDKs before and
// from 2026; Marc Brooker, "Fixing retries with token buckets and circuit
// breakers", 2022, whose text deposits per success and whose simulator per try;
// Finagle's RetryBudget; gRFC A6; Envoy's retry budget; "Site Reliability
// Engineering", chapter 21; and Brooker again, whose breaker never forgets.
//
// # A request's way
//
// Each request has a Hold, which is zero before and after:
//
//	Begin   a try joins the queue: the first, or after Take the next
//	Admit   just before an attempt is sent: may it be sent?
//	Report  the attempt has ended
//	Take    before the backoff: may there be a retry?
//	Drop    the request is over, however it ended and wherever it was
//
// What a Hold holds is given back exactly once, whichever of these comes.
package budget

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/rng"
)

// Outcome is how an attempt ended, as far as budgets tell ends apart.
type Outcome uint8

// The outcomes of an attempt.
const (
	// Success is a good reply.
	Success Outcome = iota
	// ClientError is a reply that blames the caller, such as 404. The server
	// has accepted the request; no other kind than sre-throttle counts it.
	ClientError
	// Transient is a server's error, or a connection lost or refused.
	Transient
	// Throttled is a server that asked for less, as 429 does.
	Throttled
	// Timeout is the client's own attempt timeout.
	Timeout
	// Neutral says nothing about the server, as the caller's cancel does.
	Neutral
)

// failed says whether the outcome is the server's failure.
func (o Outcome) failed() bool { return o == Transient || o == Throttled || o == Timeout }

// Hold is what one request has of a Budget. The zero Hold has nothing. It
// belongs to the Budget at which it began.
type Hold struct {
	cost  int64 // what the last retry took, in thousandths of a token
	phase phase
}

// phase is where the request of a Hold is.
type phase uint8

const (
	idle     phase = iota
	first          // its first try waits or is in flight
	tried          // an attempt has ended, and no retry is granted
	sleeping       // a retry is granted, and not yet begun
	again          // a retry waits or is in flight
)

// Budget is the state of one budget. The zero Budget is ready: full, and with
// nothing counted. It must not be shared between goroutines.
type Budget struct {
	recent window
	spent  int64 // what is missing from a full bucket, in thousandths of a token
	// active counts attempts that wait or are in flight, retries those of them
	// that are no first tries and the retries in backoff. They are kept for
	// all kinds, so that a change of the kind finds them right.
	active, retries int32
	kind            Kind
}

// Begin says that a try of a request joins the queue: its first, or the retry
// that Take has granted. It does nothing for a try that has begun already.
func (b *Budget) Begin(now clock.Instant, c *Config, h *Hold) {
	e := b.settle(now, c)
	switch h.phase {
	case idle:
		h.phase = first
		b.request(&e)
	case sleeping:
		h.phase = again
	default:
		return
	}
	b.active++
}

// request counts a new request.
func (b *Budget) request(e *Config) {
	switch e.Kind {
	case DepositPerTry:
		b.earn(e.Deposit)
	case Ratio, FailureShare:
		b.recent.request()
	}
}

// Admit says whether an attempt may be sent at all; only sre-throttle ever
// rejects one, by the draw u. It is called once for each attempt, and counts
// those that it rejects too, as its source does: what the client wants to send
// is what the server's accepts are compared with.
func (b *Budget) Admit(now clock.Instant, c *Config, u uint64) bool {
	e := b.settle(now, c)
	if e.Kind != SREThrottle {
		return true
	}
	over, of := b.excess(&e)
	b.recent.request()
	return rng.Below(u, uint64(of)) >= uint64(over)
}

// excess is the numerator, at least 0, and the denominator of the chance that
// sre-throttle rejects the next attempt, both times 1000.
func (b *Budget) excess(e *Config) (over, of int64) {
	sum := b.recent.sum()
	return max(0, 1000*sum.requests-e.K*sum.marked), 1000 * (sum.requests + 1)
}

// Report says how an attempt that began has ended. An attempt that was not
// admitted, or left the queue unsent, has no outcome: Drop its hold.
func (b *Budget) Report(now clock.Instant, c *Config, h *Hold, o Outcome) {
	e := b.settle(now, c)
	if h.phase != first && h.phase != again {
		return
	}
	deposit := e.Deposit
	if h.phase == again {
		deposit = h.cost
	}
	b.release(h)
	h.phase = tried
	switch e.Kind {
	case AWSLegacy, AWS2026:
		b.earnIf(o == Success, deposit)
	case DepositPerSuccess:
		b.earnIf(o == Success, e.Deposit)
	case GRPC:
		b.earnIf(o == Success, e.Deposit)
		if o.failed() {
			b.spent = min(b.spent+e.cost(o), e.Tokens)
		}
	case SREThrottle:
		b.recent.markIf(o == Success || o == ClientError)
	case FailureShare:
		b.recent.markIf(o.failed())
	}
}

// Take asks for a retry of a request whose last attempt has been reported; why
// is its outcome, which may set the price. Ask before the backoff, and last: a
// retry that is granted and not wanted must be dropped.
func (b *Budget) Take(now clock.Instant, c *Config, h *Hold, why Outcome) bool {
	e := b.settle(now, c)
	if h.phase != tried || !b.grants(&e, why) {
		return false
	}
	h.phase, h.cost = sleeping, 0
	b.retries++
	switch e.Kind {
	case AWSLegacy, AWS2026, DepositPerTry, DepositPerSuccess:
		h.cost = e.cost(why)
		b.spent += h.cost
	case Ratio:
		b.recent.markIf(true)
	}
	return true
}

// grants says whether there may be one more retry.
func (b *Budget) grants(e *Config, why Outcome) bool {
	left, full := b.left(e)
	switch e.Kind {
	case AWSLegacy, AWS2026, DepositPerTry, DepositPerSuccess:
		return left >= e.cost(why)
	case GRPC:
		return 2*left > full
	case Ratio, ActiveShare:
		return left >= 1000
	case FailureShare:
		sum := b.recent.sum()
		return 1000*sum.marked <= e.Share*sum.requests
	}
	return true
}

// Drop gives back what a request still holds, and makes its Hold zero. Tokens
// that a retry cost stay spent, as they do in all sources; its place among the
// active ones is free again. A second Drop does nothing.
func (b *Budget) Drop(h *Hold) {
	b.release(h)
	*h = Hold{}
}

// release takes a request out of the counts that it is in.
func (b *Budget) release(h *Hold) {
	switch h.phase {
	case first:
		b.active--
	case sleeping:
		b.retries--
	case again:
		b.active--
		b.retries--
	}
}

// Tokens is how much of the budget is left, and how much there is to be had
// now, in thousandths, for a gauge: 0 <= left <= full. That is tokens of a
// bucket; retries of ratio and active-share; of sre-throttle the chance to be
// admitted, out of 1000; and of failure-share the failures that do not yet stop
// retries, which go on at 0. Of none both are 0. It changes nothing.
func (b *Budget) Tokens(now clock.Instant, c *Config) (left, full int64) {
	then := *b
	e := then.settle(now, c)
	return then.left(&e)
}

func (b *Budget) left(e *Config) (left, full int64) {
	used := int64(0)
	switch e.Kind {
	case AWSLegacy, AWS2026, DepositPerTry, DepositPerSuccess, GRPC:
		full, used = e.Tokens, b.spent
	case Ratio:
		sum := b.recent.sum()
		full, used = e.Share*sum.requests+perWindow(e.Floor, e.Window), 1000*sum.marked
	case ActiveShare:
		full, used = max(e.Floor, e.Share*int64(b.active))/1000*1000, 1000*int64(b.retries)
	case SREThrottle:
		over, of := b.excess(e)
		full, used = 1000, 1000*over/of
	case FailureShare:
		sum := b.recent.sum()
		full, used = e.Share*sum.requests, 1000*sum.marked
	}
	return max(0, full-used), full
}

// perWindow is how much a rate per second gives in a window.
func perWindow(rate int64, window time.Duration) int64 {
	return rate * int64(window/time.Millisecond) / 1000
}

// settle brings the budget up to now and to the configuration, and returns that
// with all figures filled in. A change of the kind begins with a full budget.
func (b *Budget) settle(now clock.Instant, c *Config) Config {
	e := c.Effective()
	if e.Kind != b.kind {
		*b = Budget{kind: e.Kind, active: b.active, retries: b.retries}
	}
	if e.Window > 0 {
		b.recent.roll(now, e.Window)
	}
	b.spent = min(b.spent, e.Tokens)
	return e
}

func (b *Budget) earn(tokens int64) { b.spent = max(0, b.spent-tokens) }

func (b *Budget) earnIf(earned bool, tokens int64) {
	if earned {
		b.earn(tokens)
	}
}
