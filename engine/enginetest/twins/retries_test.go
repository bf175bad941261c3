package twins_test

import (
	"context"
	"math"
	"net/http"
	"testing"
	"time"

	"herdscope/engine/backoff"
	"herdscope/engine/wire"

	theirs "github.com/cenkalti/backoff/v5"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/failsafehttp"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-retryablehttp"
	"pgregory.net/rapid"
)

// TestExponentialAgreesWithCenkalti compares the curve without jitter. Theirs
// rounds every interval to the nanosecond and multiplies on from there; ours
// rounds once. With whole multipliers there is nothing to round.
func TestExponentialAgreesWithCenkalti(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := time.Duration(rapid.IntRange(1, 5000).Draw(t, "base ms")) * time.Millisecond
		c := backoff.Config{
			Base: base, Cap: base * time.Duration(rapid.IntRange(1, 1000).Draw(t, "cap")),
			Multiplier: rapid.SampledFrom([]int64{1000, 1250, 1500, 2000, 3000, 7500}).Draw(t, "multiplier"),
		}
		factor := float64(c.Multiplier) / 1000
		b := theirs.ExponentialBackOff{InitialInterval: c.Base, MaxInterval: c.Cap, Multiplier: factor}
		slack := 0.0 // what their rounding can have come to
		for n := 1; n <= 60; n++ {
			want, got := b.NextBackOff(), c.Delay(n, 0, rapid.Uint64().Draw(t, "u")).Delay
			if math.Abs(float64(got-want)) > slack {
				t.Fatalf("retry %d waits %v, cenkalti %v", n, got, want)
			}
			slack *= factor
			if c.Multiplier%1000 != 0 {
				slack++
			}
			if got == c.Cap && want == c.Cap {
				slack = 0
			}
		}
	})
}

// TestTriesAgreeWithCenkalti compares how often and when a program is run.
func TestTriesAgreeWithCenkalti(t *testing.T) {
	check(t, func(t *rapid.T) {
		p := doubling(rapid.IntRange(1, 12).Draw(t, "attempts"), time.Second, 20*time.Second)
		p.Retry.Total = time.Duration(rapid.IntRange(0, 90).Draw(t, "total s")) * time.Second
		server := newScript(drawStatuses(t))
		opts := []theirs.RetryOption{
			theirs.WithMaxTries(uint(p.Retry.Attempts)),
			theirs.WithBackOff(&theirs.ExponentialBackOff{
				InitialInterval: time.Second, MaxInterval: 20 * time.Second, Multiplier: 2,
			}),
			// A retry at the very end of the total is one too late for us.
			theirs.WithMaxElapsedTime(max(0, p.Retry.Total-1)),
		}
		_, _ = theirs.Retry(context.Background(), func() (any, error) { return nil, server.run() }, opts...)
		agree(t, "cenkalti", server.tries, ourTries(p, wire.Get, server.answers))
	})
}

// TestTriesAgreeWithFailsafe compares the tries of a failsafe-go retry policy
// without jitter.
func TestTriesAgreeWithFailsafe(t *testing.T) {
	check(t, func(t *rapid.T) {
		base := time.Duration(rapid.IntRange(1, 3000).Draw(t, "base ms")) * time.Millisecond
		limit := base * time.Duration(rapid.IntRange(2, 50).Draw(t, "cap"))
		factor := rapid.IntRange(2, 5).Draw(t, "factor")
		p := doubling(rapid.IntRange(1, 12).Draw(t, "attempts"), base, limit)
		p.Retry.Backoff.Multiplier = int64(factor) * 1000
		retry := retrypolicy.NewBuilder[any]().WithMaxAttempts(p.Retry.Attempts).
			WithBackoffFactor(base, limit, float64(factor)).Build()
		server := newScript(drawStatuses(t))
		_ = failsafe.With(retry).Run(server.run)
		agree(t, "failsafe-go", server.tries, ourTries(p, wire.Get, server.answers))
	})
}

// TestTriesAgreeWithRetryablehttp compares the preset with the library's own
// defaults: what is retried, when, and a Retry-After in seconds or as a date.
func TestTriesAgreeWithRetryablehttp(t *testing.T) {
	check(t, func(t *rapid.T) {
		server := newScript(drawAnswers(t))
		method := rapid.SampledFrom([]wire.Method{wire.Get, wire.Post, wire.Patch}).Draw(t, "method")
		retryablehttpTries(method, server)
		p := like(t, "go-retryablehttp")
		agree(t, "go-retryablehttp", server.tries, ourTries(p, method, server.answers))
	})
}

