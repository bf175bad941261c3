package metrics

import (
	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// faultState is one fault as its events tell it.
type faultState struct {
	plan  FaultPlan
	hand  wire.FaultDo // FaultAuto, FaultOn or FaultOff
	on    bool
	began clock.Instant
	until clock.Instant
	hits  int64
	// before is the hits when it began, missed the windows that hit nobody.
	before, missed int64
}

func newFaults(plans []FaultPlan) []faultState {
	faults := make([]faultState, len(plans))
	for i, p := range plans {
		faults[i] = faultState{plan: p, began: clock.Never, until: clock.Never}
	}
	return faults
}

// fault takes in what concerns faults alone.
func (c *Collector) fault(e *wire.Event) {
	switch e.Kind {
	case wire.FaultBegan:
		c.faultBegan(e)
	case wire.FaultEnded:
		c.faultEnded(e)
	case wire.FaultStruck:
		c.hit(e.Fault)
	case wire.ServerSwallowed:
		c.server.swallowed++
		c.server.abort(e)
		c.hit(e.Fault)
	case wire.FaultMissed:
		if int(e.Fault) < len(c.faults) {
			c.faults[e.Fault].missed++
		}
	}
}

// hit counts an attempt that a fault has hit.
func (c *Collector) hit(fault uint8) {
	if int(fault) < len(c.faults) {
		c.faults[fault].hits++
	}
}

// SetFault says what a hand does to a fault: one that is held on or off has no
// windows to come, until it is given back to its schedule. FaultNow changes that
// only for a fault without a length, which it holds on.
func (c *Collector) SetFault(fault uint8, do wire.FaultDo) {
	if int(fault) >= len(c.faults) {
		return
	}
	f := &c.faults[fault]
	switch {
	case do != wire.FaultNow:
		f.hand = do
	case f.plan.Length <= 0:
		f.hand = wire.FaultOn
	}
}

// FaultName is the name of the fault with the given index; empty if there is none.
func (c *Collector) FaultName(fault uint8) string {
	if int(fault) < len(c.faults) {
		return c.faults[fault].plan.Name
	}
	return ""
}

func (c *Collector) faultBegan(e *wire.Event) {
	if int(e.Fault) >= len(c.faults) {
		return
	}
	f := &c.faults[e.Fault]
	if f.on {
		return
	}
	until := e.Until
	if until <= e.At {
		until = clock.Never
	}
	c.cycles.begin(e.Fault, e.At)
	f.on, f.began, f.until, f.before = true, e.At, until, f.hits
	c.whole.edge(edge{at: e.At, fault: e.Fault, begins: true})
	c.story.mark(Mark{Kind: MarkFault, At: e.At, Until: until, Text: f.plan.Name})
	c.story.note(Note{Kind: NoteFaultBegan, At: e.At, Text: f.plan.Name})
}

func (c *Collector) faultEnded(e *wire.Event) {
	if int(e.Fault) >= len(c.faults) || !c.faults[e.Fault].on {
		return
	}
	f := &c.faults[e.Fault]
	f.on, f.until = false, clock.Never
	c.whole.edge(edge{at: e.At, fault: e.Fault})
	c.story.endMark(f.plan.Name, f.began, e.At)
	c.story.note(Note{Kind: NoteFaultEnded, At: e.At, N: f.hits - f.before, Text: f.plan.Name})
}

func (f *faultState) view(now clock.Instant) FaultView {
	next := clock.Never
	if f.plan.Next != nil && f.hand == wire.FaultAuto {
		next = f.plan.Next(now)
	}
	return FaultView{
		Name: f.plan.Name, On: f.on, Hand: f.hand, Began: f.began, Until: f.until,
		Next: next, Length: f.plan.Length, Hits: f.hits,
		Missed: f.missed,
	}
}
