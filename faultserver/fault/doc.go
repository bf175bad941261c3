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
// While an outage refuses, there is no arrival. Otherwise it is reported first.
// Then the checks follow in this order, and the first that holds settles it:
//
//  1. the first outage that is on and meant for it resets or swallows it (one
//     that freezes does nothing here: see below);
//  2. a connection that was closed for being idle, while the attempt was on its
//     way, brings it nothing but the end of the connection;
//  3. the first fault in the order of the configuration that hits it and settles
//     attempts at their arrival does so: errors by an answer, close and reset at
//     the point arrival by the end of the connection;
//  4. the rate limit in force (the first quota that is on and meant for it, or
//     else the server's own) refuses what is over its cap or its rate, with a
//     Retry-After: see RateLimit;
//  5. where Effects.Idempotency is on, the repetition of an Idempotency-Key gets
//     the stored reply, or 409 while the first is under way;
//  6. a full backlog answers with 503, or lets wait outside, or pushes out the
//     oldest; what the rate limit has counted stays counted.
//
// A server may have several services (Config.Services), each with routes, workers
// and a backlog of its own; Server.service says which one an attempt is for, and
// 0 is the server's own. What passes is taken up by a free worker of its service
// or waits in the order of its backlog. Rejections that cost work wait for a
// worker before all others.
//
// The faults are asked once for each attempt, when it arrives: what they will do
// to its work (latency) and to its reply (the first that hits of those that spoil
// it) is settled then, whatever becomes of their windows. Latency counts as a hit
// when a worker takes the attempt up, a spoilt reply when it is written. What is
// spoilt is only the reply to an attempt that was served. Its work is done, and
// took effect.
//
// A fault that picks its victims asks, in this order: is its window open; does
// the attempt match (Match); is its turn among those that match (Count); does its
// lot fall into the share (Share). Draws are keyed by the fault's index and the
// attempt's client, request and try, or with PerConnection by the client and the
// number of its connection, so that a seed has the same victims in every order.
//
// Outages and cuts of capacity act on all at once. Frozen work keeps what is left
// of its time; the door still works, and what it lets in waits. A cut of capacity
// lets work under way be finished. Cuts multiply, the first quota is in force, of
// latencies the last that replaces counts and those that add come on top.
//
// A client is taken to keep one connection, by which all its attempts come. It
// ends with a reset, a spoilt reply that breaks off, a client that leaves, an
// outage that refuses, or for being idle. In virtual time the last is found out
// when the client comes back; a request within Fault.Race of it was on its way
// and is lost, a later one comes by a new connection. Over sockets the attempt
// says how its connection was found (wire.ConnUse) and, if its client is foreign
// and may have any number of them, which it was (wire.Attempt.ConnNumber).
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
