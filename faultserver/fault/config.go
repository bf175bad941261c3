package fault

import (
	"time"

	"herdscope/engine/wire"
)

// Config is a server: its capacity, its speed, and what goes wrong with it.
type Config struct {
	// The capacity of the server's own service: see Capacity.
	Workers  int
	Backlog  int
	WhenFull WhenFull
	Order    Order
	Service  Service
	// Services are more services behind the server, each with routes of its own.
	// What follows holds for all of them.
	Services []Backend
	// RouteTimes are the routes whose attempts take a time of their own.
	RouteTimes []RouteTime
	// ClassFactor is how many times as long the attempts of a class take, in
	// thousandths; 0 counts as 1000.
	ClassFactor [wire.NumClasses]int64
	// CodelTarget and CodelInterval are the times of AdaptiveLIFO and Codel; 0
	// is the default of package queue.
	CodelTarget, CodelInterval time.Duration
	// RejectionCost is the share of a service time, in thousandths, for which a
	// worker is taken up by an attempt that the server turns away; it is answered
	// at the end of that. 0 answers at once. What faults answer costs nothing.
	RejectionCost int64
	Abandoned     Abandoned
	ColdStart     ColdStart
	Limit         RateLimit
	// ClockSkew is how far the server's clock, by which it writes dates, is ahead
	// of the right one; negative is behind.
	ClockSkew time.Duration
	Effects   Effects
	// Faults is what goes wrong and when. Their order is that of precedence.
	Faults []Fault
	// Routes are the paths that wire.Attempt.Route is an index into. Faults that
	// match a path need them in virtual runs.
	Routes []string
	// Headers are the request fields by class, as in "X-Tenant: gold", likewise.
	Headers [wire.NumClasses]string
}

// Kind is what goes wrong.
type Kind uint8

// The kinds of fault. What each does is in a file of its own, which the table
// in kinds.go refers to.
const (
	// Outage takes the server away, in the manner How.
	Outage Kind = iota
	// Errors answers a share of the attempts with Status at once.
	Errors
	// Latency makes each attempt's service take Added longer, or as long.
	Latency
	// Quota puts the rate limit Limit in force.
	Quota
	// CapacityCut leaves the server only the share Left of its workers.
	CapacityCut
	// Close closes the connection in order (FIN), at Point.
	Close
	// Reset resets the connection (RST), at Point.
	Reset
	// Truncated closes the connection when half of the body is written.
	Truncated
	// Garbage answers with a body that is not what its type says; the framing
	// is right.
	Garbage
	// BadChunk sends a chunk whose size cannot be read.
	BadChunk
	// Drip writes the body bit by bit, over Over.
	Drip
	// SlowHeader writes the header bit by bit, over Over.
	SlowHeader
	// IdleClose closes connections that have been idle for After.
	IdleClose

	// NumKinds is the number of kinds.
	NumKinds = int(IdleClose) + 1
)

// Fault is one thing that goes wrong, and when. Its window begins at Start,
// lasts Length, and comes again every Every.
type Fault struct {
	Name string
	Kind Kind
	// Start is when the first window begins.
	Start time.Duration
	// Length is how long each window lasts; 0 is without end. A Manual fault
	// without one, begun by hand, is on until a hand ends it.
	Length time.Duration
	// Every is the time from one window's beginning to the next, which is longer
	// than the window; 0 is once.
	Every time.Duration
	// Manual leaves the fault to the hand: it has no windows of its own.
	Manual bool

	// Match says whose attempts may be hit, and Count which of those.
	Match Match
	Count Count
	// Share is the share of what Match and Count leave that is hit, in
	// millionths. 0 hits none, Always hits all. It does nothing to an outage, a
	// quota, a cut of capacity and the closing of idle connections, which have no
	// draw.
	Share int64
	// Unit is what Share is drawn for.
	Unit Unit

	// How is the manner of an Outage.
	How Manner
	// Status is what Errors answers with, and Body the text that comes with it;
	// the status's own if it is empty.
	Status uint16
	Body   string
	// Added is the mean of what Latency adds, or puts in the place of the service
	// time if Replace is set. Shape is its distribution; what goes with it is as
	// in Service.
	Added   time.Duration
	Replace bool
	Shape   Shape
	Sigma   int64
	Spread  int64
	Alpha   int64
	// Wave is how what Latency adds swings over time, and Period the length of
	// one swing.
	Wave   Wave
	Period time.Duration
	// Limit is what Quota puts in force.
	Limit RateLimit
	// Left is the share of the workers that CapacityCut leaves, in thousandths;
	// parts of a worker are left out.
	Left int64
	// Point is where Close and Reset end the connection.
	Point Point
	// Over is how long Drip and SlowHeader take to write.
	Over time.Duration
	// After is how long IdleClose lets a connection be idle. Race is how long
	// after that a request may still be on its way to it; virtual runs only.
	After time.Duration
	Race  time.Duration
}
