package metrics

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// Snapshot is what the screen reads: everything known about a run at one
// moment. It is never changed after it was made, so that any goroutine may keep
// it. No number in it is NaN or infinite; where there is not enough data, the
// field's Enough or count says so.
type Snapshot struct {
	// Seq grows by one with every snapshot of a run.
	Seq     uint64
	At      clock.Instant
	Clients int

	// Requests counts the requests that have begun; Outcomes splits them, so
	// that its sum, Unfinished included, is Requests.
	Requests int64
	Outcomes [wire.NumOutcomes]int64
	// Attempts counts the attempts sent, Retries those of them that were not
	// first tries.
	Attempts int64
	Retries  int64
	// InFlight, Waiting and Sleeping are the attempts under way, the requests
	// in queues and the requests in backoff, now.
	InFlight int64
	Waiting  int64
	Sleeping int64
	// Sharing is the requests that share a flight, save one of each, now; Nesting
	// those that have their reply and keep their slot for nested requests.
	Sharing, Nesting int64
	// Deadlocks counts the nested requests that were given up because they could
	// never have got a slot.
	Deadlocks int64
	// Paused is how many scopes of clients have a limit of 0 now, of those in which
	// anything has happened.
	Paused int64
	// Missed counts arrivals that a stalled sender had to leave out.
	Missed int64
	// Denied counts the retries that a budget refused.
	Denied int64
	// Lag is the largest delay between an intended and a real start in the last
	// second.
	Lag time.Duration

	// Now describes the last Window. Changed says that a setting was changed, and
	// Was is what Now was before: in the time after a fault, at the same whole
	// second after the last such fault before the change; otherwise, or if that
	// was not seen, when the change was made.
	Now     Headline
	Was     Headline
	Changed bool
	// Window is the length that Now describes: ten seconds, less while the run
	// is younger.
	Window time.Duration

	// Bins is the recent history, oldest first, without gaps; the last one is
	// not over yet. BinWidth is their width.
	Bins     []Bin
	BinWidth time.Duration

	Breakers BreakerView
	Queues   [wire.NumClasses]QueueView
	Limits   LimitView
	Sockets  SocketView
	Server   ServerView
	Faults   []FaultView
	// Marks are the moments to draw under a time axis, oldest first.
	Marks []Mark
	// Notes are the notable things that happened, oldest first.
	Notes []Note
	// Recovery is how long the last outage or other fault took to be overcome.
	Recovery Recovery
	// Raster is the attempts by client and time; nil unless watched.
	Raster *Raster
	// Latency is what people wait; nil unless its heat map is watched.
	Latency *LatencyView
	// Lines is who waits for a slot and who goes before whom; nil unless watched.
	Lines *LineView
	// Lanes is breakers in detail; nil unless some are watched.
	Lanes *LaneView
}

// Headline is the numbers that say how the system is.
type Headline struct {
	// Offered is requests begun, Sent attempts sent, Goodput requests that
	// succeeded, all per second.
	Offered float64
	Sent    float64
	Goodput float64
	// Amplification is attempts sent over requests begun; 0 if none began.
	Amplification float64
	// PeakToMean is the fullest bin of arrivals over the mean bin; Chance is
	// what a random stream of this rate would show; both are 0 if nothing
	// arrived.
	PeakToMean float64
	Chance     float64
	// P50, P99 and Max are of the latency of requests from their intended
	// start, over the Count that succeeded in this second of the run clock and
	// the nine before it. P99 is 0 while Count is under 100.
	P50, P99, Max time.Duration
	Count         int64
}

// Bin is what happened in one BinWidth of the run.
type Bin struct {
	Start clock.Instant
	// First and Retry are arrivals at the server: first tries and retries.
	First int32
	Retry int32
	// Began are requests that began, Sent attempts that were sent, those of
	// before the run left out.
	Began int32
	Sent  int32
	// Asked are the attempts by class that wanted a slot, at once or in a queue,
	// Started those that were sent.
	Asked, Started [wire.NumClasses]int32
	// Good are requests that succeeded, Bad those that ended in any other way.
	Good int32
	Bad  int32
	// Ended splits Good and Bad by outcome.
	Ended [wire.NumOutcomes]int32
	// Refused are attempts that the server reset or rejected.
	Refused int32
	// States is how many breakers were in each state at the end of the bin, and
	// HalfOpened how many became half-open in it.
	States     [wire.NumBreakerStates]int32
	HalfOpened int32
	// Waiting is how many requests of each class waited at the end of the bin.
	Waiting [wire.NumClasses]int32
	// Busy and Backlog are the server's workers and backlog at its end.
	Busy    int32
	Backlog int32
	// Limit is the mean limit of the scopes whose limiter has moved it, at its
	// end; 0 if none has.
	Limit float32
}

// BreakerView is the state of all breakers.
type BreakerView struct {
	// On says that breakers are in use at all, and Shared that all clients share
	// them.
	On, Shared bool
	// Counts is how many breakers are in each state, and Total how many there
	// are: one for each scope of each client, or of them all.
	Counts [wire.NumBreakerStates]int64
	Total  int64
	// Opened, HalfOpened and Closed count the transitions into each state.
	Opened, HalfOpened, Closed int64
	// OpenShare is the share of all breaker time spent open or eligible so far.
	OpenShare float64
	// Last are the latest transitions, oldest first; at most LastChanges.
	Last []wire.Event
}

// LastChanges is how many breaker transitions a Snapshot carries.
const LastChanges = 16

