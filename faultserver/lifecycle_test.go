package faultserver

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

func TestCloseResetsWhatHangs(t *testing.T) {
	const n = 500
	b := newBench(t, fault.Config{Service: fault.Service{Mean: time.Hour}})
	results := b.start(n)
	within(t, "all hang", func() bool { return b.stats().Busy == n })
	began := time.Now()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("closing took %v; a second is the promise", time.Since(began))
	for range n {
		if r := wait(t, results); r.err == nil {
			t.Errorf("reply %+v, want a reset connection", r)
		}
	}
	if err := b.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
	if err := b.Do(wire.ServerInput{Kind: wire.ServerSet}); !errors.Is(err, ErrClosed) {
		t.Errorf("Do after Close: %v, want ErrClosed", err)
	}
	if _, err := b.Stats(); !errors.Is(err, ErrClosed) {
		t.Errorf("Stats after Close: %v, want ErrClosed", err)
	}
}

// A client that never finishes its request holds a handler in the middle of the
// body; Close does not wait for it.
func TestCloseDoesNotWaitForASlowBody(t *testing.T) {
	b := newBench(t, fault.Config{})
	conn := b.dial()
	head := "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"
	if _, err := io.WriteString(conn, head); err != nil {
		t.Fatal(err)
	}
	within(t, "the handler has begun", func() bool { return b.clock.reads.Load() > 0 })
	closed := make(chan error, 1)
	go func() { closed <- b.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("Close waits for a client")
	}
}

// P-E2: a busy port is an error that names the address and can be told apart.
func TestBusyPort(t *testing.T) {
	b := newBench(t, fault.Config{})
	model, err := fault.New(fault.Config{}, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Start(Config{Addr: b.Addr(), Model: model, Clock: newHandClock()})
	if !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), b.Addr()) {
		t.Errorf("error %v, want one that wraps EADDRINUSE and names %s", err, b.Addr())
	}
	other := newBench(t, fault.Config{}) // the default is a free port
	if other.Addr() == b.Addr() {
		t.Errorf("two servers on %s", b.Addr())
	}
	if host, _, _ := net.SplitHostPort(b.Addr()); host != "127.0.0.1" {
		t.Errorf("the default host is %s", host)
	}
}

func TestStartNeedsModelAndClock(t *testing.T) {
	if _, err := Start(Config{Clock: newHandClock()}); err == nil {
		t.Error("a server without a model is accepted")
	}
}

func TestPanicInAHandlerIsSurvived(t *testing.T) {
	b := newBench(t, fault.Config{})
	b.clock.broken.Store(true) // the handler of the next request reads the clock first
	if r := b.call(context.Background(), http.MethodPost, "/"); r.err == nil {
		t.Errorf("reply %+v, want a closed connection", r)
	}
	if r := b.get("/"); r.status != 200 {
		t.Errorf("the next: %+v, want 200", r)
	}
	if got := b.stats().Panics; got != 1 {
		t.Errorf("%d panics are counted, want 1", got)
	}
}

// An idle connection stays open: a client must never find it closed.
func TestNoIdleTimeout(t *testing.T) {
	b := newBench(t, fault.Config{})
	if b.http.IdleTimeout != 0 || b.http.ReadTimeout != 0 || b.http.WriteTimeout != 0 {
		t.Errorf("idle %v, read %v, write %v, want none",
			b.http.IdleTimeout, b.http.ReadTimeout, b.http.WriteTimeout)
	}
}

// TestServersStartAtOnce has several servers made at the same time: under the race
// detector, they share nothing that is written.
func TestServersStartAtOnce(t *testing.T) {
	var done sync.WaitGroup
	for range 4 {
		model, err := fault.New(fault.Config{}, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		done.Go(func() {
			s, err := Start(Config{Model: model, Clock: newHandClock(), AdHoc: true, Admin: DefaultAddr})
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
}
