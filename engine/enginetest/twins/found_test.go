package twins_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/backoff"
	"herdscope/engine/wire"

	theirs "github.com/cenkalti/backoff/v5"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/failsafehttp"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
)

// finding is something that a library does and the engine must not do. Both are
// run, and say in a few words what they did.
type finding struct {
	step      string
	theirs    func() string
	theySay   string
	ours      func() string
	oursMust  string
	alsoRight bool // the library does as ours does: it is here as a warning to us
}

// foundByRunning is the table "Found by running". A row that fails because the
// library has changed is good news: move it to the tests that they agree.
var foundByRunning = map[string][]finding{
	"gobreaker":        breakersOfGobreaker,
	"failsafe-go":      append(breakersOfFailsafe, waitsOfFailsafe...),
	"cenkalti":         waitsOfCenkalti,
	"go-retryablehttp": waitsOfRetryablehttp,
}

func TestFoundByRunning(t *testing.T) {
	for library, findings := range foundByRunning {
		for _, f := range findings {
			t.Run(library+"/"+f.step, func(t *testing.T) { f.check(t) })
		}
	}
}

func (f finding) check(t *testing.T) {
	var they, ours string
	if end := inBubble(t, func() { they = f.theirs() }); end != nil {
		t.Fatalf("the library panics: %v", end)
	}
	if end := inBubble(t, func() { ours = f.ours() }); end != nil {
		t.Fatalf("ours panics: %v", end)
	}
	if they != f.theySay {
		t.Errorf("the library: %s; was: %s", they, f.theySay)
	}
	if ours != f.oursMust {
		t.Errorf("ours: %s; must: %s", ours, f.oursMust)
	}
	if (they == ours) != f.alsoRight {
		t.Errorf("the two agree: %v (%s)", they == ours, they)
	}
}

// unhappy is a server that is never well, and asks for a wait.
func unhappy(after string) answers { return always(http.StatusServiceUnavailable, after) }

// plainRetries is four tries, after 1 s, 2 s and 4 s.
func plainRetries() engine.Policy { return doubling(4, time.Second, 30*time.Second) }

func ourPlainTries(a answers) func() string {
	return func() string { return say(ourTries(plainRetries(), wire.Get, a)) }
}

func say(tries []time.Duration) string { return fmt.Sprintf("tries at %v", tries) }

// beyond says whether any wait that a jitter of 50 % makes of 1 s is above 1 s.
// All of a hundred are below it once in 10^30 runs.
func beyond(draw func(i int) time.Duration) string {
	for i := range 100 {
		if draw(i) > time.Second {
			return "waits longer than the maximum"
		}
	}
	return "never waits longer than the maximum"
}

// ourSpread is one wait under a cap of 1 s, with a jitter of 50 % around it.
func ourSpread(i int) time.Duration {
	c := backoff.Config{
		Base: time.Second, Cap: time.Second, Multiplier: 2000, Jitter: backoff.Spread, Amount: 500,
	}
	return c.Delay(3, 0, uint64(i)*(1<<64/100)).Delay
}

var waitsOfCenkalti = []finding{
	{
		step: "jitter of 50 % around a MaxInterval of 1 s",
		theirs: func() string {
			b := theirs.ExponentialBackOff{
				InitialInterval: time.Second, MaxInterval: time.Second, Multiplier: 2, RandomizationFactor: 0.5,
			}
			return beyond(func(int) time.Duration { return b.NextBackOff() })
		},
		theySay:  "waits longer than the maximum",
		ours:     func() string { return beyond(ourSpread) },
		oursMust: "never waits longer than the maximum",
	},
	{
		step: "first interval of 10 s above a MaxInterval of 1 s",
		theirs: func() string {
			b := theirs.ExponentialBackOff{
				InitialInterval: 10 * time.Second, MaxInterval: time.Second, Multiplier: 2,
			}
			return fmt.Sprint(b.NextBackOff(), b.NextBackOff())
		},
		theySay: "10s 1s",
		ours: func() string {
			c := backoff.Config{Base: 10 * time.Second, Cap: time.Second, Multiplier: 2000}
			return fmt.Sprint(c.Delay(1, 0, 0).Delay, c.Delay(2, 0, 0).Delay)
		},
		oursMust: "1s 1s",
	},
}

// failsafehttpTries has failsafehttp try four times, with a jitter of up to half
// of each wait if asked for.
func failsafehttpTries(a answers, jitter float64) []time.Duration {
	server := newScript(a)
	retry := failsafehttp.NewRetryPolicyBuilder().WithMaxAttempts(4).
		WithBackoff(time.Second, 30*time.Second).WithJitterFactor(jitter).Build()
	client := http.Client{Transport: failsafehttp.NewRoundTripper(server, retry)}
	resp, _ := client.Get("http://localhost/")
	discard(resp)
	return server.tries
}

// early says whether any first retry comes before the second that was asked for.
func early(tries func(seed int) []time.Duration) string {
	for seed := range 100 {
		if t := tries(seed); t[1]-t[0] < time.Second {
			return "comes back early"
		}
	}
	return "never comes back early"
}

