package live

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"herdscope/engine/wire"
)

// TestCancelIsNeutralAndAtOnce is N-E22: callers that leave say nothing to the
// breaker; attempt timeouts do.
func TestCancelIsNeutralAndAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := patient()
		p.Breaker.Failures, p.Retry.Attempts = 100, 1
		tr := travel(t, p, WithBase(tripFunc(hang)))
		crowd := func(ctx context.Context) error {
			var all sync.WaitGroup
			var last error
			for i := range 100 {
				all.Go(func() {
					if _, _, err := get(t, tr, ctx, anywhere); i == 0 {
						last = err
					}
				})
			}
			all.Wait()
			return last
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		mine := errors.New("not needed any more")
		time.AfterFunc(time.Second, func() { cancel(mine) })
		began := time.Now()
		if err := crowd(ctx); !errors.Is(err, mine) {
			t.Errorf("%v, want the cause of the context", err)
		}
		if d := time.Since(began); d != time.Second {
			t.Errorf("the crowd left after %v, want 1s", d)
		}
		if tr.Breaker(0) != wire.Closed {
			t.Errorf("breaker %v after cancels", tr.Breaker(0))
		}
		tr.rests(t)
		if err := crowd(WithAttemptTimeout(t.Context(), time.Second)); !errors.Is(err, ErrTimedOut) {
			t.Error(err)
		}
		if tr.Breaker(0) != wire.Open {
			t.Errorf("breaker %v after timeouts", tr.Breaker(0))
		}
		tr.rests(t)
	})
}

func TestACallerCanLeaveABaseThatDoesNotListen(t *testing.T) {
	release := make(chan struct{})
	tr := travel(t, patient(), WithBase(tripFunc(func(*http.Request) (*http.Response, error) {
		<-release
		return response(200, ""), nil
	})))
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, _, err := get(t, tr, ctx, anywhere); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	close(release)
	tr.rests(t)
}

