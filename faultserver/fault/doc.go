// Package fault is the server model: a worker pool with a backlog, service
// times, a rate limit, and faults on a timeline or by hand.
//
// A Server is a machine: pure, single-threaded, fed inputs with the time as an
// argument, asked by Deadline when it next needs a Tick.
//
//	effects = server.Step(now, input, effects[:0])
//	// do the effects in order
//	at, ok := server.Deadline() // may have changed: see to a Tick at that moment
//
// # What happens to an attempt
//
// An arrival is reported first. Then the checks follow in this order, and the
// first that holds settles it:
//
//  1. an outage resets it;
//  2. each errors fault that is on, in the order of the configuration, answers
//     its share with the fault's status;
//  3. the rate limit in force (the first quota that is on and meant for it, or
//     else the server's own) refuses what is over its cap or its rate, with a
//     Retry-After: see RateLimit;
//  4. where Effects.Idempotency is on, the repetition of an Idempotency-Key gets
//     the stored reply, or 409 while the first is under way;
//  5. a full backlog answers with 503, or lets wait outside, or pushes out the
//     oldest; what the rate limit has counted stays counted.
//
// A server may have several services (Config.Services), each with routes, workers
// and a backlog of its own; Server.service says which one an attempt is for, and
// 0 is the server's own. What passes is taken up by a free worker of its service
// or waits in the order of its backlog. Rejections that cost work wait for a
// worker before all others.
//
// Attempts marked Warm passed the checks before the run began: errors and rate
// limits do not look at them. One that finds a free worker takes the rest of a
// service time that began earlier.
//
// Unless Config.Abandoned is Cancel, a server does not see that a caller has left:
// the attempt keeps its place and is served to the end, as wasted work, and
// nothing is sent for it.
//
// # Time and order
//
// What falls due is done at its own moment, however late the Tick, and carries
// that moment in its event. At one instant finished work comes first, then those
// who have waited too long for the order of their backlog, then the edges of
// faults in the order of the configuration, then the input. Windows include their
// beginning and not their end. A reply comes before the event that reports it.
//
// The package reads no clock, starts no goroutine, takes no lock and iterates
// over no map. It imports clock, knob, queue, retryafter, rng and wire, and
// nothing else of this module.
package fault
