package run

import (
	"sync"
	"sync/atomic"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/scenarios"
)

// hub is where the events of the fleet and of the server come together: in a
// live run they come from two goroutines.
type hub struct {
	mu        sync.Mutex
	collector *metrics.Collector
	others    []wire.Observer
	open      int64 // requests that have begun and not ended
	watched   metrics.Watch
	surveyed  int64        // the bin of the last survey; -1 if there is none for the watch
	warm      atomic.Int64 // requests that the server holds from before the run
	// guests is set if the clients are not ours.
	guests *guestBook
}

// Observe shows an event to everybody who watches.
func (h *hub) Observe(e wire.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.guests != nil {
		h.meet(e)
		return
	}
	h.emit(e)
}

// emit shows an event to everybody. h.mu is held.
func (h *hub) emit(e wire.Event) {
	switch {
	case e.Kind == wire.RequestBegan:
		h.open++
	case e.Kind == wire.RequestDone:
		h.open--
	case e.Kind == wire.ServerArrived && e.Warm:
		h.warm.Add(1)
	}
	h.collector.Observe(e)
	for _, o := range h.others {
		o.Observe(e)
	}
}

// snapshot is the state of the run at now.
func (h *hub) snapshot(now clock.Instant) *metrics.Snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.collector.Advance(now)
	if h.guests != nil {
		h.guests.giveUp(now, h.emit)
	}
	return h.collector.Snapshot()
}

// summary is what is left of a run that ends at now.
func (h *hub) summary(now clock.Instant) metrics.Summary {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.collector.Advance(now)
	return h.collector.Summary()
}

// mark notes what was done by hand or by the timeline.
func (h *hub) mark(at clock.Instant, a scenarios.Action) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a.Kind == scenarios.DoFault {
		h.collector.MarkDone(at, a.String())
		return
	}
	h.collector.Mark(at, a.String())
}

func (h *hub) watch(w metrics.Watch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.collector.SetWatch(w)
	h.watched, h.surveyed = w, -1
}

// unfinished is how many requests have begun and not ended.
func (h *hub) unfinished() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open
}

// retuned tells the metrics what they must know of an action: the settings after
// it, and what it did to a fault.
func (h *hub) retuned(s scenarios.Scenario, did inputs) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if did.server.Kind == wire.ServerFault && did.toServer {
		h.collector.SetFault(did.server.Fault, did.server.Do)
	}
	h.collector.SetWorkers(s.ServerWorkers())
	h.collector.SetBreakersOn(s.Fleet.Policy.Breaker.On())
	h.collector.SetBreakersShared(s.Fleet.Policy.Breaker.Shared)
}

// fractionOfSecond is how far into a whole second a Unix time in nanoseconds is.
func fractionOfSecond(unixNanos int64) time.Duration {
	f := unixNanos % int64(time.Second)
	if f < 0 {
		f += int64(time.Second)
	}
	return time.Duration(f)
}