func TestACancelWhileTheBodyIsReadEndsIt(t *testing.T) {
	release := make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush()
		<-release
	})
	defer close(release)
	p := patient()
	p.Breaker.Failures = 1
	tr := travel(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	resp, err := tr.RoundTrip(request(t, ctx, "GET", url, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	cancel()
	if _, err := io.ReadAll(resp.Body); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
	until(t, "rest", func() bool { return tr.Counts().Running == 0 })
	if tr.Breaker(0) != wire.Closed {
		t.Errorf("breaker %v", tr.Breaker(0))
	}
}

// TestCloseSettlesEverybody is N-E15: a hundred in backoff, and some queued, in
// flight and with a body open, all get an error when the owner goes.
func TestCloseSettlesEverybody(t *testing.T) {
	p := slow()
	p.Queue.Limit = 2
	tr := travel(t, p, WithBase(tripFunc(func(r *http.Request) (*http.Response, error) {
		switch r.URL.Path {
		case "/fails":
			return response(503, ""), nil
		case "/trickles":
			resp := response(200, "")
			resp.Body = &drip{r.Context(), 1000, time.Hour}
			return resp, nil
		}
		return hang(r)
	})))
	errs := make(chan error, 200)
	ask := func(n int, path string) {
		for range n {
			go func() {
				_, _, err := get(t, tr, t.Context(), anywhere+path)
				errs <- err
			}()
		}
	}
	ask(100, "fails")
	until(t, "100 in backoff", func() bool { return tr.Counts().Sleeping == 100 })
	ask(1, "trickles")
	ask(1, "hangs")
	until(t, "2 in flight", func() bool { return tr.Counts().Running == 2 })
	ask(98, "waits")
	until(t, "98 queued", func() bool { return tr.Counts().Queued == 98 })
	tr.Close()
	for range 200 {
		if err := <-errs; !errors.Is(err, ErrClosed) {
			t.Fatalf("%v, want ErrClosed", err)
		}
	}
	if _, _, err := get(t, tr, t.Context(), anywhere); !errors.Is(err, ErrClosed) {
		t.Errorf("afterwards: %v, want ErrClosed", err)
	}
	if n := tr.count(wire.AttemptSent); tr.count(wire.RequestDone) != 200 || n < 102 {
		t.Errorf("%d ended of 200, %d attempts", tr.count(wire.RequestDone), n)
	}
	tr.rests(t)
	tr.Close()
}

// TestObserversMayCallAndBlock is N-E23: they are called outside the lock, in
// order, and keep nobody waiting.
func TestObserversMayCallAndBlock(t *testing.T) {
	p := patient()
	p.Breaker.Failures = 1
	release := make(chan struct{})
	var tr *Transport
	var seen []wire.Event
	var nested atomic.Bool
	tr, err := NewTransport(p, WithBase(status(503, 503, 200)), WithObserver(func(e wire.Event) {
		<-release
		seen = append(seen, e)
		if e.Kind != wire.BreakerChanged {
			return
		}
		tr.Breaker(e.Scope)
		tr.Counts()
		tr.MissedEvents()
		tr.CloseIdleConnections()
		if err := tr.SetPolicy(p); err != nil {
			t.Error(err)
		}
		if _, _, err := get(t, tr, t.Context(), anywhere); !errors.Is(err, ErrShortCircuited) {
			t.Error(err)
		}
		nested.Store(true)
		tr.Close()
	}))
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		get(t, tr, t.Context(), anywhere)
	}
	close(release)
	until(t, "the calls in the observer", nested.Load)
	until(t, "the last event", func() bool {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		return !tr.herald.busy
	})
	begun, done := 0, 0
	for i, e := range seen {
		if i > 0 && e.At < seen[i-1].At {
			t.Errorf("event %d is older than the one before", i)
		}
		switch e.Kind {
		case wire.RequestBegan:
			begun++
		case wire.RequestDone:
			done++
		}
	}
	if begun != 11 || done != 11 {
		t.Errorf("%d requests began and %d ended, want 11", begun, done)
	}
}

func TestEventsThatNobodyTakesAreCounted(t *testing.T) {
	var h herald
	for range maxPending + 5 {
		h.add(wire.Event{})
	}
	if h.missed != 5 || len(h.pending) != maxPending {
		t.Errorf("%d missed, %d kept", h.missed, len(h.pending))
	}
}

// TestNoSlotIsLostInARace is N-E27: one slot, many callers that come and go at
// random with goroutines of their own; at the end it is free and nobody waits.
func TestNoSlotIsLostInARace(t *testing.T) {
	p := patient()
	p.Queue.Limit = 1
	var running atomic.Int64
	tr := travel(t, p, WithBase(tripFunc(func(r *http.Request) (*http.Response, error) {
		running.Add(1)
		defer running.Add(-1)
		runtime.Gosched()
		if r.Context().Err() != nil {
			return nil, r.Context().Err()
		}
		return response(200, "ok"), nil
	})))
	var all sync.WaitGroup
	var good atomic.Int64
	for i := range 16 {
		all.Go(func() {
			luck := rand.New(rand.NewPCG(uint64(i), 7))
			for range 300 {
				ctx, cancel := context.WithCancel(t.Context())
				switch luck.IntN(3) {
				case 0:
					go cancel()
				case 1:
					time.AfterFunc(time.Duration(luck.IntN(200))*time.Microsecond, cancel)
				}
				_, _, err := get(t, tr, WithClass(ctx, wire.Class(luck.IntN(wire.NumClasses))), anywhere)
				switch {
				case err == nil:
					good.Add(1)
				case !errors.Is(err, context.Canceled):
					t.Error(err)
				}
				cancel()
			}
		})
	}
	all.Wait()
	if good.Load() < 16*100/2 {
		t.Errorf("only %d of 4800 came through", good.Load())
	}
	until(t, "rest", func() bool { return tr.Counts().Running == 0 && running.Load() == 0 })
	tr.rests(t)
	if code, _, err := get(t, tr, t.Context(), anywhere); code != 200 {
		t.Errorf("afterwards: %d %v", code, err)
	}
}

// TestThoseThatAreAbortedInTheQueueAreSettled is N-E28: at once, and without an
// attempt.
func TestThoseThatAreAbortedInTheQueueAreSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := patient()
		p.Queue.Limit = 1
		var sent atomic.Int64
		free := make(chan struct{})
		tr := travel(t, p, WithBase(tripFunc(func(*http.Request) (*http.Response, error) {
			sent.Add(1)
			<-free
			return response(200, ""), nil
		})))
		ctx, cancel := context.WithCancel(t.Context())
		var cancelled, good atomic.Int64
		for i := range 1001 {
			mine := t.Context()
			if i%2 == 1 {
				mine = ctx
			}
			go func() {
				if _, _, err := get(t, tr, mine, anywhere); err == nil {
					good.Add(1)
				} else if errors.Is(err, context.Canceled) {
					cancelled.Add(1)
				}
			}()
			synctest.Wait()
		}
		cancel()
		synctest.Wait()
		if cancelled.Load() != 500 || tr.Counts().Queued != 500 || sent.Load() != 1 {
			t.Errorf("%d settled, %+v, %d sent", cancelled.Load(), tr.Counts(), sent.Load())
		}
		close(free)
		synctest.Wait()
		if good.Load() != 501 || sent.Load() != 501 {
			t.Errorf("%d good, %d sent; want 501", good.Load(), sent.Load())
		}
		tr.rests(t)
	})
}

// TestTheServerNeverSeesMoreThanTheLimit is N-E36.
func TestTheServerNeverSeesMoreThanTheLimit(t *testing.T) {
	const limit = 4
	var running, most atomic.Int64
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		n := running.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		w.(http.Flusher).Flush()
		time.Sleep(2 * time.Millisecond)
		running.Add(-1) // before the end goes out, and with it the caller's slot
		io.WriteString(w, "the end")
	})
	p := patient()
	p.Queue.Limit = limit
	tr := travel(t, p)
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if _, body, err := get(t, tr, t.Context(), url); body != "the end" {
				t.Errorf("%q %v", body, err)
			}
		})
	}
	all.Wait()
	if most.Load() > limit {
		t.Errorf("%d at once at the server, want %d at most", most.Load(), limit)
	}
	tr.rests(t)
}

func TestAPanicReachesTheCaller(t *testing.T) {
	boom := tripFunc(func(*http.Request) (*http.Response, error) { panic("boom") })
	exit := tripFunc(func(*http.Request) (*http.Response, error) { runtime.Goexit(); return nil, nil })
	p := patient()
	p.Breaker.Failures, p.Queue.Limit = 2, 1
	tr := travel(t, p, WithBase(boom))
	func() {
		defer func() {
			if v := recover(); v != "boom" {
				t.Errorf("recovered %v, want the panic of the base", v)
			}
		}()
		get(t, tr, t.Context(), anywhere)
	}()
	tr.rests(t)
	tr.base = exit
	if _, _, err := get(t, tr, t.Context(), anywhere); !errors.Is(err, errGoexit) {
		t.Error(err)
	}
	if tr.count(wire.AttemptSent) != 2 || tr.Breaker(0) != wire.Open {
		t.Errorf("%d attempts, breaker %v", tr.count(wire.AttemptSent), tr.Breaker(0))
	}
	tr.rests(t)
}
