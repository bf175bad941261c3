package engine

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// InputKind says what a Machine is told.
type InputKind uint8

// What a Machine is told.
const (
	// Tick passes time. One that comes early is harmless.
	Tick InputKind = iota
	// Submit asks for a new request: Request, Class, Method, Route, Scope,
	// Timeout, Since, Warm, Retry, Group, Key, Same, Repeats, Parent, Children.
	Submit
	// Answered brings Reply for the attempt ID, with its Retry-After worked out
	// as NotBefore. One for an attempt that has ended is counted as late. If its
	// Retry is RetryNever, the attempt cannot be repeated.
	Answered
	// Cancel gives up the request Request, wherever it is.
	Cancel
	// Changed says that the policy was changed.
	Changed
	// Refreshed says how the refresh ended that an effect Refresh has asked for:
	// Good. Whoever submits a request with Refresh set need not feed it.
	Refreshed
	// Commit says that the attempt ID cannot be repeated, whatever becomes of it:
	// its response is in the caller's hands, or its body is used up. Its slot and
	// its timeout stay as they are until it is answered.
	Commit
	// CancelGroup gives up all requests of Group at once, wherever they are, and
	// refuses those of it that come later.
	CancelGroup
	// SetClass gives the request Request the class Class, wherever it is. It
	// keeps its age, and the deadline of the new class counts from its submission.
	// A nested request is not lowered below its parent, and is raised with it. A
	// flight has the most important class of those that share it.
	SetClass
	// Wake says that the breaker of Scope, which the machine shares with others,
	// may let something through that AwaitsBreaker.
	Wake
)

// RetryOption is what one request says about retries of its own.
type RetryOption uint8

// What a request can say about retries. It comes before all rules of the policy.
const (
	// RetryByPolicy leaves it to the policy.
	RetryByPolicy RetryOption = iota
	// RetryNever refuses every retry.
	RetryNever
	// RetryAllowed says that the request may take effect twice, whatever its
	// method. All other rules of the policy hold.
	RetryAllowed
)

// Input is one thing that a Machine is told.
type Input struct {
	Kind InputKind

	// Submit.
	Request wire.RequestID
	Class   wire.Class
	Method  wire.Method
	Route   uint8
	Scope   uint8
	// Warm marks a request that was already held when the run began.
	Warm bool
	// Timeout is how long each attempt may take; 0 is off.
	Timeout time.Duration
	// Since is the intended start; latency and deadline count from it.
	Since clock.Instant
	// Retry is the request's own word on retries.
	Retry RetryOption
	// Refresh marks the request that gets a new token. It goes out while all
	// others wait, is never retried, and its outcome is that of the refresh.
	Refresh bool
	// Group is what the request belongs to, such as a page; 0 is none. It is what
	// CancelGroup gives up.
	Group uint32
	// Same is what the request is identical with: of two with the same number, the
	// later one may share the flight of the earlier one, as Policy.Dedup says. Who
	// submits works it out, from all that tells two requests apart, whose they are
	// included. 0 is identical with none.
	Same uint64
	// Repeats is the earlier request of this client that its user submits once
	// more by this one, knowing nothing of the first; 0 is none. It is passed on to
	// the attempts and the events, and changes nothing here.
	Repeats wire.RequestID
	// Parent is the request of this client that waits for this one, which is nested
	// in it; 0 is none. If that is over, or expects no more, this one ends as
	// cancelled at once. It is never of a less important class than its parent, and
	// shares no flight.
	Parent wire.RequestID
	// Children is how many requests with this one as Parent will be submitted. From
	// its good reply on, the request keeps its slot until all of them have ended,
	// and then it succeeds if they all did. If it ends before, they are cancelled.
	// It shares no flight.
	Children uint8
	// Key is the request's Idempotency-Key as a number, which goes out with every
	// try; 0 is none. It lets the policy retry an unsafe request: MethodsWithKey.
	Key uint64

	// Answered.
	ID    wire.AttemptID
	Reply wire.Reply
	// NotBefore is the moment that the reply's Retry-After names; it is read
	// only if Reply.Hint has a form.
	NotBefore clock.Instant
	// Lead is how far the server's clock is ahead of that by which NotBefore was
	// worked out, as the response's Date has it; 0 if it has none.
	Lead time.Duration

	// Good is how a refresh ended: Refreshed.
	Good bool
}

// EffectKind says what a Machine asks of the world.
type EffectKind uint8

// What a Machine asks of the world.
const (
	// Send sends Attempt.
	Send EffectKind = iota
	// Abort stops waiting for Attempt, and lets the server see that.
	Abort
	// Report shows Event to the observers.
	Report
	// Refresh gets a new token, for the sake of Attempt, which met a 401. Answer
	// with Refreshed, or with a request that has Refresh set.
	Refresh
)

// Effect is one thing that a Machine asks of the world.
type Effect struct {
	Kind    EffectKind
	Attempt wire.Attempt
	Event   wire.Event
}
