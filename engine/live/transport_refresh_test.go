package live

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"herdscope/engine/wire"
)

// bearer is a server that lets only one token in.
func bearer(token string) http.RoundTripper {
	return tripFunc(func(r *http.Request) (*http.Response, error) {
		code := http.StatusUnauthorized
		if r.Header.Get("Authorization") == token {
			code = http.StatusOK
		}
		return response(code, ""), nil
	})
}

// refreshing is a Transport whose token is old, until refresh gets a new one.
func refreshing(t *testing.T, refresh func() error) (*traveller, *atomic.Int64) {
	p := patient()
	p.Auth.Refresh = true
	var calls atomic.Int64
	var token atomic.Value
	token.Store("old")
	tr := travel(t, p, WithBase(bearer("new")),
		WithRefresh(func(context.Context) error {
			calls.Add(1)
			if err := refresh(); err != nil {
				return err
			}
			token.Store("new")
			return nil
		}),
		WithRequestHook(func(r *http.Request) (*http.Request, error) {
			r.Header.Set("Authorization", token.Load().(string))
			return nil, nil
		}))
	return tr, &calls
}

func TestOneRefreshServesAllWhoWait(t *testing.T) {
	tr, calls := refreshing(t, func() error { return nil })
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			resp, err := tr.RoundTrip(request(t, t.Context(), "POST", anywhere, nil))
			if err != nil || resp.StatusCode != 200 {
				t.Errorf("got %v, %v", resp, err)
				return
			}
			resp.Body.Close()
		})
	}
	all.Wait()
	if n := calls.Load(); n != 1 {
		t.Errorf("%d refreshes", n)
	}
	tr.rests(t)
}

func TestAFailedRefreshFailsWhoWaits(t *testing.T) {
	tr, _ := refreshing(t, func() error { return errors.New("signed out") })
	_, err := tr.RoundTrip(request(t, t.Context(), "GET", anywhere, nil))
	var failed *Error
	if !errors.As(err, &failed) || failed.Reason != wire.CauseAuth || failed.Status != 401 {
		t.Errorf("error is %v", err)
	}
	tr.rests(t)
}

func TestARefreshNeedsAFunction(t *testing.T) {
	p := patient()
	p.Auth.Refresh = true
	if _, err := NewTransport(p); !errors.Is(err, ErrNoRefresh) {
		t.Errorf("NewTransport: %v", err)
	}
	tr := travel(t, patient(), WithBase(status()))
	if err := tr.SetPolicy(p); !errors.Is(err, ErrNoRefresh) {
		t.Errorf("SetPolicy: %v", err)
	}
}
