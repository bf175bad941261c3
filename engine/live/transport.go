package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// Transport is an http.RoundTripper with a policy: one engine.Machine queues
// the requests, gives them slots, asks its breakers, tries again and gives up.
//
//	client := &http.Client{Transport: transport}
//
// It is safe for concurrent use. Close it when it is no longer needed.
//
// # What the caller gets
//
// Only the final outcome: the response of the last attempt, whatever its status,
// so that a request whose retries are used up returns the last 503 with its
// body and no error, as net/http does; or an error of type *Error, if there is
// no response to return. ResultOf tells how many attempts a response took. Each
// redirect that an http.Client follows is a request of its own.
//
// What one request asks for beyond the policy is in its context: WithClass,
// WithoutRetry, WithRetry, WithIdempotencyKey, WithAttemptTimeout; WithPriority
// for a class that may change while the request is under way. A context
// that is done ends the request at once, wherever it is, and says nothing to
// the breaker.
//
// # Responses
//
// A response that is not tried again is handed over as soon as its header is
// there, and from then on there is no retry. The attempt lasts until its body
// has been read to the end, has failed or has been closed: until then it holds
// its slot and its breaker's permit, the attempt timeout runs, and its context
// lives. So a body that is never closed holds a slot, and a caller that asks
// again with a body still open needs a second slot. To close a body early is
// fine: it counts as what its status says. A response without a body ends its
// attempt by itself.
//
// A response that may be tried again is read first, up to 64 KiB, and then the
// engine decides. If it gives up after all, for want of time, that response is
// returned with all of its body; only then, and only if the body is longer than
// that, the slot is free before the body is at its end. If it tries again, the
// response is closed.
//
// # Request bodies
//
// The first attempt sends the request's Body, each further one what GetBody
// returns. Without GetBody the body is good for one reading: once an attempt
// has begun to read it, there is no retry, and Error.NoRetry or Result.NoRetry
// says ErrBodyUsed. An attempt that failed before that, for want of a
// connection, is repeated. A body that fails while it is read ends the request
// with its error.
//
// # Shared requests
//
// Where the policy's Dedup says so, identical requests share one flight: one with the
// same method, URL, Idempotency-Key, fields (but those of tracing, Date and
// User-Agent) and body joins one that is under way. So another Authorization or Cookie
// makes another request; what a RequestHook puts in is not seen. In JSON the order of
// keys does not count. WithoutSharing opts out.
//
// Each caller gets a copy of the response or the error of its own, and its context
// ends its own waiting alone. Attempts have the values of the first caller's context,
// its class, and its timeout. For that the body of the request is read before it is
// sent, and that of the response before it is handed over, unless it is a stream
// (text/event-stream, application/x-ndjson). Requests of more than 1 MiB are not
// shared. Of a response that is longer, or a stream, one caller has all; the others
// get its status, its fields and what was read before, and then ErrNotShared. The slot
// is then free before the body is at its end.
//
// # Attempts
//
// One attempt is one request at the server. net/http's habit to send some
// requests again by itself, when a kept connection turns out to be dead, is
// defeated: the base is handed no GetBody, a request without content has an
// empty body of unknown length, where the method is one that net/http would
// repeat, and a field Idempotency-Key of a request without content is spelt in
// lower case, which means the same. Only where a kept connection took no byte
// of a request is another one tried within the attempt; with WithBase that is
// left out, and counts as a reset.
//
// An attempt whose connection could not be made counts as refused, one that
// failed later as reset. An error that net/http has before it looks for a
// connection, such as a bad URL, ends the request and says nothing to the
// breaker. A certificate that cannot be verified is not tried again.
type Transport struct {
	options
	began  time.Time
	secret [16]byte        // of sameAs
	life   context.Context // of refreshes; end ends it
	end    context.CancelFunc

	mu      sync.Mutex // guards what follows, and what calls say it does
	policy  engine.Policy
	machine engine.Machine
	calls   map[wire.RequestID]*call
	flights map[wire.RequestID]*call // whose attempts serve several calls, by the first
	last    wire.RequestID
	effects []engine.Effect
	timer   *time.Timer
	alarm   clock.Instant // what the timer is set to; clock.Never if it is not
	closed  bool
	herald  herald
}

// NewTransport makes a Transport with a copy of the policy. The error says what
// is wrong with the policy.
func NewTransport(policy engine.Policy, opts ...Option) (*Transport, error) {
	t := &Transport{
		options: options{seed: rand.Uint64()},
		began:   time.Now(),
		policy:  policy,
		calls:   map[wire.RequestID]*call{},
		flights: map[wire.RequestID]*call{},
		secret:  newSecret(),
		alarm:   clock.Never,
	}
	for _, opt := range opts {
		opt(&t.options)
	}
	if err := t.allows(policy); err != nil {
		return nil, fmt.Errorf("new transport: %w", err)
	}
	t.life, t.end = context.WithCancel(context.Background())
	if t.base == nil {
		t.base, t.ours = newBase(), true
	}
	scopes := 1
	if t.scope != nil {
		scopes = wire.MaxScopes
	}
	t.machine = engine.New(0, t.seed, scopes, &t.policy)
	t.timer = time.AfterFunc(time.Hour, t.tick)
	t.timer.Stop()
	return t, nil
}

