package preset

import (
	"time"

	"herdscope/engine"
	"herdscope/engine/backoff"
	"herdscope/engine/budget"
)

// golang is the clients and libraries of that ecosystem.
var golang = []Preset{
	{
		Name: "go-retryablehttp", Library: "hashicorp/go-retryablehttp", Version: "0.7.8",
		Doc:   "1 s, doubled up to 30 s",
		Fault: noJitter + ", and so do those that were told a Retry-After; " + unsafePosts,
		Differs: "a Retry-After too large for the library's arithmetic does not become a retry " +
			"at once",
		Retries: 4, Backoff: doubling(time.Second, 30*time.Second, backoff.None),
		Statuses: engine.StatusServer429Not501, Methods: engine.MethodsAll,
		Network: true, Timeouts: true, RetryAfter: true,
	},
	{
		Name: "go-retryablehttp-linear", Library: "hashicorp/go-retryablehttp, LinearJitterBackoff",
		Version: "0.7.8",
		Doc:     "a draw from 1 s to 30 s, times the number of the retry",
		Fault:   unsafePosts,
		Retries: 4,
		Backoff: backoff.Config{
			Curve: backoff.Linear, Base: time.Second, Multiplier: twice,
			Jitter: backoff.Proportional, Amount: 29_000,
		},
		Statuses: engine.StatusServer429Not501, Methods: engine.MethodsAll,
		Network: true, Timeouts: true,
	},
	{
		Name: "failsafe-go", Library: "failsafe-go, retrypolicy", Version: "0.9.7",
		Doc:     "at once, by default",
		Fault:   "no wait at all between the tries",
		Differs: anyError,
		Retries: 2, Backoff: constant(0),
		Statuses: engine.StatusErrors, Methods: engine.MethodsAll, Network: true, Timeouts: true,
	},
	{
		Name: "failsafehttp", Library: "failsafe-go, failsafehttp", Version: "0.9.7",
		Doc:     "at once, by default",
		Fault:   "no wait at all between the tries; " + unsafePosts,
		Differs: "a Retry-After may be a date, and jitter never goes below it",
		Retries: 2, Backoff: constant(0),
		Statuses: engine.StatusServer429Not501, Methods: engine.MethodsAll,
		Network: true, Timeouts: true, RetryAfter: true,
	},
	{
		Name: "cenkalti", Library: "cenkalti/backoff", Version: "4.3.0",
		Doc:     "500 ms, times 1.5 each time up to 60 s, give or take 50 %, for 15 min in all",
		Fault:   "its jitter passes its cap of 60 s by up to 30 s",
		Differs: anyError + "; it stops after 99 retries, should 15 min not be over",
		Retries: MostRetries, Endless: true, Total: 15 * time.Minute,
		Backoff: backoff.Config{
			Base: 500 * ms, Cap: time.Minute, CapRule: backoff.CapOvershoot, Multiplier: sesqui,
			Jitter: backoff.Spread, Amount: 500,
		},
		Statuses: engine.StatusErrors, Methods: engine.MethodsAll, Network: true, Timeouts: true,
	},
	{
		Name: "avast-retry", Library: "avast/retry-go", Version: "5.0.0",
		Doc: "100 ms, doubled each time, and up to 100 ms more",
		Fault: "its jitter is 100 ms, however long the wait; given a cap, late retries all " +
			"wait for exactly that",
		Differs: anyError,
		Retries: 9,
		Backoff: backoff.Config{
			Base: 100 * ms, Multiplier: twice, CapRule: backoff.CapAfter,
			Jitter: backoff.Additive, Width: 100 * ms,
		},
		Statuses: engine.StatusErrors, Methods: engine.MethodsAll, Network: true, Timeouts: true,
	},
	{
		Name: "goresilience", Library: "slok/goresilience", Version: "0.2.0",
		Doc:     "full jitter under 40 ms, doubled each time",
		Differs: anyError + "; nothing is waited for after the last failure",
		Retries: 3,
		Backoff: backoff.Config{
			Base: 20 * ms, Multiplier: twice, First: backoff.FirstNext, Jitter: backoff.Full,
		},
		Statuses: engine.StatusErrors, Methods: engine.MethodsAll, Network: true, Timeouts: true,
	},
	{
		Name: "gax-go", Library: "googleapis/gax-go", Version: "v2, 5a1e0eb0",
		Doc: "full jitter under 1 s, doubled up to 30 s, until the caller gives up",
		Differs: "which codes are retried is for the caller to say; here it is UNAVAILABLE; it " +
			"stops after 99 retries",
		Retries: MostRetries, Endless: true,
		Backoff:  doubling(time.Second, 30*time.Second, backoff.Full),
		Statuses: engine.StatusUnavailable, Methods: engine.MethodsAll, Network: true,
	},
	{
		Name: "grpc-go", Library: "grpc-go with the example policy of gRFC A6", Version: "1.85-dev",
		Budget:  budget.Config{Kind: budget.GRPC},
		Doc:     "100 ms, doubled up to 1 s, give or take 20 %",
		Fault:   "its jitter passes its cap of 1 s by up to 0.2 s",
		Differs: "grpc-go has no policy by default, and the gRFC's example is taken",
		Retries: 3, Pushback: true,
		Backoff: backoff.Config{
			Base: 100 * ms, Cap: time.Second, CapRule: backoff.CapOvershoot, Multiplier: twice,
			Jitter: backoff.Spread, Amount: 200,
		},
		Statuses: engine.StatusUnavailable, Methods: engine.MethodsAll, Network: true,
	},
	{
		Name: "aws-go-standard", Library: "aws-sdk-go-v2, aws/retry",
		Budget:  budget.Config{Kind: budget.AWSLegacy},
		Version: "before AWS_NEW_RETRIES_2026",
		Doc:     "full jitter under 2 s, doubled; from the fifth retry on exactly 20 s",
		Fault:   "late retries all wait for exactly 20 s, should more than 2 be allowed",
		Differs: "a throttling code in the body of a 4xx is not seen",
		Retries: 2,
		Backoff: backoff.Config{
			Base: 2 * time.Second, Cap: 20 * time.Second, CapRule: backoff.CapInstead,
			Multiplier: twice, Jitter: backoff.Full,
		},
		Statuses: engine.StatusGateway, Methods: engine.MethodsAll, Network: true, Timeouts: true,
	},
	{
		Name: "aws-2026", Library: "aws-sdk-go-v2, aws/retry", Version: "AWS_NEW_RETRIES_2026",
		Budget: budget.Config{Kind: budget.AWS2026},
		Doc:    "full jitter under 50 ms, doubled up to 20 s",
		Differs: "throttling waits like all else, and not from 1 s on; x-amz-retry-after is not " +
			"read; a throttling code in the body of a 4xx is not seen",
		Retries: 2, Backoff: doubling(50*ms, 20*time.Second, backoff.Full),
		Statuses: engine.StatusGateway, Methods: engine.MethodsAll, Network: true, Timeouts: true,
	},
	{
		Name: "stripe-go", Library: "stripe-go", Version: "86.2.0",
		Doc: "500 ms and 500 ms times the square of the retries before, up to 5 s, less up " +
			"to 25 %, but never below 500 ms",
		Fault: "the first retry has no jitter left above its floor: clients that failed " +
			"together come back together",
		Differs: noCode,
		Retries: 2,
		Backoff: backoff.Config{
			Curve: backoff.Quadratic, Base: 500 * ms, Cap: 5 * time.Second, Multiplier: twice,
			First: backoff.FirstZero, Offset: 500 * ms, Floor: 500 * ms,
			Jitter: backoff.Minus, Amount: 250,
		},
		Statuses: engine.StatusServer409, Methods: engine.MethodsAll, Network: true, Timeouts: true,
	},
}
