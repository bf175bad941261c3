package preset

import (
	"time"

	"herdscope/engine"
	"herdscope/engine/backoff"
	"herdscope/engine/budget"
)

// others is the clients, libraries and proxies of Java, .NET, Python, Rust and
// C++.
var others = []Preset{
	{
		Name: "resilience4j", Library: "resilience4j", Version: "2.4.0",
		Doc:     "500 ms each time",
		Fault:   noJitter + " (by default)",
		Differs: anyError,
		Retries: 2, Backoff: constant(500 * ms),
		Statuses: engine.StatusErrors, Methods: engine.MethodsAll, Network: true, Timeouts: true,
	},
	{
		Name: "polly", Library: "Polly", Version: "8.7.0",
		Doc:     "2 s each time",
		Fault:   noJitter + " (jitter is off by default)",
		Differs: anyError,
		Retries: 3, Backoff: constant(2 * time.Second),
		Statuses: engine.StatusErrors, Methods: engine.MethodsAll, Network: true, Timeouts: true,
	},
	{
		Name: "ms-standard-handler", Library: "Microsoft.Extensions.Http.Resilience", Version: "5862342c",
		Doc: "decorrelated jitter V2 from 2 s",
		Fault: "a Retry-After is followed to the instant, however long: clients that were " +
			"told the same come back together; " + unsafePosts,
		Retries:  3,
		Backoff:  backoff.Config{Base: 2 * time.Second, Multiplier: twice, Jitter: backoff.V2},
		Statuses: engine.StatusServer408429, Methods: engine.MethodsAll,
		Network: true, Timeouts: true, RetryAfter: true,
	},
	{
		Name: "botocore-standard", Library: "botocore", Version: "0e6e2404",
		Budget:  budget.Config{Kind: budget.AWSLegacy},
		Doc:     "full jitter under 1 s, doubled up to 20 s",
		Differs: "a throttling code in the body of a 4xx is not seen",
		Retries: 2, Backoff: doubling(time.Second, 20*time.Second, backoff.Full),
		Statuses: engine.StatusGateway, Methods: engine.MethodsAll, Network: true, Timeouts: true,
	},
	{
		Name: "urllib3", Library: "urllib3", Version: "2.7.0",
		Doc: "at once, by default",
		Fault: "no wait at all between the tries; a Retry-After above 6 h is cut to 6 h, " +
			"which is earlier than asked",
		Differs: "413, 429 and 503 are retried without Retry-After too",
		Retries: 10, Backoff: constant(0),
		Statuses: engine.StatusHinted, Methods: engine.MethodsIdempotent,
		Network: true, Timeouts: true, RetryAfter: true,
		RetryAfterMax: 6 * time.Hour, RetryAfterOver: engine.HintClamp,
	},
	{
		Name: "openai-python", Library: "openai-python", Version: "3.3.1",
		Doc:     "500 ms, doubled up to 8 s, less up to 25 %",
		Differs: noCode,
		Retries: 2,
		Backoff: backoff.Config{
			Base: 500 * ms, Cap: 8 * time.Second, Multiplier: twice,
			Jitter: backoff.Minus, Amount: 250,
		},
		Statuses: engine.StatusServer408409429, Methods: engine.MethodsAll,
		Network: true, Timeouts: true, RetryAfter: true,
		RetryAfterMax: 120 * time.Second, RetryAfterOver: engine.HintGiveUp,
	},
	{
		Name: "tower", Library: "tower", Version: "0.5.3",
		Budget: budget.Config{Kind: budget.Ratio},
		Doc:    "50 ms, doubled each time, and up to 99 % more",
		Fault:  "given a cap, late retries all wait for exactly that",
		Differs: "what is retried, and how often, is for the caller to say; here it is every 4xx " +
			"and 5xx, 3 times",
		Retries: 3,
		Backoff: backoff.Config{
			Base: 50 * ms, Multiplier: twice, CapRule: backoff.CapAfter,
			Jitter: backoff.Proportional, Amount: 990,
		},
		Statuses: engine.StatusErrors, Methods: engine.MethodsAll, Network: true, Timeouts: true,
	},
	{
		Name: "envoy", Library: "Envoy with retry_on 5xx", Version: "main",
		Budget:  budget.Config{Kind: budget.ActiveShare},
		Doc:     "full jitter under 25 ms, doubled up to 250 ms",
		Fault:   "a Retry-After above 300 s is ignored, and its retry comes within 250 ms",
		Differs: "retry_on is empty by default, and 5xx is taken here",
		Retries: 1, Backoff: doubling(25*ms, 250*ms, backoff.Full),
		Statuses: engine.StatusServer, Methods: engine.MethodsAll,
		Network: true, Timeouts: true, RetryAfter: true, RetryAfterJitter: 500,
		RetryAfterMax: 300 * time.Second, RetryAfterOver: engine.HintIgnore,
	},
}
