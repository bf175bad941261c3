package metrics

import (
	"fmt"
	"math"
	"time"

	"herdscope/engine/clock"
)

const (
	// recoveryBins is the three seconds in a row that make a recovery.
	recoveryBins = 3 * secondBins
	// maxEdges is how many edges of faults may wait for their bin to be over.
	maxEdges = 64
	// leastGoodput is the goodput per second above which the threshold of
	// recovery, m - 2 sqrt m, is positive.
	leastGoodput = 4
)

// edge is the beginning or the end of a fault.
type edge struct {
	at     clock.Instant
	fault  uint8
	begins bool
}

// effective is the number of the bin from which on an edge counts: a bin in
// which a fault is on for a part belongs to the fault.
func (e edge) effective() int64 {
	if e.begins {
		return e.at.Bin(binWidth)
	}
	return e.at.Add(binWidth - 1).Bin(binWidth)
}

// recovery measures how the last fault was overcome; see Recovery. It is a plain
// value, so that a copy can be carried on by itself.
type recovery struct {
	goods [recentBins]int64 // by bin number
	// edges are those that wait for their bins, oldest first.
	edges   [maxEdges]edge
	waiting int
	// next is the number of the bin to come.
	next int64

	// well is the first bin since which nothing is wrong; -1 while something is.
	well int64
	// before is how many bins there were to tell the goodput before the fault
	// from, and mean that goodput per second.
	before int64
	mean   float64

	state recoveryState
	fault uint8
	// end is when the fault ended, from the first bin after that.
	end  clock.Instant
	from int64
	// took is how long it took to recover, or until the next fault came.
	took time.Duration
}

type recoveryState uint8

const (
	noFaultYet recoveryState = iota
	recovering
	recovered
	overtaken // by the next fault
	untold    // for want of goodput before it
)

// edge takes in the beginning or the end of a fault.
func (r *recovery) edge(e edge) {
	if r.waiting == maxEdges {
		r.apply(r.edges[0])
		r.shift()
	}
	r.edges[r.waiting] = e
	r.waiting++
}

func (r *recovery) shift() {
	copy(r.edges[:], r.edges[1:r.waiting])
	r.waiting--
}

// add takes in the goodput of the next bin; it says whether that completes a
// recovery.
func (r *recovery) add(number, good int64) (complete bool) {
	r.next = number
	for r.waiting > 0 && r.edges[0].effective() <= number {
		r.apply(r.edges[0])
		r.shift()
	}
	r.goods[number%recentBins] = good
	first := number - recoveryBins + 1
	if r.state != recovering || first < r.from || !r.isGood(first) {
		return false
	}
	r.state, r.well = recovered, first
	r.took = binStart(first).Sub(r.end)
	return true
}

// isGood says whether the goodput of each of the three seconds from a bin on is
// that of before the fault.
func (r *recovery) isGood(first int64) bool {
	least := min(0.95*r.mean, r.mean-2*math.Sqrt(r.mean))
	for s := first; s < first+recoveryBins; s += secondBins {
		if float64(r.sum(s, s+secondBins)) < least {
			return false
		}
	}
	return true
}

// sum is the goodput of the bins from first up to end.
func (r *recovery) sum(first, end int64) (n int64) {
	for i := first; i < end; i++ {
		n += r.goods[i%recentBins]
	}
	return n
}

func (r *recovery) apply(e edge) {
	at := max(e.effective(), r.next) // the bins before that are over
	if e.begins {
		r.begin(e.at, at)
		return
	}
	r.state, r.fault, r.end, r.from = recovering, e.fault, e.at, at
	if r.mean <= leastGoodput {
		r.state, r.well = untold, at
	}
}

// begin takes in the beginning of a fault.
func (r *recovery) begin(at clock.Instant, number int64) {
	if r.state == recovering {
		r.state, r.took = overtaken, at.Sub(r.end)
	}
	if r.well < 0 {
		return
	}
	first := max(r.well, number-recentBins)
	r.before, r.mean, r.well = max(0, number-first), 0, -1
	if r.before >= secondBins {
		r.mean = float64(r.sum(first, number)) / float64(r.before) * float64(secondBins)
	}
}

// view is what there is to say now. The end of a fault is known before its bin is
// over, and makes what was said of the fault before it out of date.
func (r *recovery) view(now clock.Instant) Recovery {
	for i := r.waiting - 1; i >= 0; i-- {
		if e := r.edges[i]; !e.begins {
			return Recovery{Why: notYet(now.Sub(e.at))}
		}
	}
	switch r.state {
	case recovered:
		return Recovery{Known: true, Took: r.took}
	case recovering:
		return Recovery{Why: notYet(now.Sub(r.end))}
	case overtaken:
		return Recovery{Why: "not recovered in the " + inSeconds(r.took) + " up to the next fault"}
	case untold:
		return Recovery{Why: r.whyUntold()}
	}
	if r.well >= 0 && r.waiting == 0 {
		return Recovery{Why: "no fault has begun"}
	}
	return Recovery{Why: "no fault has ended yet"}
}

func notYet(after time.Duration) string { return "not yet recovered after " + inSeconds(after) }

func (r *recovery) whyUntold() string {
	switch {
	case r.before < secondBins:
		return "less than a second to compare with before the fault"
	case r.mean == 0:
		return "no goodput before the fault"
	}
	return fmt.Sprintf("a goodput of %.1f/s before the fault is too little to tell", r.mean)
}

// inSeconds is a time with one decimal, as text.
func inSeconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
