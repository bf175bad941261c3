// Package page holds the pages of the screen and what can be laid over them:
// help, palette, scenario list, fault list, prompt. A page draws one View (a
// snapshot of the run and what surrounds it) and turns keys into Requests; it
// neither holds the run nor changes it.
//
// The package imports keymap, theme, widget, and the types of snapshots,
// scenarios and knobs. It must not import tui, nor anything that runs.
package page

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/knob"
	"herdscope/engine/metrics"
	"herdscope/scenarios"
	"herdscope/tui/keymap"
	"herdscope/tui/widget"
)

// Status is what the frame shows of a run.
type Status struct {
	Live bool
	// Foreign says that the clients are not ours: what only they know is not
	// there to be seen.
	Foreign bool
	Paused  bool
	Done    bool
	Seed    uint64
	Elapsed clock.Instant
	// Speed is how fast the run clock goes against the wall clock: 1 as asked,
	// less if the machine cannot keep up.
	Speed float64
	// Notice is what the environment does to the numbers, such as a sender that
	// is behind schedule; empty if nothing.
	Notice string
	// Target is where the server listens, for live runs.
	Target string
	// Err is why a run ended early.
	Err error
}

// Knob is a setting that can be tuned, with its value now.
type Knob struct {
	knob.Spec
	Value int64
}

// View is all that a page draws.
type View struct {
	Snap     *metrics.Snapshot
	Scenario scenarios.Scenario
	Status   Status
	// Knobs are the settings of the tuning panel, in its order; Tune is what is
	// selected among them.
	Knobs []Knob
	Tune  *Tune
	// Span is how much time the charts are asked to show.
	Span time.Duration
}

// RequestKind says what a page wants to be done.
type RequestKind uint8

// What pages want to be done.
const (
	// Nothing: the key did nothing, or changed only what is shown.
	Nothing RequestKind = iota
	// Close the overlay.
	Close
	// Act applies Action to the run.
	Act
	// Run does the command Command with Arg, as if its key were pressed.
	Run
	// OpenScenario opens the scenario Arg of the library.
	OpenScenario
	// Prompt asks for a value of the knob named in Action.
	Prompt
	// Complain shows Text as an error.
	Complain
)

// Request is what a page wants to be done.
type Request struct {
	Kind    RequestKind
	Action  scenarios.Action
	Command keymap.Command
	Arg     int
	Text    string
	// Keep leaves an overlay open that would otherwise close.
	Keep bool
}

// Page is one page of the screen.
type Page interface {
	// Title is its name in the tabs.
	Title() string
	// Draw draws the page.
	Draw(a widget.Area, v View)
	// Watch says what the page needs to see in snapshots to fill w by h cells.
	Watch(w, h int, v View) metrics.Watch
	// Keys are the commands that matter on this page most, for the footer.
	Keys() []keymap.Command
	// Filter shows the next selection of what the page lists, and says which; false
	// if the page has nothing to select from.
	Filter() (which string, ok bool)
	// Turn shows the next of what the page lists, or those before them if by is -1;
	// false if all that there is fits.
	Turn(by int) bool
	// NextPanel shows one panel alone, then the next, then all of them.
	NextPanel()
	// AllPanels shows all panels again; false if they were shown.
	AllPanels() bool
	// Alone says whether one panel is shown alone in w by h cells.
	Alone(w, h int) bool
}

// MinWidth and MinHeight are the smallest body that pages draw something
// useful in.
const (
	MinWidth  = 24
	MinHeight = 5
)

// DefaultSpan is the time that charts show unless told otherwise.
const DefaultSpan = 20 * time.Second

// Pages are the pages that there are, in the order of their digits.
func Pages() []Page { return []Page{&Overview{}, &Herd{}, &Breakers{}, &Queues{}, &Latency{}} }
