package wire

import (
	"time"

	"herdscope/engine/clock"
)

// Outcome is how a request ended. Every request that has begun is in exactly
// one of them, Unfinished until it ends.
type Outcome uint8

// The outcomes of a request.
const (
	// Unfinished has not ended yet.
	Unfinished Outcome = iota
	// Succeeded had a good reply within its deadline.
	Succeeded
	// Degraded was answered with a fallback value.
	Degraded
	// Failed had its last reply be an error that is not retried any more.
	Failed
	// TimedOut was sent at least once, and then its deadline passed, or its
	// last attempt timed out.
	TimedOut
	// ExpiredInQueue had its deadline pass before it was ever sent.
	ExpiredInQueue
	// Shed found the queue full, or was kept back by the client's own throttle.
	Shed
	// ShortCircuited was refused by an open breaker.
	ShortCircuited
	// Cancelled was given up by its caller.
	Cancelled

	// NumOutcomes is the number of outcomes.
	NumOutcomes = int(Cancelled) + 1
)

var outcomeNames = []string{
	"unfinished", "succeeded", "degraded", "failed", "timed_out",
	"expired_in_queue", "shed", "short_circuited", "cancelled",
}

// String is the outcome's name in snake case, as the JSON summary writes it.
func (o Outcome) String() string { return nameOf(outcomeNames, int(o)) }

// BreakerState is the state of a circuit breaker.
type BreakerState uint8

// The states of a breaker. Eligible is open with its open time over and no
// probe sent yet. The last three are imposed by a setting: ForcedOpen lets
// nothing through, Disabled and MetricsOnly let everything through.
const (
	Closed BreakerState = iota
	Open
	Eligible
	HalfOpen
	ForcedOpen
	Disabled
	MetricsOnly

	// NumBreakerStates is the number of states.
	NumBreakerStates = 7
)

var breakerNames = []string{
	"closed", "open", "eligible", "half_open", "forced_open", "disabled", "metrics_only",
}

// String is the state's name in snake case.
func (s BreakerState) String() string { return nameOf(breakerNames, int(s)) }

// Cause says why something happened.
type Cause uint8

// The causes that events name.
const (
	CauseNone Cause = iota
	// CauseStatus is the status of a response, in Event.Status.
	CauseStatus
	// CauseReset is a connection closed before the reply was whole.
	CauseReset
	// CauseRefused is a connection that could not be made.
	CauseRefused
	// CauseTimeout is the client's own attempt timeout.
	CauseTimeout
	// CauseDeadline is the request's deadline, which counts time in the queue.
	CauseDeadline
	// CauseCancel is the caller giving up.
	CauseCancel
	// CauseThreshold is a breaker's rule of a number of failures being met.
	CauseThreshold
	// CauseElapsed is a time having passed.
	CauseElapsed
	// CauseProbe is the result of a breaker's probe.
	CauseProbe
	// CauseFull is a queue or backlog without room.
	CauseFull
	// CauseRateLimit is a server's rate limit.
	CauseRateLimit
	// CauseFault is a fault of the server, by its plan or by hand.
	CauseFault
	// CauseLease is a probe that has not answered in time.
	CauseLease
	// CauseBudget is a client's own budget or throttle.
	CauseBudget
	// CauseFailureRate is too large a share of calls that failed.
	CauseFailureRate
	// CauseSlowRate is too large a share of calls that were slow.
	CauseSlowRate
	// CauseMode is a breaker being switched into another mode.
	CauseMode
	// CauseAuth is a refresh of the token that has failed.
	CauseAuth
	// CauseKey is an attempt with the same Idempotency-Key being under way.
	CauseKey
	// CauseChild is a nested request that has not succeeded.
	CauseChild
	// CauseNestedDeadlock is slots held by those who wait for the one that needs them.
	CauseNestedDeadlock
)

var causeNames = []string{
	"none", "status", "reset", "refused", "timeout", "deadline", "cancel",
	"threshold", "elapsed", "probe", "full", "rate_limit", "fault", "lease",
	"budget", "failure_rate", "slow_rate", "mode", "auth", "key",
	"child", "nested_deadlock",
}

// String is the cause's name in snake case.
func (c Cause) String() string { return nameOf(causeNames, int(c)) }

// EventKind says what an Event reports, and which of its fields are set.
type EventKind uint8

