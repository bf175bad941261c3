package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"herdscope/engine/wire"
)

func TestHooksRunForEveryAttemptInTheirOrder(t *testing.T) {
	var log []string
	note := func(what string) { log = append(log, what) }
	onRequest := func(name string) Option {
		return WithRequestHook(func(r *http.Request) (*http.Request, error) {
			a, _ := AttemptOf(r.Context())
			note(fmt.Sprint(name, a.ID.Try))
			return nil, nil
		})
	}
	onResponse := func(name string) Option {
		return WithResponseHook(func(r *http.Response) error {
			note(fmt.Sprint(name, r.StatusCode))
			return nil
		})
	}
	tr := travel(t, patient(), WithBase(status(503)),
		onRequest("first"), onResponse("one"), onRequest("second"), onResponse("two"))
	get(t, tr, t.Context(), anywhere)
	want := "second1 first1 one503 two503 second2 first2 one200 two200"
	if got := strings.Join(log, " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestAHookCannotResetTheAttempts is N-E14: it replaces the request, context
// and all, and the server sees no more than the policy's attempts.
func TestAHookCannotResetTheAttempts(t *testing.T) {
	var seen atomic.Int64
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		if r.Header.Get("Fresh") != "yes" {
			t.Error("the hook's request was not sent")
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	tr := travel(t, patient(), WithRequestHook(func(r *http.Request) (*http.Request, error) {
		fresh, err := http.NewRequest("GET", r.URL.String(), nil)
		fresh.Header.Set("Fresh", "yes")
		return fresh, err
	}))
	if code, _, err := get(t, tr, t.Context(), url); code != 503 || err != nil {
		t.Error(code, err)
	}
	if seen.Load() != 3 {
		t.Errorf("%d at the server, want 3", seen.Load())
	}
}

func TestARequestThatAHookMadeStillEndsWithItsAttempt(t *testing.T) {
	tr := travel(t, patient(), WithBase(tripFunc(hang)), WithRequestHook(
		func(r *http.Request) (*http.Request, error) { return http.NewRequest("GET", anywhere, nil) }))
	ctx := WithAttemptTimeout(t.Context(), time.Millisecond)
	if _, _, err := get(t, tr, ctx, anywhere); !errors.Is(err, ErrTimedOut) {
		t.Errorf("%v, want ErrTimedOut", err)
	}
}

func TestAHookMayKeepValuesInTheContext(t *testing.T) {
	type key struct{}
	tr := travel(t, patient(),
		WithBase(tripFunc(func(r *http.Request) (*http.Response, error) {
			if r.Context().Value(key{}) != "here" {
				t.Error("the value of the hook is lost")
			}
			return response(200, ""), nil
		})),
		WithRequestHook(func(r *http.Request) (*http.Request, error) {
			return r.WithContext(context.WithValue(r.Context(), key{}, "here")), nil
		}))
	get(t, tr, t.Context(), anywhere)
}

func TestTheErrorOfAHookEndsTheRequest(t *testing.T) {
	mine := errors.New("no token")
	for name, opt := range map[string]Option{
		"request":  WithRequestHook(func(*http.Request) (*http.Request, error) { return nil, mine }),
		"response": WithResponseHook(func(*http.Response) error { return mine }),
	} {
		t.Run(name, func(t *testing.T) {
			p := patient()
			p.Breaker.Failures = 1
			body := &stream{Reader: strings.NewReader("x")}
			tr := travel(t, p, WithBase(status(503)), opt)
			_, _, err := do(tr, request(t, t.Context(), "PUT", anywhere, body))
			if !errors.Is(err, mine) {
				t.Errorf("%v, want the hook's error", err)
			}
			if tr.Breaker(0) != wire.Closed || tr.count(wire.AttemptSent) != 1 || body.closed.Load() != 1 {
				t.Errorf("breaker %v, %d attempts, body closed %d times", tr.Breaker(0),
					tr.count(wire.AttemptSent), body.closed.Load())
			}
			tr.rests(t)
		})
	}
}

func TestAHookMayChangeTheHeaderOfItsAttemptOnly(t *testing.T) {
	var sent []string
	tr := travel(t, patient(),
		WithBase(tripFunc(func(r *http.Request) (*http.Response, error) {
			sent = append(sent, strings.Join(r.Header["Try"], "+"))
			return response(503, ""), nil
		})),
		WithRequestHook(func(r *http.Request) (*http.Request, error) {
			r.Header.Add("Try", fmt.Sprint(len(sent)))
			return r, nil
		}))
	r := request(t, t.Context(), "GET", anywhere, nil)
	do(tr, r)
	if got := strings.Join(sent, " "); got != "0 1 2" || len(r.Header) != 0 {
		t.Errorf("sent %q, the caller's header %v", got, r.Header)
	}
}

func TestAHookMayWrapTheBody(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	tr := travel(t, patient(), WithRequestHook(func(r *http.Request) (*http.Request, error) {
		inner := r.Body
		r.Body = io.NopCloser(io.MultiReader(strings.NewReader("<"), inner, strings.NewReader(">")))
		r.ContentLength = -1
		return r, nil
	}))
	body := &stream{Reader: strings.NewReader("x")}
	if _, text, err := do(tr, request(t, t.Context(), "PUT", url, body)); text != "<x>" || err != nil {
		t.Errorf("%q %v", text, err)
	}
	until(t, "the body closed", func() bool { return body.closed.Load() == 1 })
}

func TestAResponseHookMayTellAFailure(t *testing.T) {
	tries := 0
	tr := travel(t, patient(), WithBase(status()), WithResponseHook(func(r *http.Response) error {
		if tries++; tries < 3 {
			r.StatusCode = 503 // an error page that came as 200
		}
		return nil
	}))
	if code, _, err := get(t, tr, t.Context(), anywhere); code != 200 || tries != 3 {
		t.Errorf("%d %v after %d tries", code, err, tries)
	}
}