// TestDatesAgreeWithRetryablehttp has a Retry-After that is a date to come.
func TestDatesAgreeWithRetryablehttp(t *testing.T) {
	check(t, func(t *rapid.T) {
		at := time.Now().Add(time.Duration(rapid.IntRange(1, 100_000).Draw(t, "in s")) * time.Second)
		server := newScript(answers{
			{status: 503, after: at.UTC().Format(http.TimeFormat)}, {status: 200},
		})
		retryablehttpTries(wire.Get, server)
		p := like(t, "go-retryablehttp")
		agree(t, "go-retryablehttp", server.tries, ourTries(p, wire.Get, server.answers))
	})
}

// retryablehttpTries has a client with nothing but defaults make one request.
func retryablehttpTries(method wire.Method, server *script) {
	c := retryablehttp.NewClient()
	c.Logger = nil
	c.HTTPClient = &http.Client{Transport: server}
	req, err := retryablehttp.NewRequest(method.String(), "http://localhost/", nil)
	if err != nil {
		panic(err)
	}
	resp, _ := c.Do(req)
	discard(resp)
}

// TestStatusesAgree asks go-retryablehttp and failsafehttp for each status there
// is, and compares the presets.
func TestStatusesAgree(t *testing.T) {
	retryable, failsafes := like(t, "go-retryablehttp"), like(t, "failsafehttp")
	policy := failsafehttp.NewRetryPolicyBuilder()
	for status := 100; status <= 599; status++ {
		resp := &http.Response{StatusCode: status, Body: http.NoBody}
		want, _ := retryablehttp.DefaultRetryPolicy(context.Background(), resp, nil)
		if got := retryable.Retry.Statuses.Has(uint16(status)); got != want {
			t.Errorf("%d: retried %v, by go-retryablehttp %v", status, got, want)
		}
		tries := 0
		_, _ = failsafe.With(policy.Build()).Get(func() (*http.Response, error) {
			tries++
			return resp, nil
		})
		if got := failsafes.Retry.Statuses.Has(uint16(status)); got != (tries > 1) {
			t.Errorf("%d: retried %v, by failsafehttp %d times", status, got, tries-1)
		}
	}
}

// TestBackoffAgreesWithRetryablehttp goes far beyond what its arithmetic holds.
func TestBackoffAgreesWithRetryablehttp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "base"))
		limit := time.Duration(rapid.Int64Range(int64(base), int64(24*time.Hour)).Draw(t, "cap"))
		n := rapid.OneOf(rapid.IntRange(1, 70), rapid.IntRange(1000, 1100)).Draw(t, "retry")
		want := retryablehttp.DefaultBackoff(base, limit, n-1, nil)
		got := doubling(1, base, limit).Retry.Backoff.Delay(n, 0, 0).Delay
		if got != want {
			t.Fatalf("waits %v, go-retryablehttp %v", got, want)
		}
	})
}

// drawStatuses draws failures that may or may not end in a success.
func drawStatuses(t *rapid.T) (a answers) {
	for _, status := range rapid.SliceOfN(rapid.SampledFrom([]int{0, 500, 503}), 1, 8).Draw(t, "failures") {
		a = append(a, answer{status: status})
	}
	if rapid.Bool().Draw(t, "success") {
		a = append(a, answer{status: 200})
	}
	return a
}

// hints is the forms of Retry-After in which the two are meant to agree, besides
// a date that is still to come.
var hints = []string{"", "1", "7", "120", "86400", "-5", "1.5", "soon"}

// drawAnswers draws answers with a Retry-After where go-retryablehttp reads it.
func drawAnswers(t *rapid.T) (a answers) {
	statuses := rapid.SampledFrom([]int{0, 200, 404, 429, 500, 501, 503, 504})
	for _, status := range rapid.SliceOfN(statuses, 1, 6).Draw(t, "statuses") {
		next := answer{status: status}
		if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
			next.after = rapid.SampledFrom(hints).Draw(t, "retry after")
		}
		a = append(a, next)
	}
	return a
}

func agree(t *rapid.T, library string, want, got []time.Duration) {
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("tries (-%s +ours):\n%s", library, diff)
	}
}
