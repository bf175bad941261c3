package live

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"herdscope/engine/wire"
)

// How a request can end without a response. Errors of a Transport are one of
// these for errors.Is; one of a request that its caller gave up is its
// context's error instead.
var (
	// ErrShortCircuited: the breaker is open.
	ErrShortCircuited = errors.New("the breaker is open")
	// ErrShed: the queue is full.
	ErrShed = errors.New("the queue is full")
	// ErrExpired: the deadline passed before a first attempt could be made.
	ErrExpired = errors.New("the deadline passed in the queue")
	// ErrTimedOut: the deadline passed later, or the last attempt timed out.
	ErrTimedOut = errors.New("timed out")
	// ErrFailed: the last attempt brought no response, or not all of it.
	ErrFailed = errors.New("no response")
	// ErrClosed: the Transport was closed.
	ErrClosed = errors.New("the transport is closed")
)

// ErrBodyUsed is why there can be no retry of a request whose body has been
// read, in whole or in part, and which has no GetBody.
var ErrBodyUsed = errors.New("the request's body is used up and there is no GetBody")

var (
	errRequestCanceled = errors.New("the request's Cancel channel was closed")
	errAttemptOver     = errors.New("the attempt is over")
	errGoexit          = errors.New("the attempt's goroutine was ended by runtime.Goexit")
)

// Error is how a request ended that has no response to return, or not all of
// its body. It matches the sentinel of its outcome, its Cause and its NoRetry.
type Error struct {
	// Outcome is how the request ended.
	Outcome wire.Outcome
	// Reason is the kind of the last thing that went wrong.
	Reason wire.Cause
	// Attempts is how many attempts were made.
	Attempts int
	// Status is that of the last attempt's response; 0 if there was none.
	Status int
	// Cause is the last error of an attempt, of a hook, or of the caller's
	// context; nil if there was none.
	Cause error
	// NoRetry is why there could be no retry, whatever the policy says:
	// ErrBodyUsed, or nil.
	NoRetry error
}

// Error is the outcome, the attempts, and what went wrong last.
func (e *Error) Error() string {
	var b strings.Builder
	if sentinel := e.sentinel(); sentinel != nil {
		b.WriteString(sentinel.Error())
	} else {
		b.WriteString(e.Outcome.String())
	}
	fmt.Fprintf(&b, " (%s", attempts(e.Attempts))
	if e.Status != 0 {
		fmt.Fprintf(&b, ", status %d", e.Status)
	}
	b.WriteString(")")
	for _, err := range e.Unwrap() {
		b.WriteString(": " + err.Error())
	}
	return b.String()
}

func attempts(n int) string {
	if n == 1 {
		return "1 attempt"
	}
	return fmt.Sprintf("%d attempts", n)
}

// sentinel is the error that stands for the outcome; nil for a cancelled one.
func (e *Error) sentinel() error {
	switch e.Outcome {
	case wire.ShortCircuited:
		return ErrShortCircuited
	case wire.Shed:
		return ErrShed
	case wire.ExpiredInQueue:
		return ErrExpired
	case wire.TimedOut:
		return ErrTimedOut
	case wire.Failed:
		return ErrFailed
	case wire.Degraded:
		return e.degraded()
	}
	return nil
}

// degraded is the error that the fallback would have stood in for.
func (e *Error) degraded() error {
	switch {
	case e.Reason != wire.CauseDeadline:
		return ErrShortCircuited
	case e.Attempts == 0:
		return ErrExpired
	}
	return ErrTimedOut
}

// Is says whether target is the sentinel of the outcome.
func (e *Error) Is(target error) bool { return target != nil && target == e.sentinel() }

// Unwrap is Cause and NoRetry, as far as there are.
func (e *Error) Unwrap() []error {
	var all []error
	for _, err := range []error{e.Cause, e.NoRetry} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}

// Timeout says whether time ran out: the attempt's, the request's, or that of
// the caller's context. It is what net.Error asks for.
func (e *Error) Timeout() bool {
	if sentinel := e.sentinel(); sentinel == ErrTimedOut || sentinel == ErrExpired {
		return true
	}
	var t interface{ Timeout() bool }
	return errors.As(e.Cause, &t) && t.Timeout()
}

// Temporary is always false; net.Error asks for it.
func (e *Error) Temporary() bool { return false }

// Result is what a response does not say about its request.
type Result struct {
	// Attempts is how many attempts were made, the one of the response included.
	Attempts int
	// NoRetry is why there could be no retry, whatever the policy says:
	// ErrBodyUsed, or nil.
	NoRetry error
}

type resultKey struct{}

// ResultOf is what a Transport knows about the request of a response; false if
// the response is not from one.
func ResultOf(resp *http.Response) (Result, bool) {
	if resp == nil || resp.Request == nil {
		return Result{}, false
	}
	r, ok := resp.Request.Context().Value(resultKey{}).(Result)
	return r, ok
}
