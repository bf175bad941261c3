// Package report writes what is left of a run: a summary for people (Text), one
// for programs (JSON), and what happened on the way, line by line (Events).
//
// It reads results and changes nothing; it has no clock and touches no file of
// its own accord: it writes where it is told and returns the writer's errors.
// It imports run, metrics, scenarios and the vocabulary of wire and clock.
package report

import (
	"strconv"
	"time"

	"herdscope/engine/metrics"
	"herdscope/scenarios/run"
)

func mode(live bool) string {
	if live {
		return "live"
	}
	return "virtual"
}

// statusKey names a status; attempts without any response are counted under 0.
func statusKey(status uint16) string {
	if status == 0 {
		return "none"
	}
	return strconv.Itoa(int(status))
}

// at is the q-th percentile, 100 being the largest value, and whether there
// were enough samples to tell it: at least one must lie above it, so the 90th
// needs ten and the 99th a hundred.
func at(p metrics.Percentiles, q int) (time.Duration, bool) {
	switch {
	case q == 50:
		return p.P50, p.Count > 0
	case q == 90:
		return p.P90, p.Count >= 10
	case q == 99:
		return p.P99, p.Count >= 100
	}
	return p.Max, p.Count > 0
}

// usualBin is the bin width in which arrivals are counted.
const usualBin = 100 * time.Millisecond

// fanoWidths are the bin widths of metrics.Herd.Fano; a run too short to have
// any bins is described with the usual ones.
func fanoWidths(bin time.Duration) [3]time.Duration {
	if bin <= 0 {
		bin = usualBin
	}
	return [3]time.Duration{bin, 10 * bin, 100 * bin}
}

func noRecovery(r metrics.Recovery) string {
	if r.Why == "" {
		return "not known"
	}
	return r.Why
}

// limitedWorkers says whether there is such a thing as a share of workers busy:
// the number of workers may have been changed on the way, so a share that was
// measured counts as well.
func limitedWorkers(r run.Result) bool {
	return r.Scenario.ServerWorkers() > 0 || r.Summary.BusyShare > 0
}
