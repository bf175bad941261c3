package run

import (
	"context"
	"fmt"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/metrics"
	"herdscope/scenarios"
)

// Headless runs a scenario for its Duration, lets what is under way end for at
// most its Drain, and returns what it showed. If ctx ends first, the result is
// what there was until then, and says so.
func Headless(ctx context.Context, s scenarios.Scenario, o Options) (Result, error) {
	h := &headless{scenario: s, options: o, script: newScript(s.Timeline)}
	if o.Live {
		return h.runLive(ctx)
	}
	return h.runVirtual(ctx)
}

// headless is one run to the end.
type headless struct {
	scenario scenarios.Scenario
	options  Options
	script   script
	told     time.Time       // when progress was last told
	window   metrics.Summary // at the end of Duration, before the drain
}

// end is the instant at which no more requests begin.
func (h *headless) end() clock.Instant { return clock.Instant(h.scenario.Duration) }

func (h *headless) runVirtual(ctx context.Context) (Result, error) {
	v, err := startVirtual(h.scenario, h.options)
	if err != nil {
		return Result{}, err
	}
	for v.now() < h.end() && ctx.Err() == nil {
		if err := h.actVirtual(v); err != nil {
			return Result{}, err
		}
		h.tell(v.hub, v.now())
	}
	h.window = v.hub.summary(v.now())
	if err := h.drainVirtual(ctx, v); err != nil {
		return Result{}, err
	}
	return h.result(v.hub, v.now(), ctx), nil
}

// stride is how far a virtual run goes between two looks at the context.
const stride = 100 * time.Millisecond

// actVirtual goes one stride on, or to the next action, and does it.
func (h *headless) actVirtual(v *virtual) error {
	if err := h.act(v, v.hub); err != nil {
		return err
	}
	return v.sim.RunUntil(min(v.now().Add(stride), h.script.next(), h.end()))
}

func (h *headless) drainVirtual(ctx context.Context, v *virtual) error {
	limit := h.end().Add(h.scenario.Drain)
	if v.now() >= limit {
		return nil
	}
	if err := v.stop(); err != nil {
		return err
	}
	for v.now() < limit && v.hub.unfinished() > 0 && ctx.Err() == nil {
		if err := v.sim.RunUntil(min(v.now().Add(stride), limit)); err != nil {
			return err
		}
		h.tell(v.hub, v.now())
	}
	return nil
}

// act does what the timeline has for now.
func (h *headless) act(d doer, watcher *hub) error {
	for {
		a, ok := h.script.due(d.now())
		if !ok {
			return nil
		}
		in, err := translate(&h.scenario, a)
		if err != nil {
			return fmt.Errorf("timeline at %v: %w", a.At.Duration(), err)
		}
		if err := carryOut(d, watcher, a, in, h.scenario); err != nil {
			return fmt.Errorf("timeline at %v: %w", a.At.Duration(), err)
		}
	}
}

// tell tells progress, about ten times a second.
func (h *headless) tell(watcher *hub, now clock.Instant) {
	if h.options.Progress == nil || time.Since(h.told) < stride {
		return
	}
	h.told = time.Now()
	h.options.Progress(Progress{
		At: now, Until: h.end(), Live: h.options.Live, Snapshot: watcher.snapshot(now),
	})
}

func (h *headless) result(watcher *hub, now clock.Instant, ctx context.Context) Result {
	summary := watcher.summary(now)
	if h.window.Duration > 0 {
		summary = overWindow(h.window, summary)
	}
	return Result{
		Scenario: h.scenario, Live: h.options.Live, Aborted: ctx.Err() != nil,
		Summary: summary, Faults: watcher.snapshot(now).Faults,
	}
}

// overWindow is a summary whose rates and shares are those of the window, while
// its counts include how the requests ended that were under way at its end.
func overWindow(window, final metrics.Summary) metrics.Summary {
	final.Duration, final.Goodput, final.Herd = window.Duration, window.Goodput, window.Herd
	final.BusyShare, final.WastedShare = window.BusyShare, window.WastedShare
	final.OpenShare, final.Recovery = window.OpenShare, window.Recovery
	return final
}
