// Package live drives a fleet against the wall clock and real HTTP/1.1 over
// TCP: it steps the fleet when something is due, sends the attempts that the
// fleet asks for, and feeds back what came of them.
//
// It has no policy of its own. In particular, net/http's habit of silently
// sending a request again when a kept connection turns out to be dead is
// defeated, so that one Send is one request head at the server: see sender.
//
// # Goroutines
//
// The goroutine that calls Run owns the fleet and is the only one that steps
// it and calls Observe. Each attempt has a goroutine that does HTTP and nothing
// else. What comes of it goes to an inbox, stamped with the run clock when its
// body had been read to the end; hands (Do) use the same inbox. The owner
// empties the inbox, in the order of the stamps, before it passes time: a reply
// that was there before its timeout was noticed is a reply.
//
// # Pauses
//
// While the Clock stands still no attempt starts and no time passes. Replies
// that come in and settings that are changed are fed to the fleet at the
// instant of the pause. What the fleet then wants to send is kept until the
// clock runs again, which on the run clock is the same instant, so nothing
// catches up.
//
// # Aborted attempts
//
// An abort cancels the attempt's request, which closes its connection. The
// error which that makes is nobody's news and is dropped. A whole response that
// came in regardless is fed to the fleet, which counts it as late.
//
// # What it relies on
//
// A request that was written to a kept connection which the server has just
// closed, unread, counts as reset here and is not seen there. No client can
// tell. The counts of both ends are equal if the server closes no connection
// between two requests on it without saying so in the reply before; the
// server of this module keeps to that.
//
// net/http reports bytes that arrive outside any reply through the standard
// logger of package log; a program that owns the screen should redirect it.
//
// # As a library
//
// Transport needs no fleet: it puts one engine.Machine behind an
// http.RoundTripper, for any program that wants the policy as it is.
//
// The package imports the fleet's and the engine's types, wire, clock and
// retryafter; it must not import a server, metrics or a user interface.
package live
