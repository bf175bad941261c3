package tui

import (
	"herdscope/engine/metrics"
	"herdscope/scenarios"
	"herdscope/tui/page"
)

// Source is a running experiment as the screen sees it. All methods return at
// once and may be called from one goroutine other than the run's.
type Source interface {
	// Scenario is what is being run, with the values of all knobs as they are
	// now.
	Scenario() scenarios.Scenario
	// Status is what the frame shows.
	Status() Status
	// Latest is the newest snapshot; never nil.
	Latest() *metrics.Snapshot
	// Watch says what the visible page wants to see.
	Watch(metrics.Watch)
	// Do applies an action now. Its At is ignored.
	Do(scenarios.Action) error
	// Undo takes back the last change of a knob; it returns what it did, and
	// false if there was nothing to take back.
	Undo() (scenarios.Action, bool)
	// Pause stops or restarts the run clock.
	Pause(bool)
	// Save writes the scenario with the actions so far to a new file and
	// returns its path.
	Save() (string, error)
	// Close ends the run and waits for it.
	Close() error
}

// Status is what the frame shows of a run.
type Status = page.Status

// Opener begins runs for the screen.
type Opener interface {
	// Open begins a run of a scenario.
	Open(s scenarios.Scenario, live bool) (Source, error)
	// Library lists the built-in scenarios.
	Library() []scenarios.Scenario
}
