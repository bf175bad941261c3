// Package wire is the vocabulary that crosses between machines, and all that
// observers see: Attempt, Reply, Event, Class, Method, and what a server model
// is fed and answers.
//
// Everything here is a flat value: no pointers, no interfaces, no strings held.
// The package imports only clock.
package wire

import (
	"fmt"
	"time"

	"herdscope/engine/clock"
)

// ClientID numbers the clients of a fleet from 0.
type ClientID uint32

// RequestID numbers the requests of one client from 1.
type RequestID uint32

// AttemptID names one try of one request. Try counts from 1, the first try.
type AttemptID struct {
	Client  ClientID
	Request RequestID
	Try     uint16
}

// String is the ID as "c0417/12#3": client, request, try.
func (id AttemptID) String() string {
	return fmt.Sprintf("c%04d/%d#%d", id.Client, id.Request, id.Try)
}

// Class is a request's priority class. A lower value is more important.
type Class uint8

// The priority classes.
const (
	Critical Class = iota
	Interactive
	Background

	// NumClasses is the number of classes.
	NumClasses = 3
)

var classNames = [NumClasses]string{"critical", "interactive", "background"}

// ClassNames lists the classes' names, most important first.
func ClassNames() []string { return classNames[:] }

// String is the class's name.
func (c Class) String() string { return nameOf(classNames[:], int(c)) }

// Method is an HTTP request method.
type Method uint8

// The methods of RFC 9110, section 9.3, and PATCH of RFC 5789.
const (
	Get Method = iota
	Head
	Options
	Trace
	Put
	Delete
	Post
	Patch
)

var methodNames = []string{"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "POST", "PATCH"}

// MethodNames lists the methods' names in the order of their values.
func MethodNames() []string { return methodNames }

// String is the method's name as it stands in a request line.
func (m Method) String() string { return nameOf(methodNames, int(m)) }

// Safe says whether the method only reads (RFC 9110, section 9.2.1).
func (m Method) Safe() bool { return m <= Trace }

// Idempotent says whether sending the request twice has the effect of sending
// it once (RFC 9110, section 9.2.2): the safe methods, PUT and DELETE.
func (m Method) Idempotent() bool { return m <= Delete }

// MaxScopes and MaxRoutes limit what a scenario may declare.
const (
	MaxScopes = 4
	MaxRoutes = 16
)

// Attempt is one try of a request on its way to the server.
type Attempt struct {
	ID     AttemptID
	Class  Class
	Method Method
	Route  uint8 // index into the scenario's routes
	Scope  uint8 // index into the scenario's scopes
	// Probe marks a trial request of a half-open breaker.
	Probe bool
	// Warm marks a request that was already held when the run began. Its
	// arrival lies before the run, so it is in no arrival bin, and its length
	// is the rest of one that began earlier.
	Warm bool
	// Key is the request's Idempotency-Key as a number, the same for all its
	// tries; 0 is none. See FormatKey.
	Key uint64
	// Repeats is the earlier request of the same client that its user submits once
	// more by this one; 0 is none. A server that serves both does the work twice.
	Repeats RequestID
	// Conn is what the server knows of the connection.
	Conn ConnUse
	// Meets says, if Read is set, for which of the server's faults the request
	// meets what they ask of path and header: bits by index. Who reads requests
	// off a socket sets both; without Read, the Route has to say it.
	Meets uint64
	Read  bool
	// ConnNumber tells the connections of its client apart, from 1 in the order of
	// their first requests. 0 is not known: a server model takes it for the one
	// kept connection of the client.
	ConnNumber uint32
}

// ReplyKind says how an attempt ended as its sender sees it.
type ReplyKind uint8

// The ways in which an attempt ends on the wire. A timeout is not among them:
// it is the client's own doing.
const (
	// ReplyResponse is a whole HTTP response, its body included.
	ReplyResponse ReplyKind = iota
	// ReplyReset is a connection closed or reset before the reply was whole.
	ReplyReset
	// ReplyRefused is a connection that could not be made.
	ReplyRefused
)

// Reply is what comes back for an attempt. Status is 0 unless Kind is
// ReplyResponse.
type Reply struct {
	Kind   ReplyKind
	Status uint16
	Hint   Hint
	// Quota is what the response tells of the server's rate limit.
	Quota Quota
	// Replayed says that the response is the stored one of an earlier attempt
	// with the same Idempotency-Key.
	Replayed bool
	// Form is how it is written; Hard resets a connection that the form ends,
	// where it would else be closed in order.
	Form ReplyForm
	Hard bool
	// Fault is the index of the fault that has made the reply, plus one; 0 is
	// none. Its text is the body, if it has one.
	Fault uint8
	// Over is how long the writing takes: the reply is whole only then.
	Over time.Duration
}

// ServerInputKind says what a server model is told.
type ServerInputKind uint8

// What a server model is told.
const (
	// ServerTick passes time; one that comes early is harmless.
	ServerTick ServerInputKind = iota
	// ServerArrive brings Attempt.
	ServerArrive
	// ServerLeave says that the sender of Attempt has stopped waiting for it.
	ServerLeave
	// ServerSet gives the setting with index Knob the value Value.
	ServerSet
	// ServerFault does Do to the fault with index Fault.
	ServerFault
	// ServerIdled says that the socket side has closed an idle connection that
	// the client of Attempt had used last, as the fault with index Fault asks.
	ServerIdled
	// ServerTurnedAway says that Attempt found no listener. In a live run nobody
	// but its client knows.
	ServerTurnedAway
)

// FaultDo is what a hand does to a fault.
type FaultDo uint8

// What can be done to a fault by hand.
const (
	// FaultAuto gives the fault back to its schedule.
	FaultAuto FaultDo = iota
	// FaultOn holds the fault on until told otherwise.
	FaultOn
	// FaultOff holds the fault off until told otherwise.
	FaultOff
	// FaultNow begins one window of the fault's own length at once; the
	// schedule goes on.
	FaultNow
)

var faultDoNames = []string{"auto", "on", "off", "now"}

// FaultDoNames lists what can be done to a fault, in the order of the values.
func FaultDoNames() []string { return faultDoNames }

// String is the name of what is done.
func (d FaultDo) String() string { return nameOf(faultDoNames, int(d)) }

// ServerInput is one thing that a server model is told.
type ServerInput struct {
	Kind    ServerInputKind
	Attempt Attempt
	Knob    uint16
	Value   int64
	Fault   uint8
	Do      FaultDo
}

// ServerEffectKind says what a server model asks of the world.
type ServerEffectKind uint8

// What a server model asks of the world.
const (
	// ServerReply sends Reply to the sender of the attempt ID; with the kind
	// ReplyReset it ends the connection instead, as its Form says.
	ServerReply ServerEffectKind = iota
	// ServerEvent reports Event to the observers.
	ServerEvent
	// ServerRefuse closes the listener and resets every connection; ServerListen
	// opens it again at the same address. In virtual time, where the model answers
	// with ReplyRefused itself, there is nothing to do for them.
	ServerRefuse
	// ServerListen: see ServerRefuse.
	ServerListen
)

// ServerEffect is one thing that a server model asks of the world.
type ServerEffect struct {
	Kind  ServerEffectKind
	ID    AttemptID
	Reply Reply
	Event Event
}

// Observer sees every event of a run and changes nothing. It is called from
// one goroutine at a time and must not keep the run waiting.
type Observer interface {
	Observe(Event)
}

// Held is the instant before the run that stands for "already under way".
const Held clock.Instant = -1

func nameOf(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("unknown(%d)", i)
	}
	return names[i]
}
