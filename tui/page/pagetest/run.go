package pagetest

import (
	"errors"
	"slices"
	"time"

	"herdscope/engine/backoff"
	"herdscope/engine/clock"
	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
	"herdscope/scenarios"
)

// Run is a run of the model. It is not safe for concurrent use.
type Run struct {
	model   *model
	seq     uint64
	watch   metrics.Watch
	was     metrics.Headline
	changed bool
	changes []metrics.Mark
	notes   []metrics.Note
	undo    []scenarios.Action
}

// Scenario is what the model runs.
func Scenario() scenarios.Scenario {
	s := scenarios.Scenario{
		Name: "restart", Title: "A server restarts, and all come back at once", Seed: 42,
		Story: "A thousand clients hold long requests when the server restarts. Without jitter " +
			"they fail together, wait equally long, and return together: a herd at every step of the backoff.",
		Duration: 30 * time.Second,
	}
	s.Fleet.Clients = 1000
	s.Fleet.Policy.Retry.Attempts = 6
	s.Fleet.Policy.Retry.Backoff = backoff.Config{
		Curve: backoff.Exponential, Base: 1200 * time.Millisecond, Cap: 10 * time.Second, Multiplier: 2000,
	}
	s.Fleet.Policy.Breaker.OpenFor = 10 * time.Second
	s.Server.Faults = []fault.Fault{{
		Name: "outage", Kind: fault.Outage, Start: outageStart, Length: outageLength, Every: outageEvery,
	}}
	return s
}

// Gateway is the scenario with breakers, a queue, and a server of limited
// capacity.
func Gateway() scenarios.Scenario {
	s := Scenario()
	s.Name, s.Title = "gateway-down", "Breakers open, wait, and try again"
	s.Fleet.Policy.Breaker.Failures = 2
	s.Fleet.Policy.Queue.Limit = 6
	s.Server.Workers = 60
	s.Server.Service.Mean = 100 * time.Millisecond
	return s
}

// New begins a run.
func New(s scenarios.Scenario) *Run { return &Run{model: newModel(s, s.Fleet.Clients)} }

// At is a snapshot of a run of s after d, watched as w.
func At(s scenarios.Scenario, d time.Duration, w metrics.Watch) *metrics.Snapshot {
	r := New(s)
	r.Watch(w)
	r.Advance(clock.Instant(d))
	return r.Snapshot()
}

// Scenario is what runs, with the values of its settings.
func (r *Run) Scenario() scenarios.Scenario { return r.model.scenario }

// Watch says what snapshots shall hold.
func (r *Run) Watch(w metrics.Watch) { r.watch = w }

// Now is how far the run is.
func (r *Run) Now() clock.Instant { return r.model.now }

// Advance moves the run to a moment.
func (r *Run) Advance(to clock.Instant) {
	m := r.model
	for m.now+tick <= to {
		was, opened, arrived := m.down(m.now), m.opened, len(m.arrivals)
		m.advance(m.now + tick)
		is := m.down(m.now)
		switch {
		case is && !was:
			r.note(metrics.Note{Kind: metrics.NoteFaultBegan, Text: "outage"})
		case was && !is:
			r.note(metrics.Note{Kind: metrics.NoteFaultEnded, Text: "outage", N: m.hits})
		}
		if n := m.opened - opened; n >= 100 {
			r.note(metrics.Note{Kind: metrics.NoteBreakersOpened, N: n, Delay: bin})
		}
		if n := len(m.arrivals) - arrived; n >= 100 {
			r.note(metrics.Note{Kind: metrics.NoteHerd, N: int64(n), Times: float64(n) / 20})
		}
	}
}

func (r *Run) note(n metrics.Note) {
	n.At = r.model.now
	r.notes = append(r.notes, n)
}

// Do changes a setting or a fault.
func (r *Run) Do(a scenarios.Action) error {
	m := r.model
	if a.Kind == scenarios.DoFault {
		if a.Fault != "outage" {
			return errors.New("no fault " + a.Fault)
		}
		m.downByHand, m.upByHand = a.Do == wire.FaultOn || a.Do == wire.FaultNow, a.Do == wire.FaultOff
		r.mark("outage " + a.Do.String())
		return nil
	}
	before, err := m.scenario.Value(a.Knob)
	if err != nil {
		return err
	}
	if err := r.set(a); err != nil {
		return err
	}
	r.undo = append(r.undo, scenarios.Action{Kind: scenarios.SetKnob, Knob: a.Knob, Value: before})
	return nil
}

func (r *Run) set(a scenarios.Action) error {
	r.was, r.changed = r.model.headline(r.model.now), true
	if err := r.model.scenario.SetValue(a.Knob, a.Value); err != nil {
		return err
	}
	k, err := r.model.scenario.Knob(a.Knob)
	if err != nil {
		return err
	}
	r.mark(a.Knob + " = " + k.Format(a.Value))
	return nil
}

func (r *Run) mark(text string) {
	r.changes = append(r.changes, metrics.Mark{Kind: metrics.MarkChange, At: r.model.now, Text: text})
	r.note(metrics.Note{Kind: metrics.NoteChange, Text: text})
}

// Undo takes the last change of a setting back.
func (r *Run) Undo() (scenarios.Action, bool) {
	if len(r.undo) == 0 {
		return scenarios.Action{}, false
	}
	a := r.undo[len(r.undo)-1]
	r.undo = r.undo[:len(r.undo)-1]
	return a, r.set(a) == nil
}

// marks are the outages so far and the changes.
func (r *Run) marks() []metrics.Mark {
	ms := slices.Clone(r.changes)
	for at := clock.Instant(outageStart); at <= r.model.now; at = at.Add(outageEvery) {
		ms = append(ms, metrics.Mark{Kind: metrics.MarkFault, At: at, Until: at.Add(outageLength), Text: "outage"})
	}
	slices.SortStableFunc(ms, func(a, b metrics.Mark) int { return int(a.At - b.At) })
	return ms
}
