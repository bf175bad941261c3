package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"herdscope/engine"
	"herdscope/engine/backoff"
	"herdscope/engine/wire"
)

const anywhere = "http://service.test/"

func TestTransportRetriesAndReturnsTheLastResponse(t *testing.T) {
	for _, tt := range []struct {
		name     string
		codes    []int
		code     int
		attempts int
	}{
		{"good at once", nil, 200, 1},
		{"good in the end", []int{503, 502}, 200, 3},
		{"never good", []int{503, 502, 504}, 504, 3},
		{"not worth a retry", []int{404}, 404, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := travel(t, patient(), WithBase(status(tt.codes...)))
			resp, err := tr.RoundTrip(request(t, t.Context(), "GET", anywhere, nil))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != tt.code || string(body) != http.StatusText(tt.code) {
				t.Errorf("got %d %q, %v; want %d", resp.StatusCode, body, err, tt.code)
			}
			if r, ok := ResultOf(resp); !ok || r.Attempts != tt.attempts {
				t.Errorf("ResultOf = %+v, %v; want %d attempts", r, ok, tt.attempts)
			}
			if n := tr.count(wire.AttemptSent); n != tt.attempts {
				t.Errorf("%d attempts were seen, want %d", n, tt.attempts)
			}
			tr.rests(t)
		})
	}
}

func TestTransportRefusesABadPolicy(t *testing.T) {
	p := patient()
	p.Retry.Attempts = -1
	if _, err := NewTransport(p); err == nil {
		t.Error("NewTransport takes -1 attempts")
	}
	tr := travel(t, patient(), WithBase(status()))
	if err := tr.SetPolicy(p); err == nil {
		t.Error("SetPolicy takes -1 attempts")
	}
}

func TestWhatARequestSaysOfRetries(t *testing.T) {
	ctx := t.Context()
	for _, tt := range []struct {
		name   string
		method string
		ctx    context.Context
		field  string
		want   int
	}{
		{"GET", "GET", ctx, "", 3},
		{"no method is GET", "", ctx, "", 3},
		{"GET that opts out", "GET", WithoutRetry(ctx), "", 1},
		{"POST", "POST", ctx, "", 1},
		{"POST that opts in", "POST", WithRetry(ctx), "", 3},
		{"POST with a key", "POST", WithIdempotencyKey(ctx, "k"), "", 3},
		{"POST with the field", "POST", ctx, "k", 3},
		{"a key and an opt-out", "POST", WithoutRetry(WithIdempotencyKey(ctx, "k")), "", 1},
		{"the last word counts", "POST", WithRetry(WithoutRetry(ctx)), "", 3},
		{"unknown method", "PROPFIND", ctx, "", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var keys []string
			tr := travel(t, patient(), WithBase(tripFunc(func(r *http.Request) (*http.Response, error) {
				keys = append(keys, strings.Join(r.Header[strings.ToLower(wire.KeyHeader)], ",")+r.Header.Get(wire.KeyHeader))
				return response(503, ""), nil
			})))
			r := request(t, tt.ctx, tt.method, anywhere, nil)
			r.Method = tt.method
			if tt.field != "" {
				r.Header.Set(wire.KeyHeader, tt.field)
			}
			if code, _, err := do(tr, r); code != 503 || err != nil {
				t.Fatal(code, err)
			}
			if len(keys) != tt.want {
				t.Errorf("%d attempts, want %d", len(keys), tt.want)
			}
			for _, key := range keys {
				if keyed := tt.field != "" || strings.Contains(tt.name, "key"); keyed != (key == "k") {
					t.Errorf("an attempt went out with the key %q", key)
				}
			}
		})
	}
}

