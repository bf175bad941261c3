package live

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"herdscope/engine/wire"
)

// TestAttemptsWaitForAConnection: with one connection and free slots, what waits
// times out, is given up, or goes next, and never reached the base before.
func TestAttemptsWaitForAConnection(t *testing.T) {
	p := patient()
	p.Retry.Attempts, p.Transport.Conns = 1, 1
	var sent atomic.Int64
	release := make(chan struct{})
	tr := travel(t, p, WithBase(tripFunc(func(r *http.Request) (*http.Response, error) {
		if sent.Add(1) == 1 {
			<-release
		}
		return response(200, "ok"), nil
	})))
	results := make(chan error, 2)
	ask := func(ctx context.Context) {
		_, _, err := get(t, tr, ctx, anywhere)
		results <- err
	}
	go ask(t.Context())
	until(t, "the first is sent", func() bool { return sent.Load() == 1 })

	_, _, err := get(t, tr, WithAttemptTimeout(t.Context(), time.Millisecond), anywhere)
	var failed *Error
	if !errors.Is(err, ErrTimedOut) || !errors.As(err, &failed) || failed.Reason != wire.CauseTimeout || failed.Attempts != 1 {
		t.Errorf("one that is never sent ends with %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go ask(ctx)
	until(t, "one waits", func() bool { return tr.Counts().Connecting == 1 })
	cancel()
	if err := <-results; !errors.Is(err, context.Canceled) {
		t.Errorf("one that is given up ends with %v", err)
	}
	go ask(t.Context())
	until(t, "another waits", func() bool { return tr.Counts().Connecting == 1 })
	if n := sent.Load(); n != 1 {
		t.Errorf("%d were sent on one connection", n)
	}
	close(release)
	for range 2 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if n := sent.Load(); n != 2 || tr.count(wire.SocketDequeued) != 3 {
		t.Errorf("%d sent, %d had waited", n, tr.count(wire.SocketDequeued))
	}
	tr.rests(t)
}