// RoundTrip sends the request as the policy says, and returns the response of
// the last attempt or an *Error.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	c, err := t.begin(req)
	if err != nil {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, err
	}
	<-c.settled
	c.source.finish(c.resp == nil)
	if c.panicked != nil {
		panic(c.panicked)
	}
	if c.resp == nil && c.err.Outcome == wire.Degraded && t.fallback != nil {
		if resp := t.fallback(req, c.err); resp != nil {
			return resp, nil
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	return c.resp, nil
}

// begin submits a request.
func (t *Transport) begin(req *http.Request) (*call, error) {
	if req.URL == nil || req.Header == nil {
		return nil, errors.New("round trip: a request without URL or Header")
	}
	c, err := t.newCall(req)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, &Error{Outcome: wire.Cancelled, Reason: wire.CauseCancel, Cause: ErrClosed}
	}
	c.id = t.nextID()
	t.calls[c.id] = c
	c.follow()
	t.step(engine.Input{
		Kind: engine.Submit, Request: c.id, Class: c.wish.class, Method: methodOf(req),
		Scope: c.scope, Timeout: c.wish.timeout, Since: t.now(), Retry: c.retry,
		Same: c.same,
		Key:  wire.ParseKey(c.wish.key),
	})
	c.watch()
	return c, nil
}

// nextID is a number that no request has; they begin again after 2^32.
func (t *Transport) nextID() wire.RequestID {
	for {
		t.last++
		if t.vehicle(t.last) == nil && t.last != 0 {
			return t.last
		}
	}
}

// now is the time since the transport was made.
func (t *Transport) now() clock.Instant { return clock.Instant(time.Since(t.began)) }

// step feeds the machine, does what it asks for, and sets the timer. It needs
// the lock, and nothing that it calls may step again.
func (t *Transport) step(in engine.Input) {
	t.effects = t.machine.Step(t.now(), in, t.effects[:0])
	for _, e := range t.effects {
		switch e.Kind {
		case engine.Send:
			t.send(e.Attempt)
		case engine.Abort:
			t.vehicle(e.Attempt.ID.Request).abort()
		case engine.Report:
			t.report(e.Event)
		case engine.Refresh:
			go t.renew()
		}
	}
	t.arm()
}

// send starts an attempt, save in Close, which cancels it next.
func (t *Transport) send(w wire.Attempt) {
	a := newAttempt(t.vehicle(w.ID.Request), w)
	a.call.flight = a
	if !t.closed {
		go a.run()
	}
}

func (t *Transport) report(e wire.Event) {
	switch e.Kind {
	case wire.RequestJoined:
		t.board(e)
	case wire.RequestDone:
		c := t.calls[e.ID.Request]
		c.done(e)
		t.alight(c, e)
		delete(t.calls, e.ID.Request)
	}
	if len(t.observers) > 0 && t.herald.add(e) {
		go t.announce()
	}
}

// arm sets the timer to the machine's deadline.
func (t *Transport) arm() {
	at, ok := t.machine.Deadline()
	switch {
	case !ok || t.closed:
		t.timer.Stop()
		t.alarm = clock.Never
	case at != t.alarm:
		t.timer.Reset(max(0, at.Sub(t.now())))
		t.alarm = at
	}
}

func (t *Transport) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.alarm = clock.Never
	t.step(engine.Input{Kind: engine.Tick})
}

// SetPolicy changes the policy from the next decision on. Nothing in flight is
// ended by it. The error says what is wrong with the policy, which then stays
// as it was.
func (t *Transport) SetPolicy(policy engine.Policy) error {
	if err := t.allows(policy); err != nil {
		return fmt.Errorf("set policy: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.policy = policy
	t.step(engine.Input{Kind: engine.Changed})
	return nil
}

// Counts is how many requests are queued, running and waiting to be retried. A
// request whose response is in the caller's hands runs until the body is at its
// end.
func (t *Transport) Counts() engine.Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.machine.Counts()
}

// Breaker is the state of a scope's breaker; the scope is 0 without WithScopes,
// and less than wire.MaxScopes with it.
func (t *Transport) Breaker(scope uint8) wire.BreakerState {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.machine.Breaker(scope)
}

// CloseIdleConnections closes the connections of the base that nobody uses now.
func (t *Transport) CloseIdleConnections() {
	if base, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

// Close ends every request with ErrClosed, wherever it is: those that wait,
// those in flight, and those whose body is being read. Later requests get the
// same error. It does not wait for the base to return. The base's idle
// connections are closed, unless it came by WithBase. The error is nil.
func (t *Transport) Close() error {
	t.mu.Lock()
	t.closed = true
	t.end()
	for _, id := range slices.Sorted(maps.Keys(t.calls)) {
		t.step(engine.Input{Kind: engine.Cancel, Request: id})
	}
	t.arm()
	t.mu.Unlock()
	if t.ours {
		t.CloseIdleConnections()
	}
	return nil
}