func TestErrorsSayHowARequestEnded(t *testing.T) {
	refusal := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	refuse := tripFunc(func(*http.Request) (*http.Response, error) { return nil, refusal })
	one := func(change func(*engine.Policy)) engine.Policy {
		p := patient()
		change(&p)
		return p
	}
	breaks := func(p *engine.Policy) { p.Breaker.Failures = 1 }
	for _, tt := range []struct {
		name   string
		policy engine.Policy
		base   http.RoundTripper
		ctx    func(context.Context) context.Context
		is     []error
		want   Error
	}{
		{"no response", patient(), refuse, nil, []error{ErrFailed, syscall.ECONNREFUSED},
			Error{Outcome: wire.Failed, Reason: wire.CauseRefused, Attempts: 3}},
		{"a retry meets the open breaker", one(breaks), status(503), nil,
			[]error{ErrShortCircuited},
			Error{Outcome: wire.ShortCircuited, Reason: wire.CauseStatus, Attempts: 1, Status: 503}},
		{"the attempt timeout", patient(), tripFunc(hang),
			func(ctx context.Context) context.Context { return WithAttemptTimeout(ctx, time.Second) },
			[]error{ErrTimedOut},
			Error{Outcome: wire.TimedOut, Reason: wire.CauseTimeout, Attempts: 3}},
		{"the total time", one(func(p *engine.Policy) { p.Retry.Total = time.Second }),
			tripFunc(hang), nil, []error{ErrTimedOut},
			Error{Outcome: wire.TimedOut, Reason: wire.CauseDeadline, Attempts: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := travel(t, tt.policy, WithBase(tt.base))
				ctx := t.Context()
				if tt.ctx != nil {
					ctx = tt.ctx(ctx)
				}
				_, _, err := get(t, tr, ctx, anywhere)
				for _, target := range tt.is {
					if !errors.Is(err, target) {
						t.Errorf("%v is not %v", err, target)
					}
				}
				var e *Error
				if !errors.As(err, &e) {
					t.Fatalf("%v is no *Error", err)
				}
				tt.want.Cause = e.Cause
				if *e != tt.want {
					t.Errorf("got %+v, want %+v", *e, tt.want)
				}
				if want := tt.want.Outcome == wire.TimedOut; e.Timeout() != want {
					t.Errorf("Timeout() = %v", e.Timeout())
				}
				tr.rests(t)
			})
		})
	}
}

func TestQueueFullAndDeadlineInQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := patient()
		p.Queue.Limit, p.Queue.Capacity = 1, 1
		p.Queue.Class[wire.Interactive].Deadline = time.Second
		p.Queue.Class[wire.Critical].Deadline = time.Hour
		tr := travel(t, p, WithBase(tripFunc(hang)))
		go get(t, tr, WithClass(t.Context(), wire.Critical), anywhere)
		synctest.Wait()
		waits := make(chan error)
		go func() {
			_, _, err := get(t, tr, t.Context(), anywhere)
			waits <- err
		}()
		synctest.Wait()
		if _, _, err := get(t, tr, t.Context(), anywhere); !errors.Is(err, ErrShed) {
			t.Errorf("%v, want ErrShed", err)
		}
		if err := <-waits; !errors.Is(err, ErrExpired) {
			t.Errorf("%v, want ErrExpired", err)
		}
		if n := tr.count(wire.AttemptSent); n != 1 {
			t.Errorf("%d attempts were sent, want only the one that has the slot", n)
		}
		tr.Close()
		synctest.Wait()
		tr.rests(t)
	})
}

func TestTheDeadlineThatLeavesNoRetryReturnsTheResponse(t *testing.T) {
	p := slow()
	p.Retry.Total = time.Minute
	tr := travel(t, p, WithBase(status(503)))
	if code, body, err := get(t, tr, t.Context(), anywhere); code != 503 || body == "" || err != nil {
		t.Errorf("%d %q %v, want the 503 at once", code, body, err)
	}
}

