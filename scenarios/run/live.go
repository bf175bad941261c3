package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/live"
	"herdscope/engine/wire"
	"herdscope/faultserver"
	"herdscope/scenarios"
)

// overWire is a run over real HTTP and the wall clock.
type overWire struct {
	parts
	clock  *live.Clock
	server *faultserver.Server
	driver *live.Driver
	cut    context.CancelFunc
	done   chan struct{} // closed when the driver has returned
	failed atomic.Pointer[error]
}

// startLive starts the server and then the fleet. The run clock stands at 0
// until the server holds what was under way when the run began.
func startLive(s scenarios.Scenario, o Options) (*overWire, error) {
	runClock := live.NewClock()
	p, err := build(s, runClock.EpochUnixNanos(), o)
	if err != nil {
		return nil, err
	}
	server, err := faultserver.Start(faultserver.Config{
		Addr: o.Addr, Model: p.model, Clock: runClock, Observer: p.hub.Observe,
		ErrorLog: o.Log, Routes: s.Routes,
	})
	if err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	driver, err := live.New(live.Config{
		Fleet: p.fleet, Clock: runClock, BaseURL: server.URL(), Routes: s.Routes,
		Clients: s.Fleet.Clients, Observe: telling(server, p.hub.Observe),
		OwnConnections: s.Server.KeepsConnections(), Headers: s.Headers,
		Ready: func(sent int) bool { return p.hub.warm.Load() >= int64(sent) },
	})
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	l := &overWire{parts: p, clock: runClock, server: server, driver: driver, done: make(chan struct{})}
	l.run()
	return l, nil
}

// telling is an observer that also tells the server of attempts that found no
// listener, since it cannot see them.
func telling(server *faultserver.Server, observe func(wire.Event)) func(wire.Event) {
	return func(e wire.Event) {
		observe(e)
		if e.Kind == wire.AttemptEnded && e.Cause == wire.CauseRefused {
			server.Refused(wire.Attempt{ID: e.ID, Class: e.Class, Method: e.Method, Scope: e.Scope})
		}
	}
}

// run lets the driver go until close.
func (l *overWire) run() {
	ctx, cut := context.WithCancel(context.Background())
	l.cut = cut
	go func() {
		defer close(l.done)
		err := sound("fleet", func() error { return l.driver.Run(ctx) })
		if err != nil {
			l.failed.Store(&err)
			cut()
		}
	}()
}

// sound turns a panic into an error with its stack: a bug must not take the
// screen down with the terminal in disorder.
func sound(who string, do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s panicked: %v\n%s", who, p, debug.Stack())
		}
	}()
	return do()
}

func (l *overWire) now() clock.Instant { return l.clock.Now() }

func (l *overWire) do(in inputs) error {
	if in.toServer {
		return l.server.Do(in.server)
	}
	return l.driver.Do(in.fleet)
}

func (l *overWire) stop() error { return l.driver.Do(fleet.Input{Kind: fleet.Stop}) }

// advance has nothing to do: the wall clock does it. It tells whether either
// end has failed.
func (l *overWire) advance(clock.Instant) error { return cmp.Or(l.failure(), l.server.Err()) }

// failure is why the driver has ended by itself; nil if it has not.
func (l *overWire) failure() error {
	if err := l.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// look does nothing after the end of the run.
func (l *overWire) look(look func(clock.Instant, *fleet.Fleet)) {
	_ = l.driver.Look(func(now clock.Instant) { look(now, l.fleet) })
}

func (l *overWire) pause(paused bool) {
	if paused {
		l.clock.Pause()
	} else {
		l.clock.Resume()
	}
}

func (l *overWire) condition() condition {
	return condition{speed: 1, notice: l.driver.Notice(), target: l.server.URL()}
}

// close cuts what is in flight, and waits for both ends.
func (l *overWire) close() error {
	l.cut()
	<-l.done
	return errors.Join(l.failure(), l.server.Close())
}

// glance is how often a headless live run looks at the clock.
const glance = 10 * time.Millisecond

func (h *headless) runLive(ctx context.Context) (Result, error) {
	l, err := startLive(h.scenario, h.options)
	if err != nil {
		return Result{}, err
	}
	err = h.watchLive(ctx, l)
	result := h.result(l.hub, l.now(), ctx)
	return result, errors.Join(err, l.close())
}

// watchLive does what the timeline says until the run has had its time and its
// drain.
func (h *headless) watchLive(ctx context.Context, l *overWire) error {
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	for l.now() < h.end() {
		if err := errors.Join(h.act(l, l.hub), l.advance(clock.Never)); err != nil {
			return err
		}
		h.tell(l.hub, l.now())
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
	h.window = l.hub.summary(h.end())
	if h.scenario.Drain <= 0 {
		return nil
	}
	return h.drainLive(ctx, l, ticker.C)
}

func (h *headless) drainLive(ctx context.Context, l *overWire, tick <-chan time.Time) error {
	if err := l.stop(); err != nil {
		return err
	}
	limit := h.end().Add(h.scenario.Drain)
	for l.now() < limit && l.hub.unfinished() > 0 {
		h.tell(l.hub, l.now())
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
		}
	}
	return nil
}
