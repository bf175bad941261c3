package live

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/backoff"
	"herdscope/engine/breaker"
	"herdscope/engine/wire"
)

// patient is the policy that the tests of Transport start from: three attempts,
// a millisecond or two between them, and no limits.
func patient() engine.Policy {
	return engine.Policy{
		Retry: engine.Retry{
			Attempts: 3, Network: true, Timeouts: true, RetryAfter: true,
			Backoff: backoff.Config{
				Base: time.Millisecond, Cap: 10 * time.Millisecond, Multiplier: 2000,
			},
		},
		Breaker: breaker.Config{OpenFor: time.Hour, Probes: 1, Successes: 1},
	}
}

// slow is patient with an hour between the attempts.
func slow() engine.Policy {
	p := patient()
	p.Retry.Backoff.Base, p.Retry.Backoff.Cap = time.Hour, time.Hour
	return p
}

// traveller is a Transport and what was seen of it.
type traveller struct {
	*Transport
	mu     sync.Mutex
	events []wire.Event
}

func travel(t testing.TB, p engine.Policy, opts ...Option) *traveller {
	t.Helper()
	tr := &traveller{}
	var err error
	tr.Transport, err = NewTransport(p, append(opts, WithObserver(tr.observe))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

func (tr *traveller) observe(e wire.Event) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.events = append(tr.events, e)
}

// count is how many events of a kind have been seen once all have been.
func (tr *traveller) count(kind wire.EventKind) int {
	for {
		tr.Transport.mu.Lock()
		busy := tr.herald.busy
		tr.Transport.mu.Unlock()
		if !busy {
			break
		}
		time.Sleep(time.Millisecond)
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	n := 0
	for _, e := range tr.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// rests fails the test unless nothing waits and nothing runs.
func (tr *traveller) rests(t testing.TB) {
	t.Helper()
	if c := tr.Counts(); c != (engine.Counts{}) {
		t.Errorf("%+v at the end, want nothing anywhere", c)
	}
	tr.Transport.mu.Lock()
	defer tr.Transport.mu.Unlock()
	if n := len(tr.calls); n > 0 {
		t.Errorf("%d calls are kept", n)
	}
}

// until waits for a condition that something else brings about.
func until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for give := time.Now().Add(30 * time.Second); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(give) {
			t.Fatalf("%s: not in 30 s", what)
		}
	}
}

// tripFunc is a base for tests.
type tripFunc func(*http.Request) (*http.Response, error)

func (f tripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// status is a base that answers with each status in turn, and then with 200.
func status(codes ...int) http.RoundTripper {
	var mu sync.Mutex
	return tripFunc(func(*http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		code := 200
		if len(codes) > 0 {
			code, codes = codes[0], codes[1:]
		}
		return response(code, http.StatusText(code)), nil
	})
}

func response(code int, body string) *http.Response {
	return &http.Response{
		StatusCode: code, Header: http.Header{}, ContentLength: int64(len(body)),
		Body: io.NopCloser(strings.NewReader(body)),
	}
}

// hang is a base that answers nothing until the attempt is over.
func hang(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// serve starts a server for the test.
func serve(t testing.TB, handle http.HandlerFunc) (url string) {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	return s.URL
}

func request(t testing.TB, ctx context.Context, method, url string, body io.Reader) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// get asks for url and reads the answer to its end.
func get(t testing.TB, rt http.RoundTripper, ctx context.Context, url string) (code int, body string, err error) {
	t.Helper()
	return do(rt, request(t, ctx, "GET", url, nil))
}

func do(rt http.RoundTripper, r *http.Request) (code int, body string, err error) {
	resp, err := rt.RoundTrip(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}