var waitsOfFailsafe = []finding{
	{
		step: "jitter of 50 % around a maxDelay of 1 s",
		theirs: func() string {
			var waits []time.Duration
			retry := retrypolicy.NewBuilder[any]().WithMaxRetries(102).
				WithBackoff(time.Second/2, time.Second).WithJitterFactor(0.5).
				OnRetryScheduled(func(e failsafe.ExecutionScheduledEvent[any]) {
					waits = append(waits, e.Delay)
				}).Build()
			_ = failsafe.With(retry).Run(func() error { return errFailed })
			return beyond(func(i int) time.Duration { return waits[i] })
		},
		theySay:  "waits longer than the maximum",
		ours:     func() string { return beyond(ourSpread) },
		oursMust: "never waits longer than the maximum",
	},
	{
		step: "Retry-After 1 with jitter",
		theirs: func() string {
			return early(func(int) []time.Duration { return failsafehttpTries(unhappy("1"), 0.5) })
		},
		theySay: "comes back early",
		ours: func() string {
			return early(func(int) []time.Duration {
				p := plainRetries()
				p.Retry.RetryAfterJitter = 500
				return ourTries(p, wire.Get, unhappy("1"))
			})
		},
		oursMust: "never comes back early",
	},
	{
		step: "Retry-After is a date",
		theirs: func() string {
			return say(failsafehttpTries(answers{{503, "Sat, 01 Jan 2000 01:00:00 GMT"}, {200, ""}}, 0))
		},
		theySay:  "tries at [0s 1s]",
		ours:     ourPlainTries(answers{{503, "Sat, 01 Jan 2000 01:00:00 GMT"}, {200, ""}}),
		oursMust: "tries at [0s 1h0m0s]",
	},
	{
		step:     "Retry-After 9999999999",
		theirs:   func() string { return say(failsafehttpTries(unhappy("9999999999"), 0)) },
		theySay:  "tries at [0s 0s 0s 0s]",
		ours:     ourPlainTries(unhappy("9999999999")),
		oursMust: "tries at [0s]",
	},
	{
		step:     "Retry-After -5",
		theirs:   func() string { return say(failsafehttpTries(unhappy("-5"), 0)) },
		theySay:  "tries at [0s 0s 0s 0s]",
		ours:     ourPlainTries(unhappy("-5")),
		oursMust: "tries at [0s 1s 3s 7s]",
	},
}

func retryablehttpSays(a answers) func() string {
	return func() string {
		server := newScript(a)
		retryablehttpTries(wire.Get, server)
		return say(server.tries)
	}
}

// withinAnHour is our plain retries of a request that has an hour.
func withinAnHour(a answers) func() string {
	return func() string {
		p := plainRetries()
		p.Retry.Total = time.Hour
		return say(ourTries(p, wire.Get, a))
	}
}

var waitsOfRetryablehttp = []finding{
	{
		step:     "Retry-After 9999999999",
		theirs:   retryablehttpSays(unhappy("9999999999")),
		theySay:  "tries at [0s 0s 0s 0s 0s]",
		ours:     ourPlainTries(unhappy("9999999999")),
		oursMust: "tries at [0s]",
	},
	{
		step:     "Retry-After is a date 35 years off",
		theirs:   retryablehttpSays(answers{{503, "Mon, 01 Jan 2035 00:00:00 GMT"}, {200, ""}}),
		theySay:  "tries at [0s 306816h0m0s]",
		ours:     withinAnHour(answers{{503, "Mon, 01 Jan 2035 00:00:00 GMT"}, {200, ""}}),
		oursMust: "tries at [0s]",
	},
	{
		step:     "Retry-After is a date that has passed",
		theirs:   retryablehttpSays(answers{{503, "Fri, 31 Dec 1999 23:59:59 GMT"}, {200, ""}}),
		theySay:  "tries at [0s 0s]",
		ours:     ourPlainTries(answers{{503, "Fri, 31 Dec 1999 23:59:59 GMT"}, {200, ""}}),
		oursMust: "tries at [0s 1s]",
	},
	{
		step:     "Retry-After 0",
		theirs:   retryablehttpSays(answers{{503, "0"}, {200, ""}}),
		theySay:  "tries at [0s 0s]",
		ours:     ourPlainTries(answers{{503, "0"}, {200, ""}}),
		oursMust: "tries at [0s 1s]",
	},
	{
		step:     "Retry-After is a date of the form of RFC 850",
		theirs:   retryablehttpSays(answers{{503, "Saturday, 01-Jan-00 01:00:00 GMT"}, {200, ""}}),
		theySay:  "tries at [0s 1s]",
		ours:     ourPlainTries(answers{{503, "Saturday, 01-Jan-00 01:00:00 GMT"}, {200, ""}}),
		oursMust: "tries at [0s 1h0m0s]",
	},
	{
		step:     "Retry-After 60 with a 500",
		theirs:   retryablehttpSays(answers{{500, "60"}, {200, ""}}),
		theySay:  "tries at [0s 1s]",
		ours:     ourPlainTries(answers{{500, "60"}, {200, ""}}),
		oursMust: "tries at [0s 1m0s]",
	},
	{
		step: "a POST that failed",
		theirs: func() string {
			server := newScript(answers{{503, ""}, {200, ""}})
			retryablehttpTries(wire.Post, server)
			return say(server.tries)
		},
		theySay:  "tries at [0s 1s]",
		ours:     func() string { return say(ourTries(plainRetries(), wire.Post, unhappy(""))) },
		oursMust: "tries at [0s]",
	},
	{
		step:      "Retry-After -5",
		theirs:    retryablehttpSays(answers{{503, "-5"}, {200, ""}}),
		theySay:   "tries at [0s 1s]",
		ours:      ourPlainTries(answers{{503, "-5"}, {200, ""}}),
		oursMust:  "tries at [0s 1s]",
		alsoRight: true,
	},
}

// cancelled is what a call returns whose caller has left.
func cancelled() error { return context.Canceled }
