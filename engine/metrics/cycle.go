package metrics

import (
	"time"

	"herdscope/engine/clock"
)

// cycles remembers what Now was at each whole second after a fault began, so
// that a change can be judged by the same moment of the fault before it: a quiet
// time is no measure for an outage.
type cycles struct {
	fault uint8
	began clock.Instant
	any   bool // a fault has begun
	// now is the cycle under way, a Headline per second since the fault began;
	// before is the whole cycle that came before it under the same settings.
	now, before []Headline
	// measure is what the present settings are measured by: the cycle that was
	// under way when they were made, and beyond its end the one before it.
	measure []Headline
	changed clock.Instant // when the settings were last changed; before the run if never
}

// longestCycle is how many seconds of a cycle are remembered.
const longestCycle = 600

// begin starts a cycle with the beginning of a fault.
func (c *cycles) begin(fault uint8, at clock.Instant) {
	c.before, c.now = c.now, c.before[:0]
	other := !c.any || fault != c.fault
	if other || c.changed >= c.began {
		c.before = c.before[:0] // of another fault, or of two settings
	}
	if other {
		c.measure = c.measure[:0]
	}
	c.fault, c.began, c.any = fault, at, true
}

// due says whether a whole second of the cycle has passed that is to be noted.
func (c *cycles) due(at clock.Instant) bool {
	return c.any && len(c.now) < longestCycle && c.offset(at) >= len(c.now)
}

// note notes what Now is at a second that is due.
func (c *cycles) note(h Headline) { c.now = append(c.now, h) }

// change says that a setting was changed: what is remembered is what the new
// ones are measured by.
func (c *cycles) change(at clock.Instant) {
	if at.Sub(c.changed) >= time.Second || len(c.measure) == 0 { // not a key held down
		c.measure = append(c.measure[:0], c.now...)
		if len(c.before) > len(c.now) {
			c.measure = append(c.measure, c.before[len(c.now):]...)
		}
		c.before = c.before[:0]
	}
	c.changed = at
}

// at is what Now was at the same moment of the cycle before the change; false
// if no fault has begun since then, or that moment was not seen.
func (c *cycles) at(now clock.Instant) (Headline, bool) {
	i := c.offset(now)
	if !c.any || c.began < c.changed || i >= len(c.measure) {
		return Headline{}, false
	}
	return c.measure[i], true
}

func (c *cycles) offset(at clock.Instant) int {
	return int(max(0, at.Sub(c.began)) / time.Second)
}
