package live

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/retryafter"
	"herdscope/engine/wire"
)

// drainLimit is how much of a response that may be tried again is read before
// the engine decides, in bytes.
const drainLimit = 64 << 10

// attemptInFlight is one attempt of a call. It is in flight for as long as it is
// its call's flight; what comes of it later is nobody's business.
type attemptInFlight struct {
	wire.Attempt
	call   *call
	ctx    context.Context
	cancel context.CancelCauseFunc
	upload *upload
	// replaced says that a hook has put another body in the place of upload,
	// or around it.
	replaced bool
	sent     *http.Request // as the hooks left it
	// lead is how far the server's clock is ahead, by the response's Date.
	lead time.Duration
}

type attemptKey struct{}

func newAttempt(c *call, w wire.Attempt) *attemptInFlight {
	a := &attemptInFlight{Attempt: w, call: c}
	ctx, cancel := context.WithCancelCause(c.ctx)
	a.ctx, a.cancel = context.WithValue(ctx, attemptKey{}, a), cancel
	return a
}

// run does the attempt up to the header of its response, and beyond only for
// one that may be tried again.
func (a *attemptInFlight) run() {
	whole := false
	defer func() {
		if !whole {
			a.crashed(recover())
		}
	}()
	a.try()
	whole = true
}

func (a *attemptInFlight) try() {
	req, err := a.request()
	if err != nil {
		a.giveUp(err)
		return
	}
	resp, tr, err := a.exchange(req)
	if err != nil {
		a.failed(err, tr)
		return
	}
	if resp.Body == nil {
		resp.Body = http.NoBody
	}
	for _, hook := range a.call.t.responseHooks {
		if err := hook(resp); err != nil {
			resp.Body.Close()
			a.giveUp(err)
			return
		}
	}
	a.received(resp)
}

// crashed takes a panic of the base or of a hook to the caller, and tells the
// machine of a failure. If the caller has left, it goes on.
func (a *attemptInFlight) crashed(value any) {
	t := a.call.t
	t.mu.Lock()
	defer t.mu.Unlock()
	defer a.cancel(errAttemptOver)
	if !a.inFlight() {
		if value != nil {
			panic(value)
		}
		return
	}
	a.call.last = crash(value)
	if !a.call.ended {
		a.call.panicked = value
	}
	a.answer(wire.Reply{Kind: wire.ReplyReset}, clock.Never, engine.RetryNever)
}

// inFlight says whether the machine still waits for this attempt. It needs the
// lock.
func (a *attemptInFlight) inFlight() bool { return a.call.flight == a }

// commit tells the machine that the attempt cannot be repeated; false if it is
// not in flight, or is no more: the machine looks at its clock first. It needs
// the lock.
func (a *attemptInFlight) commit() bool {
	if a.inFlight() {
		a.call.t.step(engine.Input{Kind: engine.Commit, ID: a.ID})
	}
	return a.inFlight()
}

// spend says that the attempt is about to use up the request's body; false if
// the attempt is over.
func (a *attemptInFlight) spend() bool {
	a.call.t.mu.Lock()
	defer a.call.t.mu.Unlock()
	if !a.commit() {
		return false
	}
	a.call.noRetry = ErrBodyUsed
	a.call.source.keep()
	return true
}

// answer tells the machine what came of the attempt. It needs the lock.
func (a *attemptInFlight) answer(
	reply wire.Reply, notBefore clock.Instant, retry engine.RetryOption,
) {
	a.call.t.step(engine.Input{
		Kind: engine.Answered, ID: a.ID, Class: a.Class, Scope: a.Scope,
		Reply: reply, NotBefore: notBefore, Lead: a.lead, Retry: retry,
	})
	if a.inFlight() {
		a.call.flight = nil
	}
}

// giveUp ends the request for an error on this side.
func (a *attemptInFlight) giveUp(err error) {
	t := a.call.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if a.inFlight() {
		a.call.abandon(err)
	}
}

// request is the request that goes to the base, after the hooks.
func (a *attemptInFlight) request() (*http.Request, error) {
	c := a.call
	r := c.req.Clone(a.ctx)
	var err error
	if a.upload, err = c.source.open(a); err != nil {
		return nil, err
	}
	if a.upload != nil {
		r.Body = a.upload
	}
	if c.wish.key != "" {
		r.Header.Set(wire.KeyHeader, c.wish.key)
	}
	for _, hook := range slices.Backward(c.t.requestHooks) {
		changed, err := hook(r)
		if err != nil {
			a.closeUpload()
			return nil, err
		}
		if changed != nil {
			r = changed
		}
	}
	if r.Context().Value(attemptKey{}) != a {
		r = r.WithContext(a.ctx)
	}
	if a.upload != nil && r.Body != a.upload {
		a.replaced = true
		context.AfterFunc(a.ctx, a.closeUpload) // the base may not see it to close it
	}
	a.sent = r
	return seal(r), nil
}

func (a *attemptInFlight) closeUpload() {
	if a.upload != nil {
		a.upload.Close()
	}
}

