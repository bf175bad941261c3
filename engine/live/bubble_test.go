package live

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/wire"
)

// bubble runs a driver against a handler inside a synctest bubble, over pipes:
// the wall clock is a fake one there, so that instants are exact.
type bubble struct {
	*Driver
	*Clock
	fleet *script
	stop  func()
	seen  atomic.Int64 // requests at the server
}

func inBubble(t *testing.T, f *script, ready func(int) bool, handle http.HandlerFunc,
	test func(t *testing.T, b *bubble)) {
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{Clock: NewClock(), fleet: f}
		l := newPipeListener()
		server := &http.Server{Handler: http.HandlerFunc(
			func(w http.ResponseWriter, r *http.Request) {
				b.seen.Add(1)
				if handle != nil {
					handle(w, r)
				}
			})}
		served := make(chan struct{})
		go func() { server.Serve(l); close(served) }()
		d, err := New(Config{
			Fleet: f, Clock: b.Clock, BaseURL: "http://pipe", Routes: []string{"/"}, Clients: 1,
			Ready: ready,
		})
		if err != nil {
			t.Fatal(err)
		}
		d.sender.transport.DialContext = dialWith(l.dial)
		b.Driver = d
		b.stop = runIt(t, d)
		test(t, b)
		b.stop()
		server.Close()
		<-served
	})
}

type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { close(l.done); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// instants are the instants at which inputs were fed.
func instants(fed []fed) (at []time.Duration) {
	for _, f := range fed {
		at = append(at, f.at.Duration())
	}
	return at
}

func expectAt(t *testing.T, got []fed, want ...time.Duration) {
	t.Helper()
	if diff := cmp.Diff(want, instants(got)); diff != "" {
		t.Errorf("fed at (-want +got):\n%s", diff)
	}
}

func TestTicksComeWhenTheyAreDue(t *testing.T) {
	f := &script{due: []clock.Instant{seconds(1), seconds(1) + 1, seconds(5), seconds(3600)}}
	inBubble(t, f, nil, nil, func(t *testing.T, b *bubble) {
		time.Sleep(2 * time.Hour)
		expectAt(t, f.fedSoFar(fleet.Tick), 0, time.Second, time.Second+1, 5*time.Second, time.Hour)
	})
}

func TestADeadlineThatComesNearerIsKept(t *testing.T) {
	f := &script{due: []clock.Instant{seconds(60)}}
	f.on = func(_ clock.Instant, in fleet.Input) []engine.Effect {
		if in.Kind == fleet.Set {
			f.due = []clock.Instant{clock.Instant(in.Value)}
		}
		return nil
	}
	inBubble(t, f, nil, nil, func(t *testing.T, b *bubble) {
		time.Sleep(time.Second)
		if err := b.Do(fleet.Input{Kind: fleet.Set, Value: int64(seconds(2))}); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour)
		expectAt(t, f.fedSoFar(fleet.Tick, fleet.Set), 0, time.Second, 2*time.Second)
	})
}

func TestNoTimePassesInAPause(t *testing.T) {
	f := &script{due: []clock.Instant{seconds(5), seconds(6)}}
	inBubble(t, f, nil, nil, func(t *testing.T, b *bubble) {
		time.Sleep(3 * time.Second)
		b.Pause()
		time.Sleep(time.Hour)
		expectAt(t, f.fedSoFar(fleet.Tick), 0)
		b.Resume()
		time.Sleep(time.Hour)
		expectAt(t, f.fedSoFar(fleet.Tick), 0, 5*time.Second, 6*time.Second)
	})
}

func TestAHandInAPauseActsAtItsInstantAndSendsAfterIt(t *testing.T) {
	kept, dropped := attemptOf(1, wire.Get), attemptOf(2, wire.Get)
	f := &script{on: func(_ clock.Instant, in fleet.Input) []engine.Effect {
		switch in.Kind {
		case fleet.Set:
			return []engine.Effect{sendOf(dropped), sendOf(kept)}
		case fleet.Cancel:
			return []engine.Effect{abortOf(dropped)}
		}
		return nil
	}}
	inBubble(t, f, nil, nil, func(t *testing.T, b *bubble) {
		time.Sleep(3 * time.Second)
		b.Pause()
		time.Sleep(time.Minute)
		b.Do(fleet.Input{Kind: fleet.Set})
		b.Do(fleet.Input{Kind: fleet.Cancel})
		time.Sleep(time.Minute)
		expectAt(t, f.fedSoFar(fleet.Set, fleet.Cancel), 3*time.Second, 3*time.Second)
		if n := b.seen.Load(); n != 0 || b.InFlight() != 0 {
			t.Errorf("%d requests at the server in a pause, %d in flight", n, b.InFlight())
		}
		b.Resume()
		time.Sleep(time.Minute)
		got := f.fedSoFar(fleet.Answered)
		expectAt(t, got, 3*time.Second)
		if n := b.seen.Load(); n != 1 || got[0].in.ID != kept.ID {
			t.Errorf("%d requests at the server, %v answered; want only %v", n, got, kept.ID)
		}
	})
}