func TestRetryAfterIsHonouredByTheServersClock(t *testing.T) {
	date := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	for name, fields := range map[string]http.Header{
		"seconds": {"Retry-After": {"7"}},
		"date": {
			"Date":        {date.Format(http.TimeFormat)},
			"Retry-After": {date.Add(7 * time.Second).Format(http.TimeFormat)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := true
				p := patient()
				p.Retry.RetryAfterClock = engine.ClockDate
				tr := travel(t, p, WithBase(tripFunc(func(*http.Request) (*http.Response, error) {
					if !first {
						return response(200, ""), nil
					}
					first = false
					resp := response(503, "")
					resp.Header = fields
					return resp, nil
				})))
				began := time.Now()
				if code, _, err := get(t, tr, t.Context(), anywhere); code != 200 || err != nil {
					t.Fatal(code, err)
				}
				if d := time.Since(began); d != 7*time.Second {
					t.Errorf("the retry came after %v, want 7s", d)
				}
			})
		})
	}
}

func TestARetryAfterDateWithoutDateIsByThisClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		resp := response(503, "")
		resp.Header.Set("Retry-After", time.Now().Add(9*time.Second).UTC().Format(http.TimeFormat))
		first := true
		tr := travel(t, patient(), WithBase(tripFunc(func(*http.Request) (*http.Response, error) {
			if !first {
				return response(200, ""), nil
			}
			first = false
			return resp, nil
		})))
		began := time.Now()
		get(t, tr, t.Context(), anywhere)
		if d := time.Since(began); d != 9*time.Second {
			t.Errorf("the retry came after %v, want 9s", d)
		}
	})
}

func TestClassesAndScopes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := patient()
		p.Queue.Limit = 1
		var mu sync.Mutex
		var order []string
		tr := travel(t, p, WithBase(tripFunc(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			order = append(order, r.URL.Path)
			mu.Unlock()
			time.Sleep(time.Second)
			return response(200, ""), nil
		})), WithScopes(func(r *http.Request) uint8 {
			if r.URL.Host == "other.test" {
				return 1
			}
			return 0
		}))
		began := time.Now()
		for _, c := range []struct {
			path  string
			class wire.Class
		}{{"first", wire.Background}, {"third", wire.Interactive}, {"second", wire.Critical}} {
			go get(t, tr, WithClass(t.Context(), c.class), anywhere+c.path)
			synctest.Wait()
		}
		if _, _, err := get(t, tr, t.Context(), "http://other.test/beside"); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d != time.Second {
			t.Errorf("another scope's request took %v: it has slots of its own", d)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := strings.Join(order, " "); got != "/first /beside /second /third" {
			t.Errorf("sent in the order %s", got)
		}
	})
}

func TestAScopeOrAClassThatDoesNotExistIsRefused(t *testing.T) {
	tr := travel(t, patient(), WithBase(status()),
		WithScopes(func(*http.Request) uint8 { return wire.MaxScopes }))
	if _, _, err := get(t, tr, t.Context(), anywhere); err == nil || !strings.Contains(err.Error(), "scope 4") {
		t.Errorf("error %v, want one that names the scope", err)
	}
	if _, _, err := get(t, tr, WithClass(t.Context(), 9), anywhere); err == nil {
		t.Error("class 9 is taken")
	}
}

func TestSetPolicyFreesThoseThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := patient()
		p.Queue.Limit = 1
		tr := travel(t, p, WithBase(tripFunc(hang)))
		for range 3 {
			go get(t, tr, t.Context(), anywhere)
		}
		synctest.Wait()
		if c := tr.Counts(); c.Running != 1 || c.Queued != 2 {
			t.Fatalf("%+v, want one running and two queued", c)
		}
		p.Queue.Limit = 3
		if err := tr.SetPolicy(p); err != nil {
			t.Fatal(err)
		}
		if c := tr.Counts(); c.Running != 3 {
			t.Errorf("%+v, want three running", c)
		}
		tr.Close()
		synctest.Wait()
	})
}

