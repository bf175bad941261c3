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
	// Timeout, Since, Warm.
	Submit
	// Answered brings Reply for the attempt ID, with its Retry-After worked out
	// as NotBefore. One for an attempt that has ended is counted as late.
	Answered
	// Cancel gives up the request Request, wherever it is.
	Cancel
	// Changed says that the policy was changed.
	Changed
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

	// Answered.
	ID    wire.AttemptID
	Reply wire.Reply
	// NotBefore is the moment that the reply's Retry-After names; it is read
	// only if Reply.Hint has a form.
	NotBefore clock.Instant
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
)

// Effect is one thing that a Machine asks of the world.
type Effect struct {
	Kind    EffectKind
	Attempt wire.Attempt
	Event   wire.Event
}
