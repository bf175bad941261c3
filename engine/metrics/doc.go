// Package metrics turns the events of a run into the numbers that people read:
// counters, bins of history, percentiles and herd statistics.
//
// A Collector observes the events and is told when time passes. Snapshot is what
// a screen reads while the run goes on, Summary what is left when it is over:
//
//	c := metrics.New(config)
//	c.Observe(event) // each, in the order in which they happen
//	c.Advance(now)
//	s := c.Snapshot()
//
// It changes nothing in a run, and a run without it is the same run.
//
// # Rules
//
// Arrivals are counted at the server, in bins of 100 ms aligned to the start of
// the run. What was under way before the run began (Warm) is in the totals, but
// in no bin of arrivals, in no rate and, its age being unknown, in no latency.
//
// Events may come up to a second out of order, as they do where a fleet and a
// server are observed from two goroutines: a bin counts in the statistics of
// the whole run, in notes and in Recovery one second after its end. What is
// later still is counted in the oldest bin that is open.
//
// Memory is bounded whatever the length of the run. It holds the last ten
// minutes in bins of 100 ms, and what is older in bins that grow with their age,
// at least 3,000 of each width; merging loses no count. Statistics of the whole
// run do not come from the history but are kept up with every event. Nothing is
// allocated in steady state, save by Snapshot and Summary.
//
// A Collector is not safe for use by several goroutines; a Snapshot is never
// changed after it was made.
//
// The package imports clock and wire of this module, and nothing else of it.
package metrics
