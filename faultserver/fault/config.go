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
}

// Kind is what goes wrong.
type Kind uint8

// The kinds of fault.
const (
	// Outage resets what is in flight when it begins, and accepts and resets
	// whatever arrives while it lasts.
	Outage Kind = iota
	// Errors answers a share of the attempts with Status at once.
	Errors
	// Latency makes each attempt's service take Added longer.
	Latency
	// Quota puts the rate limit Limit in force.
	Quota

	// NumKinds is the number of kinds.
	NumKinds = int(Quota) + 1
)

// Fault is one thing that goes wrong, and when. Its window begins at Start,
// lasts Length, and comes again every Every.
type Fault struct {
	Name string
	Kind Kind
	// Start is when the first window begins.
	Start time.Duration
	// Length is how long each window lasts. Only a Manual fault can do without
	// one: begun by hand, it is then on until a hand ends it.
	Length time.Duration
	// Every is the time from one window's beginning to the next, which is longer
	// than the window; 0 is once.
	Every time.Duration
	// Manual leaves the fault to the hand: it has no windows of its own.
	Manual bool
	// Status is what Errors answers with.
	Status uint16
	// Share is the share of attempts that Errors hits, in thousandths. 0 hits
	// none, 1000 hits all.
	Share int64
	// Added is what Latency adds.
	Added time.Duration
	// Limit is what Quota puts in force.
	Limit RateLimit
}