// exchange has the base send the request, a second time only if the first was
// not seen by the server for sure.
func (a *attemptInFlight) exchange(r *http.Request) (*http.Response, *trace, error) {
	for {
		tr := &trace{}
		resp, err := a.call.t.base.RoundTrip(r.WithContext(tr.into(r.Context())))
		if err == nil || a.ctx.Err() != nil || !tr.untouched() || !a.reopen(r) {
			return resp, tr, err
		}
	}
}

// reopen gives r its body anew; false if that cannot be done.
func (a *attemptInFlight) reopen(r *http.Request) bool {
	if a.upload == nil {
		return a.sent.Body == nil || a.sent.Body == http.NoBody
	}
	if a.replaced || a.upload.used() {
		return false
	}
	body, err := a.call.source.open(a)
	if err != nil {
		return false
	}
	a.upload, r.Body = body, body
	return true
}

// failed tells the machine of an attempt without a response.
func (a *attemptInFlight) failed(err error, tr *trace) {
	c := a.call
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	defer a.cancel(errAttemptOver)
	var own *bodyError
	switch {
	case !a.inFlight():
	case c.ctx.Err() != nil:
		c.cancel(nil)
	case errors.As(err, &own) || c.t.unsent(tr):
		c.abandon(err)
	default:
		c.last = err
		retry := engine.RetryByPolicy
		if permanent(err) {
			retry = engine.RetryNever
		}
		a.answer(wire.Reply{Kind: tr.kind(err)}, clock.Never, retry)
	}
}

// received takes a response: to the caller, or first to the machine if there
// may be a retry or if all of it is there.
func (a *attemptInFlight) received(resp *http.Response) {
	body := resp.Body
	reply, notBefore := a.replyOf(resp)
	switch {
	case body == http.NoBody:
		a.judge(resp, reply, notBefore)
		a.cancel(errAttemptOver)
	case a.call.same != 0:
		a.share(resp, reply, notBefore)
	case a.mayRetry(reply):
		a.hold(resp, reply, notBefore)
	case !a.handOver(resp, reply):
		body.Close()
	}
}

func (a *attemptInFlight) mayRetry(reply wire.Reply) bool {
	t := a.call.t
	t.mu.Lock()
	defer t.mu.Unlock()
	return a.inFlight() && t.machine.MayRetry(a.ID, reply)
}

// handOver gives the caller a response whose body is still to come; false if
// the attempt is over.
func (a *attemptInFlight) handOver(resp *http.Response, reply wire.Reply) bool {
	t := a.call.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if !a.commit() {
		return false
	}
	resp.Body = newDownload(a, resp.Body, reply)
	a.call.deliver(resp)
	return true
}

// judge has the machine decide what becomes of a response that is here as far
// as it matters; it says whether the caller has it now.
func (a *attemptInFlight) judge(
	resp *http.Response, reply wire.Reply, notBefore clock.Instant,
) bool {
	t := a.call.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if !a.inFlight() {
		return false
	}
	a.call.held = resp
	a.answer(reply, notBefore, engine.RetryByPolicy)
	a.call.held = nil
	return a.call.resp == resp || a.call.taken
}

// hold reads a response and has the machine decide.
func (a *attemptInFlight) hold(resp *http.Response, reply wire.Reply, notBefore clock.Instant) {
	body := resp.Body
	begin, err := io.ReadAll(io.LimitReader(body, drainLimit))
	if err != nil {
		body.Close()
		a.broken(err)
		return
	}
	left := &rest{
		Reader: io.MultiReader(bytes.NewReader(begin), body), body: body, cancel: a.cancel,
	}
	resp.Body = left
	whole := len(begin) < drainLimit
	if whole {
		resp.Body = io.NopCloser(bytes.NewReader(begin))
	}
	if !a.judge(resp, reply, notBefore) || whole {
		left.Close()
	}
}

// broken tells the machine that the response's body broke off, and returns the
// error for whoever reads it.
func (a *attemptInFlight) broken(err error) error {
	c := a.call
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	defer a.cancel(errAttemptOver)
	switch {
	case !a.inFlight():
	case c.ctx.Err() != nil:
		c.cancel(nil)
	default:
		c.last = err
		a.answer(wire.Reply{Kind: wire.ReplyReset}, clock.Never, engine.RetryByPolicy)
	}
	if e := c.bodyErr; e == nil || e.Outcome == wire.Failed || e.Outcome == wire.Succeeded {
		return err
	}
	return c.bodyErr
}

// replyOf is a response as the machine sees it, with the moment that its
// Retry-After names by this machine's clock; and it notes the lead of the server's.
func (a *attemptInFlight) replyOf(resp *http.Response) (wire.Reply, clock.Instant) {
	reply := wire.Reply{Kind: wire.ReplyResponse, Status: uint16(resp.StatusCode)}
	now, wall := a.call.t.now(), time.Now()
	epoch := wall.UnixNano() - int64(now)
	a.lead = lead(dateOf(resp.Header), now, epoch)
	reply.Hint = retryafter.ParseFields(resp.Header.Values, wall.Unix())
	return reply, retryafter.Resolve(reply.Hint, now, epoch)
}
