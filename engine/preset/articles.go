package preset

import (
	"time"

	"herdscope/engine"
	"herdscope/engine/backoff"
)

// articles is the rules that articles on retries in the browser give.
var articles = []Preset{
	{
		Name: "axios-interceptor", Library: "article: retry by an axios interceptor",
		Doc:   "200 ms, doubled each time; 429 by its Retry-After",
		Fault: noJitter + "; " + unsafePosts,
		Differs: "a date in Retry-After is read, where the article's code makes NaN of it and " +
			"retries at once; a 429 without one waits by the curve, and not for 1 s",
		Retries:  3,
		Backoff:  backoff.Config{Base: 100 * ms, Multiplier: twice, First: backoff.FirstNext},
		Statuses: engine.StatusServer429, Methods: engine.MethodsAll,
		Network: true, Timeouts: true, RetryAfter: true,
	},
	{
		Name: "axios-interceptor-factory", Library: "article: retry by a factory of axios " +
			"interceptors",
		Doc:     "500 ms, doubled each time, of which the upper half is drawn",
		Fault:   unsafePosts,
		Differs: "a 429 without Retry-After waits by the curve, and not for 1 s",
		Retries: 3, Backoff: doubling(500*ms, 0, backoff.Equal),
		Statuses: engine.StatusServer429, Methods: engine.MethodsAll,
		Network: true, Timeouts: true, RetryAfter: true,
	},
	{
		Name: "axios-config-replaced", Library: "article: retry by an axios interceptor",
		Doc: "200 ms, for ever: a hook replaces the request, and the count of its retries is " +
			"lost with it",
		Fault: "no end: the request is always at its first retry; " +
			"" + noJitter + "; " + unsafePosts,
		Differs: "it stops after 99 retries, the engine's hard limit",
		Retries: MostRetries, Endless: true,
		Backoff:  constant(200 * ms),
		Statuses: engine.StatusServer429, Methods: engine.MethodsAll,
		Network: true, Timeouts: true, RetryAfter: true,
	},
	{
		Name: "request-scheduler", Library: "article: a scheduler of requests",
		Doc:     "300 ms, doubled up to 3 s, and up to 1 s more",
		Fault:   "its jitter passes its cap of 3 s by up to 1 s",
		Differs: "the article advises 1 or 2 retries, and has 3 at most",
		Retries: 3,
		Backoff: backoff.Config{
			Base: 300 * ms, Cap: 3 * time.Second, CapRule: backoff.CapOvershoot, Multiplier: twice,
			Jitter: backoff.Additive, Width: time.Second,
		},
		Statuses: engine.StatusNone, Methods: engine.MethodsIdempotent,
		Network: true, Timeouts: true,
	},
	{
		Name: "axios-full-jitter", Library: "article: axios with full jitter",
		Doc:     "full jitter under 2 s, doubled up to 16 s",
		Fault:   unsafePosts,
		Retries: 4, Backoff: doubling(2*time.Second, 16*time.Second, backoff.Full),
		Statuses: engine.StatusGateway408429, Methods: engine.MethodsAll, Network: true,
	},
	{
		Name: "vue-safe-retry", Library: "article: safe retries in Vue",
		Doc: "300 ms, doubled up to 3 s, and up to 30 % more",
		Fault: "its jitter passes its cap of 3 s by up to 0.9 s; a 404 is retried like any " +
			"error; " + unsafePosts,
		Retries: 3,
		Backoff: backoff.Config{
			Base: 300 * ms, Cap: 3 * time.Second, CapRule: backoff.CapOvershoot, Multiplier: twice,
			Jitter: backoff.Proportional, Amount: 300,
		},
		Statuses: engine.StatusErrors, Methods: engine.MethodsAll, Network: true, Timeouts: true,
	},
}
