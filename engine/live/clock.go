package live

import (
	"context"
	"sync"
	"time"

	"herdscope/engine/clock"
)

// Clock is the run clock of a live run: the wall clock minus the pauses. It
// never goes back, and stands still while it is paused. All parts of a run, the
// server's fault timeline included, read the same Clock, from any goroutine.
//
// HTTP dates need a wall date. Both ends take it to be Epoch plus the run
// clock, so a date means the same moment to them across any number of pauses,
// although the calendar on the wall has then moved on. The epoch is fixed when
// the Clock is made.
type Clock struct {
	epoch time.Time

	mu       sync.Mutex
	held     bool          // Pause was called and not undone since
	paused   bool          // the clock stands still
	at       clock.Instant // the run clock when it last stopped or started
	started  time.Time     // the wall clock when it last started
	switched chan struct{} // closed when it next stops or starts
}

// NewClock makes a Clock that is paused at instant 0.
func NewClock() *Clock {
	return &Clock{epoch: time.Now().Round(0), paused: true, switched: make(chan struct{})}
}

// Epoch is the wall date that stands for instant 0 of the run.
func (c *Clock) Epoch() time.Time { return c.epoch }

// EpochUnixNanos is Epoch in nanoseconds since 1970.
func (c *Clock) EpochUnixNanos() int64 { return c.epoch.UnixNano() }

// Now is the run clock.
func (c *Clock) Now() clock.Instant {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

// Paused says whether the clock stands still.
func (c *Clock) Paused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paused
}

// Pause stops the clock; it does nothing to one that stands still, save that a
// run that is about to start it leaves it so.
func (c *Clock) Pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = true
	if !c.paused {
		c.at = c.now()
		c.paused = true
		c.announce()
	}
}

// Resume starts the clock from where it stands; it does nothing to one that
// runs.
func (c *Clock) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = false
	c.start()
}

// Wait is how long the run clock takes to get to t, as things are now: the
// wall time d, negative if t has passed. While the clock stands still, running
// is false and d means nothing. The channel is closed when the clock next
// stops or starts.
func (c *Clock) Wait(t clock.Instant) (d time.Duration, running bool, changed <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return t.Sub(c.now()), !c.paused, c.switched
}

// SleepUntil returns when the run clock has come to t, pauses and all. It
// returns early only with the error of ctx.
func (c *Clock) SleepUntil(ctx context.Context, t clock.Instant) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		d, running, changed := c.Wait(t)
		if d <= 0 {
			return nil
		}
		timer.Stop()
		if running {
			timer.Reset(d)
		}
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// begin starts the clock of a run that is ready, unless a hand has paused it.
func (c *Clock) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.held {
		c.start()
	}
}

func (c *Clock) start() {
	if c.paused {
		c.started = time.Now()
		c.paused = false
		c.announce()
	}
}

func (c *Clock) announce() {
	close(c.switched)
	c.switched = make(chan struct{})
}

// now reads the wall clock under the lock: a reading that was taken before a
// pause but added up after it would lie beyond the instant of the pause.
func (c *Clock) now() clock.Instant {
	if c.paused {
		return c.at
	}
	return c.at.Add(time.Since(c.started))
}
