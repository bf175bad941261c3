package fleet

import (
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// Config is a fleet: how many clients, what they ask for and when.
type Config struct {
	Clients int
	Arrival Arrival
	Mix     [wire.NumClasses]Mix
	// Policy is the policy of every client.
	Policy engine.Policy
	// Preset is the preset that was last applied to the policy's retries and
	// budget: an index into preset.All, plus one; 0 is none. What was tuned
	// after that stands.
	Preset int
}

// ArrivalKind is what makes requests begin.
type ArrivalKind uint8

// The arrival processes.
const (
	// ClosedLoop has each client think, ask, and wait for the outcome, one
	// request at a time.
	ClosedLoop ArrivalKind = iota
	// Poisson begins requests at independent moments, whatever became of
	// earlier ones.
	Poisson
	// Constant begins requests at equal distances, whatever became of earlier
	// ones.
	Constant
)

// Arrival is the process that makes requests begin.
type Arrival struct {
	Kind ArrivalKind
	// Rate is how many arrivals the whole fleet has per second, in thousandths;
	// open loops only.
	Rate int64
	// Think is the mean time between the end of a request, or of a page, and the
	// next of the same client; closed loop only.
	Think time.Duration
	// ThinkFixed makes every think time equal the mean; otherwise they are
	// exponential.
	ThinkFixed bool
	// Rest is the least time from a request or page that did not succeed to the next of
	// the same client; closed loop only. Without it, clients that do not think
	// hammer a server that fails at once.
	Rest time.Duration
	// Held is the share of clients, in thousandths, that already hold a request
	// when the run begins; closed loop only.
	Held int64
	// Chain is how many requests an arrival asks for, one after another: 0 and 1
	// are one request. More are a page: each of them begins when the one before it
	// succeeded, and if one does not, a fallback included, the page has failed and
	// asks for no more. All are of one group; the class of each is drawn from the
	// mix. At most MaxChain.
	Chain int
	// Patience is the mean of the exponential time after which the person leaves,
	// from the intended start of the arrival: what it asked for is then cancelled.
	// 0 is endless. It makes a page of a single request as well.
	Patience time.Duration
	// Keys gives every request whose method is not idempotent an Idempotency-Key
	// of its own.
	Keys bool
	// Double is the share of requests, in thousandths, that their users submit
	// twice, as with a double click. The second is a request of its own, of no
	// page, with a Since of its own, and Same as the first. Nested requests are not
	// doubled, nor those held when the run begins.
	Double int64
	// DoubleGap is the time from the first submission to the second; 0 is 300 ms.
	DoubleGap time.Duration
	// Nested is how many requests each request has nested in it: they are submitted
	// when its reply is there, the class of each drawn from the mix, and it keeps
	// its slot until they have ended. At most MaxNested.
	Nested int
}

// Mix is what the requests of one class are like.
type Mix struct {
	// Weight is the class's share of all requests, relative to the other
	// weights; 0 is none.
	Weight int
	Method wire.Method
	Route  uint8
	Scope  uint8
	// Timeout is how long an attempt may take; 0 is off.
	Timeout time.Duration
}

// InputKind says what a Fleet is told.
type InputKind uint8

// What a Fleet is told.
const (
	// Tick passes time.
	Tick InputKind = iota
	// Answered brings the reply to an attempt, as engine.Answered.
	Answered
	// Set gives the knob with index Knob in Fields the value Value.
	Set
	// Cancel gives up the request ID names, wherever it is.
	Cancel
	// Stop begins no more requests; those under way go on.
	Stop
)

// Input is one thing that a Fleet is told.
type Input struct {
	Kind      InputKind
	Knob      uint16
	Value     int64
	ID        wire.AttemptID
	Reply     wire.Reply
	NotBefore clock.Instant
	Lead      time.Duration
}
