package live

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"herdscope/engine"
	"herdscope/engine/wire"
)

// sharing is patient, and shares the flights of unsafe requests for a second.
func sharing() engine.Policy {
	p := patient()
	p.Dedup.Window = time.Second
	return p
}

// counter is a base that takes a second for each request, and counts them and those
// of them that were given up.
type counter struct {
	sent, left atomic.Int64
	answer     func() *http.Response
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.sent.Add(1)
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	select {
	case <-time.After(time.Second):
	case <-r.Context().Done():
		c.left.Add(1)
		return nil, r.Context().Err()
	}
	if c.answer != nil {
		return c.answer(), nil
	}
	return response(201, "done"), nil
}

// ended is how a request of a test ended.
type ended struct {
	code int
	body string
	err  error
}

// order posts a body after a while, and hands over how that ended.
func order(
	t *testing.T, tr *traveller, ctx context.Context, after time.Duration, change func(*http.Request),
) <-chan ended {
	t.Helper()
	out := make(chan ended, 1)
	go func() {
		time.Sleep(after)
		r := request(t, ctx, "POST", anywhere, strings.NewReader(`{"a":1,"b":2}`))
		if change != nil {
			change(r)
		}
		code, body, err := do(tr, r)
		out <- ended{code, body, err}
	}()
	return out
}

// landed fails the test unless nothing is kept of any flight.
func (tr *traveller) landed(t testing.TB) {
	t.Helper()
	tr.rests(t)
	if n := len(tr.flights); n > 0 {
		t.Errorf("%d flights are kept", n)
	}
}

// TestNE37ACancelEndsOneCaller: whoever began it leaves, and the others have the answer
// of the one request that the server saw.
func TestNE37ACancelEndsOneCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := &counter{}
		tr := travel(t, sharing(), WithBase(base))
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		a := order(t, tr, ctx, 0, nil)
		b := order(t, tr, t.Context(), 100*time.Millisecond, nil)
		c := order(t, tr, t.Context(), 999*time.Millisecond, nil)
		if got := <-a; !errors.Is(got.err, context.DeadlineExceeded) {
			t.Errorf("the first ends with %+v", got)
		}
		for _, out := range []<-chan ended{b, c} {
			if got := <-out; got != (ended{201, "done", nil}) {
				t.Errorf("one of the others ends with %+v", got)
			}
		}
		if n := base.sent.Load(); n != 1 {
			t.Errorf("the server saw %d requests", n)
		}
		tr.landed(t)
	})
}

// TestNE37TheLastToLeaveEndsIt: with nobody left the server sees an abort, and who comes
// then begins anew.
func TestNE37TheLastToLeaveEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := &counter{}
		tr := travel(t, sharing(), WithBase(base))
		ctx, cancel := context.WithCancel(t.Context())
		a, b := order(t, tr, ctx, 0, nil), order(t, tr, ctx, 100*time.Millisecond, nil)
		time.Sleep(200 * time.Millisecond)
		cancel()
		<-a
		<-b
		synctest.Wait()
		if base.sent.Load() != 1 || base.left.Load() != 1 {
			t.Errorf("%d requests, %d aborted", base.sent.Load(), base.left.Load())
		}
		tr.landed(t)
		if got := <-order(t, tr, t.Context(), 0, nil); got.code != 201 || base.sent.Load() != 2 {
			t.Errorf("the next one ends with %+v, request %d", got, base.sent.Load())
		}
	})
}

func TestNE37TheFirstCancelsAllIfTheRuleSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sharing()
		p.Dedup.Cancel = engine.CancelFirst
		base := &counter{}
		tr := travel(t, p, WithBase(base))
		ctx, cancel := context.WithCancel(t.Context())
		a, b := order(t, tr, ctx, 0, nil), order(t, tr, t.Context(), 100*time.Millisecond, nil)
		time.Sleep(200 * time.Millisecond)
		cancel()
		if got := <-a; !errors.Is(got.err, context.Canceled) {
			t.Errorf("the first ends with %+v", got)
		}
		if got := <-b; !errors.Is(got.err, ErrAbandoned) {
			t.Errorf("the other ends with %+v", got)
		}
		tr.landed(t)
	})
}

