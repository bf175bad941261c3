package engine

import (
	"time"

	"herdscope/engine/backoff"
	"herdscope/engine/breaker"
	"herdscope/engine/budget"
	"herdscope/engine/wire"
)

// Default is a policy to start from in a program that just wants its calls to be
// careful with a service. It is meant for a service behind an API that answers in
// well below a second, and it holds for each scope, which is one service:
//
//   - 3 tries in all, with full jitter under 200 ms, 400 ms: clients that failed
//     together do not come back together.
//   - What is transient is retried, by status, lost connection or timeout, if the
//     method is idempotent or the request has a key.
//   - A Retry-After is obeyed by the server's clock, spread by 10 %, up to a minute;
//     a request that is asked to wait for longer fails at once.
//   - The Ratio budget: a fifth of the requests and 10 a second may be retries, so
//     that a service in trouble does not get a multiple of its load.
//   - A breaker that opens when half of at least 20 calls of the last 10 s have
//     failed, for 5 s at first, a minute at most, and lets one probe through then.
//   - 64 attempts in flight, 1024 requests waiting; one more is shed.
//
// There is no deadline in it, nor a timeout of an attempt: only the caller knows
// how long an answer is worth waiting for. See Input.Timeout and Retry.Total.
func Default() Policy {
	return Policy{
		Retry: Retry{
			Attempts: 3,
			Backoff: backoff.Config{
				Jitter: backoff.Full, Multiplier: 2000,
				Base: 200 * time.Millisecond, Cap: 10 * time.Second,
			},
			Statuses: StatusTransient, Network: true, Timeouts: true, Methods: MethodsWithKey,
			RetryAfter: true, RetryAfterJitter: 100, RetryAfterClock: ClockDate,
			RetryAfterMax: time.Minute, RetryAfterOver: HintGiveUp,
		},
		Budget: Budget{Config: budget.Config{Kind: budget.Ratio}},
		Breaker: breaker.Config{
			Window: breaker.TimeWindow, FailureRate: 500,
			OpenFor: 5 * time.Second, OpenGrowth: 2000, OpenMax: time.Minute, OpenJitter: 200,
			OpenHint: true, Probes: 1, Successes: 1,
		},
		Queue: Queue{
			Limit: 64, Capacity: 1024, ProtectHold: 10 * time.Second,
			Class: [wire.NumClasses]ClassQueue{
				wire.Critical:    {StarvedAfter: 5 * time.Second},
				wire.Interactive: {StarvedAfter: 10 * time.Second},
				wire.Background:  {StarvedAfter: 30 * time.Second},
			},
		},
	}
}
