package live

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"herdscope/engine"
	"herdscope/engine/wire"
)

// call is one request of a Transport while it lasts.
type call struct {
	t      *Transport
	id     wire.RequestID
	req    *http.Request
	caller context.Context // ends it
	quit   <-chan struct{} // so does this
	ctx    context.Context // of its attempts
	shared
	wish   wish
	retry  engine.RetryOption
	scope  uint8
	source source

	// settled is closed when RoundTrip can return; resp, err and panicked do
	// not change any more then.
	settled  chan struct{}
	resp     *http.Response
	err      *Error
	panicked any
	// over is closed when the machine knows the request no more.
	over chan struct{}

	// The transport's lock guards what follows.
	flight  *attemptInFlight
	held    *http.Response // what will be returned if the machine gives up now
	unwatch func() bool
	ended   bool
	bodyErr *Error // how the request ended after resp was handed over
	last    error  // of the last attempt that failed
	own     error  // what this side ended the request for
	noRetry error
}

func (t *Transport) newCall(req *http.Request) (*call, error) {
	ctx := req.Context()
	if ctx.Err() != nil {
		return nil, &Error{
			Outcome: wire.Cancelled, Reason: wire.CauseCancel, Cause: context.Cause(ctx),
		}
	}
	c := &call{
		t: t, req: req, caller: ctx, ctx: ctx, wish: t.wishOf(ctx),
		settled: make(chan struct{}), over: make(chan struct{}),
		//lint:ignore SA1019 http.Client still sets it for its Timeout.
		quit: req.Cancel,
	}
	c.retry = c.wish.retry
	if c.wish.key == "" {
		c.wish.key = req.Header.Get(wire.KeyHeader)
	}
	if c.retry == engine.RetryByPolicy && c.wish.key != "" {
		c.retry = engine.RetryAllowed
	}
	if c.wish.class >= wire.NumClasses {
		return nil, fmt.Errorf("round trip: class %v: want one of %v", c.wish.class,
			wire.ClassNames())
	}
	if t.scope != nil {
		c.scope = t.scope(req)
	}
	if c.scope >= wire.MaxScopes {
		return nil, fmt.Errorf("round trip: scope %d: want 0 to %d", c.scope, wire.MaxScopes-1)
	}
	if err := c.identify(req); err != nil {
		return nil, fmt.Errorf("round trip: %w", err)
	}
	c.source.init(c.req)
	return c, nil
}

// methodOf is the method as the machine knows it. One that it does not know is
// taken for POST, which promises nothing.
func methodOf(req *http.Request) wire.Method {
	if req.Method == "" {
		return wire.Get
	}
	if i := slices.Index(wire.MethodNames(), req.Method); i >= 0 {
		return wire.Method(i)
	}
	return wire.Post
}

// watch cancels the request when its caller does. It needs the lock.
func (c *call) watch() {
	if c.ended {
		return
	}
	c.unwatch = context.AfterFunc(c.caller, func() { c.giveUp(nil) })
	if cancel := c.quit; cancel != nil {
		go func() {
			select {
			case <-cancel:
				c.giveUp(errRequestCanceled)
			case <-c.over:
			}
		}()
	}
}

// giveUp ends the request from this side; nil stands for the context's error.
func (c *call) giveUp(own error) {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	if !c.ended {
		c.cancel(own)
	}
}

// cancel is giveUp under the lock.
func (c *call) cancel(own error) {
	c.own = own
	c.t.step(engine.Input{Kind: engine.Cancel, Request: c.id})
}

// abort ends the attempt in flight from this side. It needs the lock.
func (c *call) abort() {
	c.flight.cancel(errAttemptOver)
	c.flight = nil
}

// done settles the request as its last event says. It needs the lock.
func (c *call) done(e wire.Event) {
	c.ended = true
	c.unfollow()
	close(c.over)
	if c.unwatch != nil {
		c.unwatch()
	}
	lead := c.serving()
	c.last, c.noRetry = lead.last, lead.noRetry
	answered := e.Outcome == wire.Succeeded || e.Outcome == wire.Failed
	switch {
	case c.resp != nil:
		c.bodyErr = c.failure(e)
	case lead.held != nil && answered:
		c.deliver(c.part())
	default:
		c.err = c.failure(e)
		close(c.settled)
	}
}

// deliver hands the response of the attempt in flight to the caller. It needs
// the lock.
func (c *call) deliver(resp *http.Response) {
	flight := c.serving().flight
	result := Result{Attempts: int(flight.ID.Try), NoRetry: c.noRetry}
	sent := flight.sent.WithContext(context.WithValue(c.caller, resultKey{}, result))
	sent.Body = nil
	resp.Request = sent
	c.resp = resp
	close(c.settled)
}

// failure is the error of a request that ends without a response.
func (c *call) failure(e wire.Event) *Error {
	err := &Error{
		Outcome: e.Outcome, Reason: e.Cause, Attempts: int(e.ID.Try), Status: int(e.Status),
		Cause: c.last, NoRetry: c.noRetry,
	}
	if e.Outcome != wire.Cancelled {
		return err
	}
	switch {
	case c.own != nil:
		err.Cause = c.own
	case c.caller.Err() != nil:
		err.Cause = context.Cause(c.caller)
	case c.lead != nil && !c.t.closed:
		err.Cause = ErrAbandoned
	default:
		err.Cause = ErrClosed
	}
	return err
}
