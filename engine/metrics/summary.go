package metrics

import (
	"time"

	"herdscope/engine/wire"
)

// Summary is what is left of a run when it is over. Definitions are those of
// Snapshot where the names agree.
type Summary struct {
	Duration time.Duration
	Clients  int

	Requests int64
	Attempts int64
	Retries  int64
	// InFlight is the attempts that were still under way.
	InFlight int64
	Outcomes [wire.NumOutcomes]int64
	// Statuses counts the responses by status; status 0 counts the attempts
	// that ended without a response, for whatever reason.
	Statuses map[uint16]int64
	// Amplification is attempts over requests; 0 without requests.
	Amplification float64
	// Goodput is successes per second of the whole run.
	Goodput float64
	Missed  int64
	// Denied counts the retries that a budget refused.
	Denied int64
	// Joined counts the requests that joined the flight of an identical one.
	Joined int64
	// Deadlocks counts the nested requests that were given up because they could
	// never have got a slot.
	Deadlocks int64
	// ClassChanges counts how often a request was given another class.
	ClassChanges int64
	// Refreshes is how often clients got a new token; see engine.Auth.
	Refreshes Refreshes

	// Latency is from the intended start to success, by class.
	Latency [wire.NumClasses]Percentiles
	// Pages is from the intended start of the first request of a page to the
	// success of its last, without those that were held when the run began;
	// PagesFailed counts the pages that ended in another way. Both are empty if
	// arrivals are single requests without a limit of patience.
	Pages       Percentiles
	PagesFailed int64
	Herd        Herd

	Opened, HalfOpened, Closed int64
	// OpenShare is the share of all breaker time spent open or eligible.
	OpenShare float64

	// Waits are the times in queues by class, those still waiting included.
	Waits [wire.NumClasses]Percentiles
	// Oldest is the age of the oldest request still waiting, by class.
	Oldest [wire.NumClasses]time.Duration
	// Starved counts how often starvation began, by class.
	Starved [wire.NumClasses]int64
	// KeptBack counts the attempts that window protection kept from a slot, and
	// that have left the queue since, by class.
	KeptBack [wire.NumClasses]int64
	// Overtaken counts, by the class of those who waited, the starts of another
	// class in the same queue that had joined it later than they.
	Overtaken [wire.NumClasses]int64
	// ServiceGap is the longest time in which a class had somebody waiting in a
	// queue and no start there, by class; one that goes on counts.
	ServiceGap [wire.NumClasses]time.Duration
	// WaitEWMA is what simple schedulers show: the moving average of the waits of
	// those that were sent, the newest with a weight of a tenth, from 0 on. Those
	// that still wait, or gave up, are not in it; it is here for comparison.
	WaitEWMA [wire.NumClasses]time.Duration

	// Sockets is the attempts that had to wait for a connection.
	Sockets SocketView

	Early, OnTime, Late int64
	Untold              int64
	Recovery            Recovery

	Arrivals int64
	Rejected int64
	Reset    int64
	// ServerCancelled is the attempts on which the server stopped work since
	// their callers had left.
	ServerCancelled int64
	BusyShare       float64
	WastedShare     float64
	Duplicates      int64
	Repeated        int64
	Replayed        int64
	// Repeats lists the first of the requests in Repeated, MaxRepeats at most, in
	// the order of their second effects.
	Repeats []Repeat
}

// Percentiles describes a set of times. The percentiles obey
// P50 <= P90 <= P99 <= Max. All are 0 when Count is 0. A percentile p is the
// least value that p % of the values do not exceed (the nearest rank). Max is
// exact; the others are too high by at most a microsecond or 0.1 % for latencies
// and 0.8 % for waits, whichever is more. Of few values a high percentile is
// just the maximum: Count says how many there were.
type Percentiles struct {
	Count              int64
	P50, P90, P99, Max time.Duration
}

// Herd is how far the arrivals at the server were from a random stream. Refused
// arrivals count; those of before the run do not.
type Herd struct {
	BinWidth time.Duration
	// Bins is how many whole bins the run had, Arrivals how many attempts fell
	// into them. Bins are aligned to the start of the run.
	Bins     int64
	Arrivals int64
	// PeakToMean is the fullest bin over the mean one; Chance is about what a
	// Poisson stream of this mean would show: 1 + sqrt(2 ln Bins / mean), or the
	// median of what it shows if that is more and a bin holds fewer than 10. Both
	// are 0 if nothing arrived.
	PeakToMean float64
	Chance     float64
	// Fano is variance over mean of the counts per bin, at 1, 10 and 100 times
	// BinWidth; Poisson gives 1. Enough says of each that the run had 100 bins
	// of that width or more, as the statistic needs.
	Fano   [3]float64
	Enough [3]bool
	// Period is the period at which the arrivals are most in step, R how much
	// (0 to 1) and Floor what chance alone gives: sqrt(pi)/(2 sqrt n). Of
	// periods that are as good but for chance (within 2 Floor), it is the
	// longest: what comes every 4 s is in step at 2 s as well. The periods tried
	// are the steps of the configured backoff and a few plain ones. Of each, the
	// whole periods of the run count and no others, so that a broken one at the
	// end does not look like a rhythm; n is the arrivals in them. A period of
	// which the run had fewer than 4 is not tried; all three are 0 if none was.
	Period time.Duration
	R      float64
	Floor  float64
	// HintedWaveShare is, of the attempts that came back after a Retry-After in
	// waves, the share that fell into the fullest 100 ms of their wave; Hinted
	// is how many came back in waves.
	//
	// A wave is all that came back in one second of the server's clock, if
	// those were at least 30: of fewer, any tenth of a second may hold a large
	// share by chance. The second runs from 0.1 s before a whole one to 0.9 s
	// after it, and its tenths are counted from there. Retry-After names whole
	// seconds: those who obey a date return just after one, in one tenth, and
	// who comes a little early is still in the same wave; those who obey a number
	// of seconds fall anywhere, about a tenth of them into each tenth.
	HintedWaveShare float64
	Hinted          int64
}