func TestADegradedRequestGetsTheFallback(t *testing.T) {
	p := patient()
	p.Breaker.Failures, p.Retry.Attempts, p.Fallback.Open = 1, 1, true
	tr := travel(t, p, WithBase(status(503)),
		WithFallback(func(r *http.Request, e *Error) *http.Response {
			if !errors.Is(e, ErrShortCircuited) || r.URL.Path == "/none" {
				return nil
			}
			return response(200, "yesterday's")
		}))
	get(t, tr, t.Context(), anywhere)
	if tr.Breaker(0) != wire.Open {
		t.Fatal("the breaker is not open")
	}
	if code, body, err := get(t, tr, t.Context(), anywhere); code != 200 || body != "yesterday's" {
		t.Errorf("%d %q %v, want the fallback", code, body, err)
	}
	_, _, err := get(t, tr, t.Context(), anywhere+"none")
	var e *Error
	if !errors.Is(err, ErrShortCircuited) || !errors.As(err, &e) || e.Outcome != wire.Degraded {
		t.Errorf("without a fallback: %v", err)
	}
}

func TestErrorText(t *testing.T) {
	e := &Error{
		Outcome: wire.Failed, Attempts: 2, Status: 503, Cause: io.ErrUnexpectedEOF, NoRetry: ErrBodyUsed,
	}
	want := "no response (2 attempts, status 503): unexpected EOF: " + ErrBodyUsed.Error()
	if e.Error() != want {
		t.Errorf("%q, want %q", e, want)
	}
}

func TestAnHTTPClientUsesIt(t *testing.T) {
	var seen atomic.Int64
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch n := seen.Add(1); {
		case n == 1:
			http.Error(w, "busy", http.StatusServiceUnavailable)
		case r.URL.Path == "/":
			http.Redirect(w, r, "/there", http.StatusFound)
		default:
			fmt.Fprint(w, "here")
		}
	})
	tr := travel(t, patient())
	client := &http.Client{Transport: tr}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); string(body) != "here" || err != nil {
		t.Errorf("%q %v", body, err)
	}
	if r, ok := ResultOf(resp); !ok || r.Attempts != 1 {
		t.Errorf("ResultOf = %+v, %v: the redirected request took one attempt", r, ok)
	}
	if seen.Load() != 3 || tr.count(wire.AttemptSent) != 3 || tr.count(wire.RequestDone) != 2 {
		t.Errorf("%d at the server, %d sent, %d requests; want 3, 3, 2", seen.Load(),
			tr.count(wire.AttemptSent), tr.count(wire.RequestDone))
	}
	client.CloseIdleConnections()
	tr.rests(t)
}

func TestAClientsTimeoutIsACancel(t *testing.T) {
	release := make(chan struct{})
	url := serve(t, func(http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	p := patient()
	p.Breaker.Failures = 1
	tr := travel(t, p)
	client := &http.Client{Transport: tr, Timeout: 20 * time.Millisecond}
	_, err := client.Get(url)
	var timeout interface{ Timeout() bool }
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("%v, want a timeout", err)
	}
	until(t, "the end", func() bool { return tr.count(wire.RequestDone) == 1 })
	if tr.Breaker(0) != wire.Closed || tr.count(wire.AttemptSent) != 1 {
		t.Errorf("breaker %v after %d attempts", tr.Breaker(0), tr.count(wire.AttemptSent))
	}
	tr.rests(t)
}

func TestTheSeedDrawsTheWaits(t *testing.T) {
	waits := func(seed uint64) (all []time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			p := slow()
			p.Retry.Backoff.Jitter = backoff.Full
			tr := travel(t, p, WithBase(status(503, 503)), WithSeed(seed))
			get(t, tr, t.Context(), anywhere)
			tr.count(wire.RequestDone)
			for _, e := range tr.events {
				if e.Kind == wire.RetryScheduled {
					all = append(all, e.Delay)
				}
			}
		})
		return all
	}
	first := waits(1)
	if len(first) != 2 || !slices.Equal(first, waits(1)) || slices.Equal(first, waits(2)) {
		t.Errorf("waits of %v by seed 1, %v again, %v by seed 2", first, waits(1), waits(2))
	}
}
