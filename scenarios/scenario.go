package scenarios

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

// Scenario is an experiment: a fleet, a server, what goes wrong, and what a
// hand does meanwhile.
type Scenario struct {
	// Name is the scenario's key in the library: lower case words with hyphens.
	Name string
	// Title says in one line what is shown; Story in a few sentences what to
	// look for and why it happens.
	Title string
	Story string
	// Seed is the root of all draws, unless a flag gives another.
	Seed uint64
	// Duration is how long a headless run lasts. A dashboard goes on.
	Duration time.Duration
	// Drain is how long a headless run then waits for requests under way; what
	// is left after it counts as unfinished. 0 cuts at once.
	Drain time.Duration
	// Routes are the paths that the classes ask for; Scopes the names of the
	// engine's buckets. fleet.Mix refers to both by index.
	Routes []string
	Scopes []string
	// Headers are the request fields that the classes' requests carry, one each, as
	// in "X-Tenant: gold"; empty is none. Faults can match them.
	Headers [wire.NumClasses]string
	Fleet   fleet.Config
	Server  fault.Config
	// NetworkDelay is how long each message takes each way; virtual runs only.
	NetworkDelay time.Duration
	// Timeline is what a hand does at given moments, in order of time.
	Timeline []Action
}

// ActionKind says what an Action does.
type ActionKind uint8

// What actions do.
const (
	// SetKnob gives the knob Knob the value Value.
	SetKnob ActionKind = iota
	// DoFault does Do to the fault Fault.
	DoFault
)

// Action is one thing that a hand does to a running experiment.
type Action struct {
	At    clock.Instant
	Kind  ActionKind
	Knob  string
	Value int64
	Fault string
	Do    wire.FaultDo
}
