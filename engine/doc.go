// Package engine is an HTTP client's retry, backoff, breaker and priority
// engine as a pure state machine.
//
// A Machine is one client. It has no clock, goroutine, lock, logger or global:
// it is fed Inputs with the time as an argument, and appends to the caller's
// slice the Effects that it asks of the world, in the order in which they must
// be done:
//
//	m := engine.New(id, seed, 1, &policy)
//	effects = m.Step(now, engine.Input{Kind: engine.Submit, ...}, effects[:0])
//	for _, e := range effects {
//		switch e.Kind {
//		case engine.Send:   // put e.Attempt on the wire; feed Answered later
//		case engine.Abort:  // stop waiting for e.Attempt
//		case engine.Report: // show e.Event to whoever watches
//		case engine.Refresh: // get a new token; feed Refreshed later
//		}
//	}
//	at, ok := m.Deadline() // feed Tick at that moment
//
// A driver needs nothing else: one Answered for each Send, unless it was
// aborted, and a Tick when the Deadline has come. A Tick too early does nothing.
// A reply to an attempt that has ended changes nothing but a report. A driver
// that hands out a response before all of it is there feeds Commit first.
//
// Package live has the driver for programs that just want an http.Client with a
// policy: live.NewTransport. Default is a policy to begin with.
//
// # A request's way
//
// Submit puts a request into the queue of its scope. When there is a slot, and
// it is the request's turn by the order and the limits of its class, the
// scope's breaker is asked. If it refuses, the request ends as short-circuited,
// or stays in the queue where the policy says so; else an attempt goes out. By
// the policy the breaker is asked and told for each attempt, or once for each
// request. The slot is free again when the whole reply is there
// or the attempt has timed out, so a request that waits to retry holds none.
// After the backoff it joins the queue again, with the place that it had. Its
// deadline runs from the submission, time in the queue and in backoff included.
//
// A scope may have a limit of its own, Queue.Scope, such as 1 for long jobs. A
// limit may change at any time: a larger one wakes who may start now, under a
// smaller one what is in flight ends as it would have, and Paused lets nothing
// start, which is told by ScopePaused.
//
// Transport.Conns puts a number of connections below the slots of all scopes. An
// attempt that has a slot and finds none waits for one in a line of its own while
// its timeout and the deadline run; Send comes when it has one. What times out
// there was never sent, and is a failure for the breaker all the same.
//
// Every submitted request ends exactly once, in a RequestDone.
//
// Requests that belong together, such as those of a page, may share a Group.
// CancelGroup ends all of them in one Step, and one that is submitted after that
// is refused: it ends as cancelled at once. DeadGroups says how long that holds.
//
// Identical requests, which have the same number in Input.Same, share one flight
// where the policy's Dedup says so: one attempt goes out for all of them, and each
// has an end of its own.
//
// A request that has others nested in it, by their Parent, keeps its slot until
// they have ended. They have slots of their own, or share those of the scope: see
// NestedRule, also for the deadlock that then may arise.
//
// The package and those below it import nothing of this module from outside
// engine, so that any Go program can use them. Nothing here may read a clock,
// start a goroutine, or range over a map.
package engine
