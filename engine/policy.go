package engine

import (
	"time"

	"herdscope/engine/backoff"
	"herdscope/engine/breaker"
	"herdscope/engine/limiter"
	"herdscope/engine/queue"
	"herdscope/engine/wire"
)

// Policy is all that people tune of a client. Machines share one and only read
// it; whoever owns it changes it between two Steps and then feeds Changed.
// A change takes effect at the next decision.
type Policy struct {
	Retry   Retry
	Breaker breaker.Config
	// Budget limits retries as a whole.
	Budget Budget
	Queue  Queue
	// Limiter moves the limit of a scope, unless its kind is Fixed.
	Limiter limiter.Config
	// Transport is what attempts need beside a slot.
	Transport Transport
	// Fallback is what is answered with a value of its own instead of an error.
	Fallback Fallback
	// Auth is what becomes of a 401.
	Auth Auth
	// Dedup is when identical requests share one flight.
	Dedup Dedup
}

// Retry is what is tried again, how often and when.
type Retry struct {
	// Attempts is the largest number of tries of a request, the first included.
	Attempts int
	// Backoff is the wait before a retry where no Retry-After is honoured.
	Backoff backoff.Config
	// Statuses is which responses are retried.
	Statuses StatusSet
	// Network retries attempts that got no reply: refused or reset.
	Network bool
	// Timeouts retries attempts that ran into the attempt timeout.
	Timeouts bool
	// Methods is which methods are retried.
	Methods MethodSet
	// RetryAfter honours the Retry-After of a response that is retried: the
	// retry is never earlier than asked, unless that is above RetryAfterMax. A
	// moment that has passed, or 0 seconds, leaves the wait to Backoff.
	RetryAfter bool
	// Total is how long a request may take from its submission to its end, time
	// in the queue, in flight and in backoff included; 0 is off. It is a second
	// deadline beside that of the class: the earlier one counts.
	Total time.Duration
	// RetryAfterJitter spreads the retry above the hint by up to this share of
	// it, in thousandths.
	RetryAfterJitter int64
	// RetryAfterMax is the longest Retry-After that is followed whatever
	// RetryAfterOver says; 0 is off. A deadline that comes before the end of the
	// wait ends the request at once under every rule.
	RetryAfterMax time.Duration
	// RetryAfterOver is what becomes of a longer one.
	RetryAfterOver HintRule
	// RetryAfterDefault is what a 429 or 503 without Retry-After is taken to ask
	// for where RetryAfter is on; 0 leaves the wait to Backoff.
	RetryAfterDefault time.Duration
	// RetryAfterClock is the clock by which a date counts.
	RetryAfterClock HintClock
	// Pushback obeys gRPC's field grpc-retry-pushback-ms (gRFC A6) of a response
	// that is retried: a number of milliseconds is exactly how long the retry
	// waits, whatever RetryAfterMax and the jitter say, and the backoff begins anew
	// after it; a negative number, or what is none, ends the request.
	Pushback bool
}

// MethodSet is which methods are retried.
type MethodSet uint8

// The sets of methods that can be retried.
const (
	// MethodsIdempotent is the idempotent methods of RFC 9110, section 9.2.2.
	MethodsIdempotent MethodSet = iota
	// MethodsAll is every method: a POST may then take effect twice.
	MethodsAll
	// MethodsWithKey is the idempotent methods, and any method of a request that
	// has an Idempotency-Key, by which the server tells its repetition.
	MethodsWithKey
)

// Has says whether the set holds a method, of a request that has a key or not.
func (s MethodSet) Has(m wire.Method, keyed bool) bool {
	return s == MethodsAll || m.Idempotent() || s == MethodsWithKey && keyed
}

// Queue is the rules of one scope's slots and queue.
type Queue struct {
	// Limit is how many attempts a scope may have in flight: a number, Paused or
	// Unlimited, which 0 is as well, so that a Policy that does not name a limit
	// has none. A larger one wakes who may now start; a smaller one lets end what
	// is in flight.
	Limit int
	// Scope is what scopes have of their own.
	Scope [wire.MaxScopes]ScopeQueue
	// Capacity is how many requests may wait in a scope; 0 is unlimited. One
	// more is shed.
	Capacity int
	// Order is who goes first. See each order for its bound, and queue.Config
	// for what the fields below mean to it and stand for at 0.
	Order queue.Order
	// Requeue is where a retry comes back into the queue.
	Requeue queue.Requeue
	// Ageing is the head start of a class over the next, in the order of ageing.
	Ageing time.Duration
	// Estimate is how long before its deadline edf gives a request up; 0 is off.
	Estimate time.Duration
	// CodelTarget and CodelInterval are the patience of adaptive-lifo with those
	// who join a standing queue, and with all others.
	CodelTarget, CodelInterval time.Duration
	// Protect keeps background attempts of a scope from starting while a critical
	// request there is unfinished: waiting, in flight or in backoff. A start that
	// is so kept back is told by Event.Kept when the request leaves the queue.
	Protect bool
	// ProtectHold is how long it may do so, counted from when the background
	// request that waits longest joined the queue; 0 is without end.
	ProtectHold time.Duration
	// Nested is which slots requests take whose parent holds one meanwhile.
	Nested NestedRule
	// NestedLimit is how many attempts and waiting parents each lane of nested
	// requests may have; 0 is unlimited.
	NestedLimit int
	// PromoteAfter is how long a request waits in the queue before it moves up
	// to the next class, with its age, and after as long to the one above that;
	// 0 is off. A retry waits anew. All that share a flight wait, and move up, as
	// the flight does.
	PromoteAfter time.Duration
	// Class is the rules of each class inside the scope.
	Class [wire.NumClasses]ClassQueue
}

// ClassQueue is a class's share of a scope.
type ClassQueue struct {
	// Least is how many slots other classes must leave to this one.
	Least int
	// Most is how many slots the class may hold; 0 is unlimited.
	Most int
	// Deadline is how long a request may take from its submission, time in the
	// queue and in backoff included; 0 is off.
	Deadline time.Duration
	// StarvedAfter is how long the oldest request may wait before it counts as
	// starving, if a later one was started before it; 0 is off.
	StarvedAfter time.Duration
	// Turns is how many turns the class has in a round of the weighted order.
	Turns int
}