// TestNE37AFailureIsSharedAndNotKept, retries included.
func TestNE37AFailureIsSharedAndNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := &counter{answer: func() *http.Response { return response(503, "busy") }}
		p := sharing()
		p.Retry.Attempts, p.Retry.Methods = 2, engine.MethodsAll
		tr := travel(t, p, WithBase(base))
		a, b := order(t, tr, t.Context(), 0, nil), order(t, tr, t.Context(), 100*time.Millisecond, nil)
		for _, out := range []<-chan ended{a, b} {
			if got := <-out; got != (ended{503, "busy", nil}) {
				t.Errorf("%+v", got)
			}
		}
		if n := base.sent.Load(); n != 2 {
			t.Errorf("%d attempts for both", n)
		}
		<-order(t, tr, t.Context(), 0, nil)
		if n := base.sent.Load(); n != 4 {
			t.Errorf("%d attempts, want two more for who comes later", n)
		}
		tr.landed(t)
	})
}

// TestNE37WhatIsIdentical: the second of two requests shares the first one's flight.
func TestNE37WhatIsIdentical(t *testing.T) {
	body := func(text string) func(*http.Request) {
		return func(r *http.Request) {
			r.Body, r.GetBody = io.NopCloser(strings.NewReader(text)), nil
			r.ContentLength = int64(len(text))
		}
	}
	field := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for name, c := range map[string]struct {
		change func(*http.Request)
		shared bool
	}{
		"all alike":           {nil, true},
		"another order":       {body(`{"b": 2, "a": 1}`), true},
		"another number":      {body(`{"a":1,"b":3}`), false},
		"no JSON":             {body(`{"b": 2, "a": 1`), false},
		"another user":        {field("Authorization", "Bearer b"), false},
		"another session":     {field("Cookie", "id=b"), false},
		"a key of its own":    {field(wire.KeyHeader, "b"), false},
		"another trace":       {field("Traceparent", "00-b-b-01"), true},
		"another method":      {func(r *http.Request) { r.Method = "PUT" }, false},
		"another query":       {func(r *http.Request) { r.URL.RawQuery = "b" }, false},
		"another place in it": {func(r *http.Request) { r.URL.Fragment = "b" }, true},
		"another class": {func(r *http.Request) {
			*r = *r.WithContext(WithClass(r.Context(), wire.Critical))
		}, false},
		"by itself": {func(r *http.Request) { *r = *r.WithContext(WithoutSharing(r.Context())) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				base := &counter{}
				tr := travel(t, sharing(), WithBase(base))
				as := func(r *http.Request) {
					r.Header.Set("Content-Type", "application/json; charset=utf-8")
					r.Header.Set("Authorization", "Bearer a")
				}
				a := order(t, tr, t.Context(), 0, as)
				b := order(t, tr, t.Context(), 10*time.Millisecond, func(r *http.Request) {
					as(r)
					if c.change != nil {
						c.change(r)
					}
				})
				for _, out := range []<-chan ended{a, b} {
					if got := <-out; got.code != 201 || got.err != nil {
						t.Errorf("%+v", got)
					}
				}
				if n := base.sent.Load(); (n == 1) != c.shared {
					t.Errorf("%d requests, want shared=%v", n, c.shared)
				}
				tr.landed(t)
			})
		})
	}
}

// TestALongResponseIsNotShared: one caller has all of it, the other its status and its
// beginning.
func TestALongResponseIsNotShared(t *testing.T) {
	page := strings.Repeat("x", 2*shareLimit)
	for kind, least := range map[string]int{"text/plain": shareLimit, "text/event-stream": 0} {
		synctest.Test(t, func(t *testing.T) {
			base := &counter{answer: func() *http.Response {
				resp := response(201, page)
				resp.Header.Set("Content-Type", kind)
				return resp
			}}
			tr := travel(t, sharing(), WithBase(base))
			a := order(t, tr, t.Context(), 0, nil)
			b := order(t, tr, t.Context(), time.Millisecond, nil)
			if got := <-a; got.code != 201 || got.body != page || got.err != nil {
				t.Errorf("the first has %d with %d bytes, %v", got.code, len(got.body), got.err)
			}
			got := <-b
			if got.code != 201 || !errors.Is(got.err, ErrNotShared) || len(got.body) < least {
				t.Errorf("the other has %d with %d bytes, %v", got.code, len(got.body), got.err)
			}
			tr.landed(t)
		})
	}
}

func TestEachHasACopyOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := travel(t, sharing(), WithBase(&counter{}))
		responses := make(chan *http.Response, 2)
		for range 2 {
			go func() {
				resp, err := tr.RoundTrip(request(t, t.Context(), "POST", anywhere, nil))
				if err != nil {
					t.Error(err)
				}
				responses <- resp
			}()
		}
		a, b := <-responses, <-responses
		a.Header.Set("Mine", "yes")
		if a.Body == b.Body || b.Header.Get("Mine") != "" || a.Request == b.Request {
			t.Error("two callers have one response")
		}
		if r, ok := ResultOf(b); !ok || r.Attempts != 1 {
			t.Errorf("%+v", r)
		}
		a.Body.Close()
		if text, err := io.ReadAll(b.Body); string(text) != "done" || err != nil {
			t.Errorf("%q %v", text, err)
		}
		tr.landed(t)
	})
}

// TestNE37APanicInTheFlight is the first caller's, and an error for the others.
func TestNE37APanicInTheFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := &counter{answer: func() *http.Response { panic("on fire") }}
		tr := travel(t, sharing(), WithBase(base))
		caught := make(chan any, 1)
		go func() {
			defer func() { caught <- recover() }()
			_, _, _ = do(tr, request(t, t.Context(), "POST", anywhere, strings.NewReader(`{"a":1,"b":2}`)))
		}()
		b := order(t, tr, t.Context(), time.Millisecond, nil)
		if value := <-caught; value != "on fire" {
			t.Errorf("the first caller catches %v", value)
		}
		if got := <-b; !errors.Is(got.err, ErrFailed) || !strings.Contains(got.err.Error(), "on fire") {
			t.Errorf("the other has %+v", got)
		}
		tr.landed(t)
	})
}

// TestAnErrorOfThisSideEndsAll that share, such as that of a hook.
func TestAnErrorOfThisSideEndsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mine := errors.New("not this one")
		tr := travel(t, sharing(), WithBase(&counter{}),
			WithResponseHook(func(*http.Response) error { return mine }))
		a, b := order(t, tr, t.Context(), 0, nil), order(t, tr, t.Context(), time.Millisecond, nil)
		for _, out := range []<-chan ended{a, b} {
			if got := <-out; !errors.Is(got.err, mine) {
				t.Errorf("%+v", got)
			}
		}
		tr.landed(t)
	})
}

// TestALongRequestIsSentByItself, with all of its body, which may be read once.
func TestALongRequestIsSentByItself(t *testing.T) {
	for _, n := range []int{sameLimit, sameLimit + 1} {
		content := bytes.Repeat([]byte("y"), n)
		got := make(chan int, 2)
		tr := travel(t, sharing(), WithBase(tripFunc(func(r *http.Request) (*http.Response, error) {
			text, err := io.ReadAll(r.Body)
			r.Body.Close()
			got <- len(text)
			return response(200, ""), err
		})))
		body := &stream{Reader: bytes.NewReader(content)}
		if code, _, err := do(tr, request(t, t.Context(), "POST", anywhere, body)); code != 200 || err != nil {
			t.Fatal(code, err)
		}
		if sent := <-got; sent != n {
			t.Errorf("%d bytes of %d are sent", sent, n)
		}
		until(t, "the body closed", func() bool { return body.closed.Load() == 1 })
		tr.landed(t)
	}
}

func TestABodyThatFailsIsSharedWithNobody(t *testing.T) {
	mine := errors.New("disk on fire")
	base := &counter{}
	tr := travel(t, sharing(), WithBase(base))
	r := request(t, t.Context(), "POST", anywhere, io.MultiReader(strings.NewReader("x"), errReader{mine}))
	if _, _, err := do(tr, r); !errors.Is(err, mine) || base.sent.Load() != 0 {
		t.Errorf("%v after %d requests", err, base.sent.Load())
	}
	tr.landed(t)
}