// QueueView is the queues of one class, over all clients.
type QueueView struct {
	// Waiting is how many requests wait, Oldest the age of the oldest now.
	Waiting int64
	Oldest  time.Duration
	// P50, P99 and Max are of the Count waits so far: one for each attempt, 0 if
	// it found a slot at once, one for each request that left a queue unsent,
	// and the waits that still go on, as long as they have been.
	P50, P99, Max time.Duration
	Count         int64
	// Starving says that the class starves somewhere now; Starved counts how
	// often starvation began.
	Starving bool
	Starved  int64
}

// ServerView is the server's state.
type ServerView struct {
	Busy    int64
	Backlog int64
	// Arrivals, Rejected, Reset, Done, Cancelled and Swallowed count attempts.
	Arrivals, Rejected, Reset, Done, Cancelled, Swallowed int64
	// WastedShare is the share of all work done for nothing: for callers that
	// had left, for replies of 400 and more, for connections that were reset,
	// and on turning attempts away. BusyShare is the share of worker time in use, not counting the time
	// in which the workers were unlimited; 0 if they always were. Both are of
	// the whole run so far.
	WastedShare float64
	BusyShare   float64
	// Duplicates counts the effects of unsafe requests beyond the first, Repeated
	// the requests that had them. Replayed counts the attempts that got the stored
	// reply of an earlier one instead.
	Duplicates, Repeated, Replayed int64
	// Early, OnTime and Late count the returns after a Retry-After: before the
	// moment that it names, up to wire.ReturnTolerance after it, and later. Untold
	// counts those after one that nobody can read.
	Early, OnTime, Late, Untold int64
}

// FaultView is one fault of the server.
type FaultView struct {
	Name string
	On   bool
	// Hand is what holds it: FaultOn or FaultOff, or FaultAuto for its schedule.
	Hand wire.FaultDo
	// Began is when it last began; clock.Never if it never has.
	Began clock.Instant
	// Until is when the present window ends, or clock.Never if that is open.
	Until clock.Instant
	// Next is when the next window begins, or clock.Never if none is planned or
	// a hand holds the fault.
	Next clock.Instant
	// Length is the length of a window.
	Length time.Duration
	// Hits counts the attempts that it has hit.
	Hits int64
	// Missed counts its windows that have ended and had hit nobody.
	Missed int64
}

// MarkKind says what a Mark marks.
type MarkKind uint8

// What marks mark.
const (
	// MarkFault is a window of a fault, from At to Until.
	MarkFault MarkKind = iota
	// MarkChange is a change of a setting at At; Text says which.
	MarkChange
)

// Mark is a moment or a window to draw under a time axis.
type Mark struct {
	Kind  MarkKind
	At    clock.Instant
	Until clock.Instant
	Text  string
}

// NoteKind says what a Note tells.
type NoteKind uint8

// What notes tell. N and Delay are set as each says.
const (
	// NoteFaultBegan: Text is the fault's name.
	NoteFaultBegan NoteKind = iota
	// NoteFaultEnded: Text is the fault's name; N the attempts that it hit.
	NoteFaultEnded
	// NoteHerd: N attempts arrived in the bin of 100 ms that begins At, Times
	// times the mean of the ten seconds before the wave; Times is 0 if nothing
	// arrived in those. It is the fullest bin of its wave.
	NoteHerd
	// NoteBreakersOpened: N breakers opened within Delay from At on.
	NoteBreakersOpened
	// NoteStarving: Text is the class, Delay the age of the oldest. It is of the
	// class in all queues: told when the first of them starves.
	NoteStarving
	// NoteFed: Text is the class, Delay how long it starved. It is told when no
	// queue of the class has starved for a second.
	NoteFed
	// NoteRecovered: Delay after the end of the fault Text.
	NoteRecovered
	// NoteChange: Text is the change.
	NoteChange
)

// Note is one notable thing that happened.
type Note struct {
	Kind  NoteKind
	At    clock.Instant
	N     int64
	Times float64
	Delay time.Duration
	Text  string
}

// Recovery is how the last fault that ended was overcome: the time from its end
// to the first of three 1 s bins in a row whose goodput is at least
// min(0.95 m, m - 2 sqrt m), m being the mean per second before the fault. The
// three may begin at any tenth of a second. For m, the ten seconds before the
// fault count, as far as the run was well in them: without a fault, and
// recovered from the one before. A fault that begins before that does not
// replace m.
type Recovery struct {
	// Known says that Took is known; else Why says why not.
	Known bool
	Took  time.Duration
	Why   string
}

// Raster counts attempts by client and time. Row r holds the clients from
// r*Clients/Rows up to the next row's.
type Raster struct {
	Rows, Cols int
	Start      clock.Instant
	// Width is the time that one column covers.
	Width time.Duration
	// First and Retry have Rows*Cols cells, row by row: arrivals at the server.
	// The last column is the one of now. Arrivals older than the latest 131,072
	// are forgotten.
	First, Retry []uint16
	// States is the worst breaker state of each row's clients now, in the order
	// closed, half-open, eligible, open.
	States []wire.BreakerState
}

// Watch is what a page wants to see in the snapshots. Watching is no part of
// the run: it changes nothing in it.
type Watch struct {
	// Span is how much history Bins and Raster cover; 0 is one minute.
	Span time.Duration
	// RasterRows and RasterCols are the raster's size; 0 is no raster. There are
	// no more rows than clients.
	RasterRows, RasterCols int
	// HeatRows and HeatCols are the size of the heat map; 0 is no LatencyView.
	HeatRows, HeatCols int
	// Lines says that a LineView is wanted.
	Lines bool
	// BreakerRows is how many breakers are wanted in detail, 0 for no LaneView,
	// after the BreakerSkip worst; BreakerFilter which, BreakerCols the length of
	// their strips; Flips is how many groups of transitions.
	BreakerRows, BreakerSkip, BreakerCols, Flips int
	BreakerFilter                                BreakerFilter
}
