package preset

import (
	"time"

	"herdscope/engine"
	"herdscope/engine/backoff"
	"herdscope/engine/budget"
)

// javascript is the clients and libraries of that ecosystem.
var javascript = []Preset{
	{
		Name: "axios-retry", Library: "axios-retry", Version: "4.5.0",
		Doc:   "at once, by default",
		Fault: "no wait at all between the tries",
		Differs: "what was refused or reset is retried for idempotent methods only, and not for " +
			"all",
		Retries: 3, Backoff: constant(0),
		Statuses: engine.StatusServer429, Methods: engine.MethodsIdempotent,
		Network: true, RetryAfter: true,
	},
	{
		Name: "axios-retry-exp", Library: "axios-retry, exponentialDelay", Version: "4.5.0",
		Doc: "200 ms, doubled each time, and up to 20 % more",
		Differs: "a Retry-After in the future decides alone; what was refused or reset is " +
			"retried for idempotent methods only, and not for all",
		Retries: 3,
		Backoff: backoff.Config{
			Base: 100 * ms, Multiplier: twice, First: backoff.FirstNext,
			Jitter: backoff.Proportional, Amount: 200,
		},
		Statuses: engine.StatusServer429, Methods: engine.MethodsIdempotent,
		Network: true, RetryAfter: true, RetryAfterJitter: 200,
	},
	{
		Name: "retry-axios", Library: "retry-axios", Version: "4.0.3",
		Doc:   "50 ms, 150 ms, 350 ms",
		Fault: noJitter,
		Differs: "a Retry-After that is malformed, or 0, does not end the request; 1xx is no " +
			"final response here",
		Retries: 3, Backoff: backoff.Config{Base: 100 * ms, Multiplier: twice, Offset: -50 * ms},
		Statuses: engine.StatusServer429, Methods: engine.MethodsIdempotent,
		Network: true, Timeouts: true, RetryAfter: true,
		RetryAfterMax: 300 * time.Second, RetryAfterOver: engine.HintGiveUp,
	},
	{
		Name: "p-retry", Library: "p-retry on node-retry", Version: "7.0.0",
		Doc:     "1 s, doubled each time",
		Fault:   noJitter + " (randomize is off by default)",
		Differs: anyError,
		Retries: 10, Backoff: doubling(time.Second, 0, backoff.None),
		Statuses: engine.StatusErrors, Methods: engine.MethodsAll, Network: true, Timeouts: true,
	},
	{
		Name: "ky", Library: "ky", Version: "2.0.2",
		Doc:     "300 ms, doubled each time",
		Fault:   noJitter + " (jitter is off by default)",
		Differs: "a 413 is retried without Retry-After too",
		Retries: 2, Backoff: doubling(300*ms, 0, backoff.None),
		Statuses: engine.StatusKy, Methods: engine.MethodsIdempotent,
		Network: true, RetryAfter: true,
	},
	{
		Name: "got", Library: "got", Version: "15.0.5",
		Doc:   "1 s, doubled each time, and up to 100 ms more",
		Fault: "its jitter is 100 ms, however long the wait",
		Differs: "above which Retry-After a request ends is a figure of its own, by default none, " +
			"and not the timeout",
		Retries: 2,
		Backoff: backoff.Config{
			Base: time.Second, Multiplier: twice, Jitter: backoff.Additive, Width: 100 * ms,
		},
		Statuses: engine.StatusGot, Methods: engine.MethodsIdempotent,
		Network: true, Timeouts: true, RetryAfter: true,
		RetryAfterOver: engine.HintGiveUp,
	},
	{
		Name: "cockatiel-exp", Library: "cockatiel, ExponentialBackoff", Version: "4.0.0",
		Doc:     "decorrelated jitter V2 from 128 ms up to 30 s",
		Fault:   "the cap comes after the jitter: late retries all wait for exactly 30 s",
		Differs: anyError + "; it stops after 99 retries, where cockatiel goes on",
		Retries: MostRetries, Endless: true,
		Backoff: backoff.Config{
			Base: 128 * ms, Cap: 30 * time.Second, CapRule: backoff.CapAfter, Multiplier: twice,
			Jitter: backoff.V2,
		},
		Statuses: engine.StatusErrors, Methods: engine.MethodsAll, Network: true, Timeouts: true,
	},
	{
		Name: "aws-js-standard", Library: "AWS SDK for JavaScript, smithy core", Version: "3.33.3",
		Budget: budget.Config{Kind: budget.AWS2026},
		Doc:    "full jitter under 100 ms, doubled up to 20 s",
		Differs: "throttling waits like all else, and not from 500 ms on; a Retry-After is " +
			"followed, and not cut to 5 s above the wait drawn",
		Retries: 2, Backoff: doubling(100*ms, 20*time.Second, backoff.Full),
		Statuses: engine.StatusGateway429, Methods: engine.MethodsAll,
		Network: true, Timeouts: true, RetryAfter: true,
	},
}