// What events report. At, ID, Class, Scope and Warm are set wherever they make
// sense, and Group, Parent and Repeats on what a client reports of a request that
// has one; the other fields are named here.
const (
	// RequestBegan: Since is the intended start, At the real one. Intended is
	// earlier than real only where a live sender is behind schedule.
	RequestBegan EventKind = iota
	// RequestQueued: the request, or its retry, waits for a slot.
	RequestQueued
	// RequestDequeued: it left the queue after Delay, to be sent or to end; Kept
	// says that it had been the first of its class, with a slot for it, from which
	// window protection kept it.
	RequestDequeued
	// AttemptSent: ID.Try counts from 1; Probe as in Attempt; Shared says that the
	// breaker which let it through is that of all clients; Delay in the queue, 0 if
	// SocketQueued has told it.
	AttemptSent
	// AttemptEnded: Cause is Status, Reset, Refused, Timeout, Deadline or Cancel;
	// Status; Delay since it was sent. A slot is free again.
	AttemptEnded
	// AttemptLate: a reply came for an attempt that had ended before.
	AttemptLate
	// RetryScheduled: the next attempt is due to join the queue at Until, Delay
	// from now; Ceiling is the largest delay that could have been drawn; Hinted
	// says that Retry-After, or the default that stands in for one, set it; Hint
	// is what was made of it; Cause and Status say what failed.
	RetryScheduled
	// RequestDone: Outcome; Delay since the intended start; Since is that start;
	// ID.Try is the number of attempts, of which those were sent that did not end
	// in wait of a connection; Cause and Status of the last. If it
	// is in a flight, the attempts are those of the flight, and Shared says that others
	// are in it still, which goes on, or ends with them after this one. Nesting says
	// that it had its reply, and kept its slot for nested requests. If it
	// was refused by a breaker, Until is when that may let others through;
	// clock.Never if nothing but a setting can end it.
	RequestDone
	// BreakerChanged: From, To, Cause; Shared says that the breaker is that of all
	// clients. ID.Client is then who brought it about, or 0 if time did.
	BreakerChanged
	// ProbeDone: Good tells the probe's verdict; Cause and Status; Shared.
	ProbeDone
	// StarvationBegan: the oldest waiting request of Class has waited Delay,
	// longer than its class may, and was overtaken.
	StarvationBegan
	// StarvationEnded: Delay is how long it lasted.
	StarvationEnded

	// ServerArrived: an attempt reached the listener.
	ServerArrived
	// ServerBegan: a worker took it up, after Delay in the backlog; to serve it,
	// or to turn it away where that is work. If a fault
	// makes the work longer, Cause is Fault.
	ServerBegan
	// ServerDone: the worker finished after Delay of work; Status; Wasted says
	// that the caller had left. Failed replies are wasted work as well.
	ServerDone
	// ServerRejected: turned away: Status and Cause (Full, Elapsed, RateLimit,
	// Fault, Key). Wasted says that a worker was at it, for Delay.
	ServerRejected
	// ServerReset: the connection was reset by an outage. Wasted says that a
	// worker was at it, and Delay is the work already done for it.
	ServerReset
	// ServerReturned: an attempt that came back after a Retry-After; Delay is
	// how much later than the moment that it named, negative if too early; or
	// Untold says that it named none. See ReturnAfter.
	ServerReturned
	// ServerRepeated: an unsafe request took effect again, for the Times-th time;
	// Key is its Idempotency-Key, 0 if it has none.
	ServerRepeated
	// FaultBegan and FaultEnded: Fault is the index of the fault; Until is the
	// end of the window if it is known.
	FaultBegan
	// FaultEnded: see FaultBegan.
	FaultEnded

	// ArrivalsMissed: one request was left out because its sender was Delay
	// behind its intended start, Since; Class.
	ArrivalsMissed

	// RetryDenied: the budget has no retry for the request, which ends; Cause
	// and Status say what failed.
	RetryDenied
	// LimitChanged: the limiter of Scope has moved its limit to Limit.
	LimitChanged
	// RetryRefused: the Retry-After of a response asks for Delay, which is above
	// the policy's maximum, and the request ends; Cause and Status of the response.
	// If Hint is HintPushedBack, its pushback asks for no retry at all.
	RetryRefused
	// PageEnded: the Group, whose first request was ID.Request, has ended; Delay
	// since the intended start of that, Since; Good says that all its requests
	// succeeded. A Warm one had begun before the run.
	PageEnded
	// RequestHeld: it waits for the client's token to be refreshed.
	RequestHeld
	// ServerCancelled: the server has stopped work on it, since its caller had
	// left. Wasted says that a worker was at it, for Delay.
	ServerCancelled
	// ScopePaused: the limit of Scope is 0, so that whoever waits there waits for
	// that; Limit is how many attempts are still in flight.
	ScopePaused
	// ScopeResumed: Scope has a limit again, after Delay.
	ScopeResumed
	// ServerReplayed: an unsafe request that had taken effect came again, and got
	// the stored reply; Status and Key.
	ServerReplayed
	// FaultStruck: the fault Fault has hit the attempt, or a connection of its
	// client, where no other server event says so.
	FaultStruck
	// FaultMissed: the fault Fault has ended and had hit nobody since it began,
	// at Since.
	FaultMissed
	// SocketQueued: an attempt has got its slot, after Delay in the queue, and
	// waits for a connection. ID.Try, Probe and Shared are as in AttemptSent.
	SocketQueued
	// SocketDequeued: its wait is over after Delay. Cause is None if AttemptSent
	// follows; else the attempt is never sent: Timeout, Deadline or Cancel, or Auth
	// if its number will be used again once the token is there. A slot is free again.
	SocketDequeued
	// RequestJoined: it shares the flight that the request Leader has begun, which
	// is identical. The events of the flight's attempts are told of Leader, also
	// after that has ended.
	RequestJoined
	// RequestNesting: its reply is there, and it keeps its slot until the requests
	// nested in it have ended.
	RequestNesting
	// NestedDeadlock: it waits for a slot, of Scope, that it can never get, since
	// all it could get are held by Parent and others whose nested requests wait in
	// the same way. It ends.
	NestedDeadlock
	// ServerSwallowed: an outage has taken it, and nothing will ever come back for
	// it; Delay and Wasted as in ServerReset.
	ServerSwallowed
	// ClassChanged: the request is of Class now, and was of Was; Cause is Elapsed
	// if it has waited for that. Leader is the flight that it is in, if any, whose
	// attempts stay as they are. With Shared it is the flight that the request has
	// begun which is of Class, and not the request.
	ClassChanged

	// NumEventKinds is the number of kinds.
	NumEventKinds = int(ClassChanged) + 1
)

