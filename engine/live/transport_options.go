package live

import (
	"context"
	"net/http"
	"time"

	"herdscope/engine"
	"herdscope/engine/wire"
)

// Option is one choice in the making of a Transport.
type Option func(*options)

type options struct {
	base          http.RoundTripper
	ours          bool // the base was made here
	requestHooks  []RequestHook
	responseHooks []ResponseHook
	observers     []func(wire.Event)
	scope         func(*http.Request) uint8
	fallback      func(*http.Request, *Error) *http.Response
	refresh       func(context.Context) error
	timeout       time.Duration
	seed          uint64
}

// RequestHook is called before every attempt with a request that belongs to it,
// with a fresh body. It may change that request, or return another one to be
// sent instead; nil leaves it as it is. Whatever it returns is the next attempt
// of the same request, counted and limited as such. A context that is not
// derived from that of the request is replaced by it. An error ends the request
// without another attempt, and says nothing to the breaker.
type RequestHook func(*http.Request) (*http.Request, error)

// ResponseHook is called with the response of every attempt, before the engine
// judges it. It may change it, its status included. An error ends the request
// as one of a RequestHook does.
type ResponseHook func(*http.Response) error

// WithBase sends the attempts with base instead of an HTTP client of the
// Transport's own, which is set up as http.DefaultTransport is. The base must
// not retry by itself.
func WithBase(base http.RoundTripper) Option {
	return func(o *options) { o.base = base }
}

// WithRequestHook adds a hook. The one that was added last is called first.
func WithRequestHook(hook RequestHook) Option {
	return func(o *options) { o.requestHooks = append(o.requestHooks, hook) }
}

// WithResponseHook adds a hook. They are called in the order of their adding.
func WithResponseHook(hook ResponseHook) Option {
	return func(o *options) { o.responseHooks = append(o.responseHooks, hook) }
}

// WithObserver adds a function that sees every event, in order and one at a
// time, from a goroutine of its own: it may take its time, and may call the
// Transport. Events that it is too slow for are counted by MissedEvents. Instants
// count from NewTransport. A panic in it is not recovered.
func WithObserver(observe func(wire.Event)) Option {
	return func(o *options) { o.observers = append(o.observers, observe) }
}

// WithScopes sets the function that gives each request its scope, less than
// wire.MaxScopes. Each scope has slots, a queue and a breaker of its own.
// Without it there is one, for all hosts.
func WithScopes(scope func(*http.Request) uint8) Option {
	return func(o *options) { o.scope = scope }
}

// WithFallback sets the function that answers requests which end as degraded,
// by the policy's Fallback. If it returns nil, or is not set, they end in the
// error that it is given.
func WithFallback(fallback func(*http.Request, *Error) *http.Response) Option {
	return func(o *options) { o.fallback = fallback }
}

// WithDefaultTimeout sets how long an attempt may take, its body included,
// where the request's context says nothing else; 0, the default, is no limit.
func WithDefaultTimeout(timeout time.Duration) Option {
	return func(o *options) { o.timeout = timeout }
}

// WithSeed sets the seed of the draws of backoff. Without it each Transport has
// one of its own, so that two programs never draw alike.
func WithSeed(seed uint64) Option {
	return func(o *options) { o.seed = seed }
}

// wish is what one request asks for through its context.
type wish struct {
	class   wire.Class
	timeout time.Duration
	retry   engine.RetryOption
	key     string
	alone   bool
	// priority is what class follows; nil if it is fixed.
	priority *Priority
}

type wishKey struct{}

// wishOf is what the context asks for, with the transport's defaults.
func (t *Transport) wishOf(ctx context.Context) wish {
	w := wish{class: wire.Interactive, timeout: t.timeout}
	if set, ok := ctx.Value(wishKey{}).(*wishes); ok {
		set.apply(&w)
	}
	return w
}

// wishes is one wish and those that the context had before.
type wishes struct {
	before *wishes
	set    func(*wish)
}

func (s *wishes) apply(w *wish) {
	if s.before != nil {
		s.before.apply(w)
	}
	s.set(w)
}

func with(ctx context.Context, set func(*wish)) context.Context {
	before, _ := ctx.Value(wishKey{}).(*wishes)
	return context.WithValue(ctx, wishKey{}, &wishes{before, set})
}

// WithClass sets the priority class of requests with this context; without it
// they are interactive.
func WithClass(ctx context.Context, class wire.Class) context.Context {
	return with(ctx, func(w *wish) { w.class, w.priority = class, nil })
}

// WithoutRetry has each request with this context sent once at most. Nothing
// overrules it but a later WithRetry.
func WithoutRetry(ctx context.Context) context.Context {
	return with(ctx, func(w *wish) { w.retry = engine.RetryNever })
}

// WithRetry says that requests with this context may take effect twice, so that
// a POST is retried as a GET is. All other rules of the policy hold.
func WithRetry(ctx context.Context) context.Context {
	return with(ctx, func(w *wish) { w.retry = engine.RetryAllowed })
}

// WithIdempotencyKey sends every attempt with the key in the field
// Idempotency-Key, by which the server can tell a repetition; so requests with
// this context may be retried whatever their method. The same goes for a
// request that has the field already. Use one key for one request.
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return with(ctx, func(w *wish) { w.key = key })
}

// WithAttemptTimeout sets how long each attempt of requests with this context
// may take, its body included; 0 is no limit.
func WithAttemptTimeout(ctx context.Context, timeout time.Duration) context.Context {
	return with(ctx, func(w *wish) { w.timeout = timeout })
}

// AttemptOf is the attempt that a hook's request is for: its context tells. It
// is false for other contexts.
func AttemptOf(ctx context.Context) (wire.Attempt, bool) {
	if a, ok := ctx.Value(attemptKey{}).(*attemptInFlight); ok {
		return a.Attempt, true
	}
	return wire.Attempt{}, false
}