func TestAReplyInAPauseIsStampedAtIt(t *testing.T) {
	slow := func(http.ResponseWriter, *http.Request) { time.Sleep(10 * time.Second) }
	f := sendAtOnce(attemptOf(1, wire.Get))
	inBubble(t, f, nil, slow, func(t *testing.T, b *bubble) {
		time.Sleep(3 * time.Second)
		b.Pause()
		time.Sleep(time.Minute)
		expectAt(t, f.fedSoFar(fleet.Answered), 3*time.Second)
	})
}

// sendAtOnce is a fleet that sends attempts at its first Tick.
func sendAtOnce(attempts ...wire.Attempt) *script {
	sent := false
	return &script{on: func(clock.Instant, fleet.Input) []engine.Effect {
		if sent {
			return nil
		}
		sent = true
		var out []engine.Effect
		for _, a := range attempts {
			out = append(out, sendOf(a))
		}
		return out
	}}
}

func TestAnAttemptEndsWithItsBody(t *testing.T) {
	drip := func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "first")
		w.(http.Flusher).Flush()
		time.Sleep(10 * time.Second)
		io.WriteString(w, "last")
	}
	f := sendAtOnce(attemptOf(1, wire.Get))
	inBubble(t, f, nil, drip, func(t *testing.T, b *bubble) {
		time.Sleep(9 * time.Second)
		if got := f.fedSoFar(fleet.Answered); len(got) > 0 || b.InFlight() != 1 {
			t.Errorf("answered before the body's end: %v, %d in flight", got, b.InFlight())
		}
		time.Sleep(time.Minute)
		expectAt(t, f.fedSoFar(fleet.Answered), 10*time.Second)
		if b.InFlight() != 0 {
			t.Errorf("%d in flight after the end", b.InFlight())
		}
	})
}

func TestTheClockStartsWhenTheServerHasTheHeldRequests(t *testing.T) {
	var arrived atomic.Int64
	hang := func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Second)
		arrived.Add(1)
		<-r.Context().Done()
	}
	var attempts []wire.Attempt
	for i := range 3 {
		a := attemptOf(i, wire.Get)
		a.Warm = i < 2
		attempts = append(attempts, a)
	}
	f := sendAtOnce(attempts...)
	f.due = []clock.Instant{seconds(1)}
	ready := func(sent int) bool {
		if sent != 2 {
			t.Errorf("asked about %d held requests, want 2", sent)
		}
		return int(arrived.Load()) >= sent
	}
	inBubble(t, f, ready, hang, func(t *testing.T, b *bubble) {
		time.Sleep(time.Second - 1)
		if n := b.seen.Load(); n != 2 || b.Now() != 0 || !b.Paused() {
			t.Errorf("at %v, paused %v, %d requests at the server; want 0, paused, the 2 held",
				b.Now(), b.Paused(), n)
		}
		time.Sleep(time.Minute)
		expectAt(t, f.fedSoFar(fleet.Tick), 0, time.Second)
		if n := b.seen.Load(); n != 3 || b.Notice() != "" {
			t.Errorf("%d requests at the server, notice %q", n, b.Notice())
		}
	})
}

func TestTheClockStartsWithoutAServerThatIsNeverReady(t *testing.T) {
	never := func(int) bool { return false }
	inBubble(t, &script{}, never, nil, func(t *testing.T, b *bubble) {
		time.Sleep(readyLimit - time.Millisecond)
		if !b.Paused() {
			t.Error("the clock was started early")
		}
		time.Sleep(time.Second)
		if b.Paused() || !strings.Contains(b.Notice(), "began before the server") {
			t.Errorf("paused %v, notice %q", b.Paused(), b.Notice())
		}
	})
}

func TestARunThatAHandPausedBeforeItsStartStaysPaused(t *testing.T) {
	never := func(int) bool { return false }
	f := &script{due: []clock.Instant{seconds(1)}}
	inBubble(t, f, never, nil, func(t *testing.T, b *bubble) {
		b.Pause()
		time.Sleep(time.Minute)
		expectAt(t, f.fedSoFar(fleet.Tick), 0)
		b.Resume()
		time.Sleep(time.Minute)
		expectAt(t, f.fedSoFar(fleet.Tick), 0, time.Second)
	})
}

func TestAnAbortClosesTheConnectionAndSaysNothing(t *testing.T) {
	var left atomic.Int64 // when the server saw the caller leave
	hang := func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		left.Store(time.Now().UnixNano())
	}
	a := attemptOf(1, wire.Get)
	f := &script{due: []clock.Instant{seconds(2)}}
	f.on = func(now clock.Instant, _ fleet.Input) []engine.Effect {
		if now == 0 {
			return []engine.Effect{sendOf(a)}
		}
		return []engine.Effect{abortOf(a)}
	}
	inBubble(t, f, nil, hang, func(t *testing.T, b *bubble) {
		time.Sleep(time.Minute)
		if after := time.Duration(left.Load() - b.EpochUnixNanos()); after != 2*time.Second {
			t.Errorf("the server saw the caller leave after %v, want 2s", after)
		}
		if got := f.fedSoFar(fleet.Answered); len(got) > 0 || b.InFlight() != 0 {
			t.Errorf("fed %v after an abort, %d in flight", got, b.InFlight())
		}
	})
}