var eventNames = []string{
	"request_began", "request_queued", "request_dequeued", "attempt_sent",
	"attempt_ended", "attempt_late", "retry_scheduled", "request_done",
	"breaker_changed", "probe_done", "starvation_began", "starvation_ended",
	"server_arrived", "server_began", "server_done", "server_rejected",
	"server_reset", "server_returned", "server_repeated", "fault_began", "fault_ended",
	"arrivals_missed", "retry_denied", "limit_changed", "retry_refused",
	"page_ended", "request_held", "server_cancelled", "scope_paused", "scope_resumed",
	"server_replayed", "fault_struck", "fault_missed", "socket_queued", "socket_dequeued",
	"request_joined", "request_nesting", "nested_deadlock",
	"server_swallowed",
	"class_changed",
}

// String is the kind's name in snake case.
func (k EventKind) String() string { return nameOf(eventNames, int(k)) }

// NoFault is the Event.Fault of a server event that no fault caused.
const NoFault uint8 = 255

// Event is one thing that happened, as observers see it. Kind says which
// fields are set. Fault is set on every server event: the index of the fault
// that caused it, or NoFault.
type Event struct {
	At      clock.Instant
	Since   clock.Instant
	Until   clock.Instant
	Delay   time.Duration
	Ceiling time.Duration
	ID      AttemptID
	Limit   int32
	Group   uint32
	Parent  RequestID
	Repeats RequestID
	Leader  RequestID
	Status  uint16
	Kind    EventKind
	Class   Class
	Was     Class
	Method  Method
	Scope   uint8
	Outcome Outcome
	Cause   Cause
	From    BreakerState
	To      BreakerState
	Fault   uint8
	Hint    HintUse
	Warm    bool
	Probe   bool
	Hinted  bool
	Good    bool
	Wasted  bool
	Kept    bool
	Shared  bool
	Nesting bool
	// Refresh says, on what a client reports of a request, that it gets a new token.
	Refresh bool
	Untold  bool
	// Times is how often, and Key an Attempt's Key.
	Times uint32
	Key   uint64
}
