package live

import (
	"time"

	"herdscope/engine/clock"
)

// alarm is the owner's one timer. It is set again only if the fleet's deadline
// has changed or a pause was seen. One that was not seen makes it ring too
// early, never too late, and then it is set again.
type alarm struct {
	timer *time.Timer
	set   bool
	at    clock.Instant
}

func newAlarm() alarm {
	a := alarm{timer: time.NewTimer(0)}
	a.timer.Stop()
	return a
}

// arm sets the timer to the fleet's deadline; due says that it has come
// already.
func (a *alarm) arm(c *Clock, f Fleet) (due bool) {
	at, ok := f.Deadline()
	wait, running, _ := c.Wait(at)
	if !ok || !running {
		a.timer.Stop()
		a.set = false
		return false
	}
	if wait <= 0 {
		return true
	}
	if !a.set || a.at != at {
		a.timer.Reset(wait)
		a.set, a.at = true, at
	}
	return false
}

// rung says that the timer has fired.
func (a *alarm) rung() { a.set = false }

// warmup is the time between a run's first Tick and the start of its clock, in
// which the server gets the requests that are held when the run begins.
type warmup struct {
	clock  *Clock
	ready  func() bool
	until  time.Time
	ticker *time.Ticker
	poll   <-chan time.Time
}

func newWarmup(c *Clock, ready func() bool) warmup {
	t := time.NewTicker(readyPoll)
	return warmup{clock: c, ready: ready, until: time.Now().Add(readyLimit), ticker: t, poll: t.C}
}

// check starts the clock if the server is ready or out of time; it does
// nothing once the clock has started.
func (w *warmup) check(env *environment) {
	if w.poll == nil {
		return
	}
	late := time.Now().After(w.until)
	if w.clock.Paused() && !w.ready() && !late {
		return
	}
	if late {
		env.startedEarly()
	}
	w.clock.begin()
	w.stop()
}

func (w *warmup) stop() {
	w.ticker.Stop()
	w.poll = nil
}
