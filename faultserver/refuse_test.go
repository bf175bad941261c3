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

func refusing() fault.Config {
	return fault.Config{Faults: []fault.Fault{{
		Name: "down", Kind: fault.Outage, How: fault.ByRefusing, Start: sec, Length: sec,
	}}}
}

// TestRefusing: the listener is really closed for the window, connections that
// are open are reset, and the address stays the same.
func TestRefusing(t *testing.T) {
	b := newBench(t, refusing())
	addr := b.Addr()
	if r := b.get("/"); r.status != 200 {
		t.Fatalf("before the window: %+v", r)
	}
	kept := b.dial()
	within(t, "a second connection", func() bool { return openConns(b) == 2 })
	b.clock.set(sec)
	within(t, "the listener is closed", func() bool {
		_, err := net.Dial("tcp", addr)
		return errors.Is(err, syscall.ECONNREFUSED)
	})
	if _, err := kept.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a connection from before: %v, want a reset", err)
	}
	if r := b.get("/"); !errors.Is(r.err, syscall.ECONNREFUSED) {
		t.Errorf("in the window: %+v, want it refused", r)
	}
	b.Refused(wire.Attempt{ID: wire.AttemptID{Client: 7, Request: 1, Try: 1}})
	within(t, "a hit", func() bool { return b.stats().Faults[0].Hits == 1 })
	b.clock.set(2 * sec)
	within(t, "the listener is open again", func() bool { return b.get("/").status == 200 })
	if b.Addr() != addr {
		t.Errorf("the address is %s, and was %s", b.Addr(), addr)
	}
}

func openConns(b *bench) int {
	b.conns.mu.Lock()
	defer b.conns.mu.Unlock()
	return len(b.conns.open)
}

// TestRefusingTakesNoTime: P-F1: a thousand clients that knock do not keep the
// listener from closing and opening, nor the server from closing meanwhile.
func TestRefusingTakesNoTime(t *testing.T) {
	b := newBench(t, fault.Config{Faults: []fault.Fault{{
		Name: "down", Kind: fault.Outage, How: fault.ByRefusing, Manual: true,
	}}})
	ctx, cut := context.WithCancel(t.Context())
	var knocking sync.WaitGroup
	for range 8 {
		knocking.Go(func() {
			for ctx.Err() == nil {
				b.call(ctx, http.MethodGet, "/")
			}
		})
	}
	for i := range 50 {
		do := wire.FaultOn
		if i%2 == 1 {
			do = wire.FaultOff
		}
		if err := b.Do(wire.ServerInput{Kind: wire.ServerFault, Do: do}); err != nil {
			t.Fatal(err)
		}
	}
	within(t, "an answer", func() bool { return b.get("/").status == 200 })
	if err := b.Do(wire.ServerInput{Kind: wire.ServerFault, Do: wire.FaultOn}); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	cut()
	knocking.Wait()
}

// TestMatchesByPathAndHeader: only requests that come over a socket have both.
func TestMatchesByPathAndHeader(t *testing.T) {
	f := fault.NewFault(fault.Errors)
	f.Name, f.Match.Path, f.Match.Header = "f", "/api", "X-Tenant: gold"
	b := newBench(t, fault.Config{Faults: []fault.Fault{f}})
	for _, tt := range []struct {
		path   string
		fields []string
		want   int
	}{
		{"/api/orders", []string{"X-Tenant: gold"}, 503},
		{"/api", []string{"x-tenant: gold"}, 503},
		{"/api/orders", []string{"X-Tenant: lead"}, 200},
		{"/api/orders", nil, 200},
		{"/apiary", []string{"X-Tenant: gold"}, 200},
	} {
		if r := b.get(tt.path, tt.fields...); r.status != tt.want {
			t.Errorf("%s with %v: %d, want %d", tt.path, tt.fields, r.status, tt.want)
		}
	}
}

// TestPF2KeptConnectionsFeelANewFault: P-F2.
func TestPF2KeptConnectionsFeelANewFault(t *testing.T) {
	f := fault.NewFault(fault.Truncated)
	f.Name, f.Manual = "f", true
	b := newBench(t, fault.Config{Faults: []fault.Fault{f}})
	if r := b.get("/"); r.status != 200 || r.err != nil {
		t.Fatalf("before: %+v", r)
	}
	if err := b.Do(wire.ServerInput{Kind: wire.ServerFault, Do: wire.FaultOn}); err != nil {
		t.Fatal(err)
	}
	if r := b.get("/"); r.err == nil || !strings.Contains(r.err.Error(), "EOF") {
		t.Errorf("by a kept connection: %+v, want it cut", r)
	}
	if n := openConns(b); n != 0 {
		t.Errorf("%d connections are open", n)
	}
}

// TestPL10IdleClose: P-L10: the server closes connections that have been idle for
// 50 ms, and clients call every 60 ms by POST and GET. As many requests are seen
// as are sent, and a POST that meets the close fails as a connection that ended.
func TestPL10IdleClose(t *testing.T) {
	f := fault.NewFault(fault.IdleClose)
	f.Name, f.After = "idle", 50*ms
	b := newBench(t, fault.Config{Faults: []fault.Fault{f}})
	at := time.Duration(0)
	for i := range 20 {
		method := http.MethodPost
		if i%2 == 1 {
			method = http.MethodGet
		}
		if r := b.call(t.Context(), method, "/"); r.status != 200 {
			t.Fatalf("request %d: %+v", i, r)
		}
		within(t, "an idle connection", func() bool { return idleConns(b) == 1 })
		at += 60 * ms
		b.clock.set(at)
		within(t, "its close", func() bool { return openConns(b) == 0 })
	}
	within(t, "a hit for each connection", func() bool { return b.stats().Faults[0].Hits == 20 })
	if sent, seen := b.sent.Load(), b.count(wire.ServerArrived); sent != 20 || seen != 20 {
		t.Errorf("%d requests sent, %d seen", sent, seen)
	}
}

func idleConns(b *bench) (n int) {
	b.conns.mu.Lock()
	defer b.conns.mu.Unlock()
	for _, k := range b.conns.open {
		if k.idle && !k.closed {
			n++
		}
	}
	return n
}

// speak is a bare connection, and a function that writes a request to it.
func speak(t *testing.T, b *bench) (conn net.Conn, ask func()) {
	t.Helper()
	conn = b.dial()
	return conn, func() {
		t.Helper()
		if _, err := conn.Write([]byte(request)); err != nil {
			t.Fatal(err)
		}
	}
}

// wantOneOfTwo checks that of two requests on a connection, both of which were
// seen, only the first got a response, and that the connection then ended.
func wantOneOfTwo(t *testing.T, b *bench, conn net.Conn) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	got, err := io.ReadAll(conn)
	if err != nil {
		t.Errorf("the connection: %v, want its end", err)
	}
	if n := strings.Count(string(got), "HTTP/1.1 200"); n != 1 {
		t.Errorf("%d responses to two requests, want one:\n%s", n, got)
	}
	within(t, "both are seen, and one ends without a reply", func() bool {
		return b.count(wire.ServerArrived) == 2 && b.count(wire.ServerReset) == 1
	})
}

// TestPL10TheRequestThatCrossesTheClose: P-L10: a request that was on its way
// when the server closed the connection is seen, counted, and gets the end of the
// connection for an answer.
func TestPL10TheRequestThatCrossesTheClose(t *testing.T) {
	f := fault.NewFault(fault.IdleClose)
	f.Name, f.After = "idle", 50*ms
	b := newBench(t, fault.Config{Faults: []fault.Fault{f}})
	conn, ask := speak(t, b)
	ask()
	within(t, "an idle connection", func() bool { return idleConns(b) == 1 })
	b.clock.set(50 * ms)
	within(t, "its close", func() bool { return b.stats().Faults[0].Hits == 1 })
	ask()
	wantOneOfTwo(t, b, conn)
}

// closingAfterTheReply is a server that ends each connection after a whole reply
// that has not said so.
func closingAfterTheReply(t *testing.T) *bench {
	return newBench(t, spoilt(fault.Close, func(f *fault.Fault) { f.Point = fault.PointEnd }))
}

// TestPL10TheRequestThatCrossesTheEnd: P-L10: when a connection ends after a whole
// reply that has not said so, a request may be on its way already. It is seen, and
// the client learns that its connection ended.
func TestPL10TheRequestThatCrossesTheEnd(t *testing.T) {
	b := closingAfterTheReply(t)
	conn, ask := speak(t, b)
	ask()
	within(t, "the end of the reply", func() bool { return openConns(b) == 0 })
	ask()
	wantOneOfTwo(t, b, conn)
}

// TestAConnectionThatHasEndedIsNotKept: a client that does not close its own side
// loses the connection all the same, after a second.
func TestAConnectionThatHasEndedIsNotKept(t *testing.T) {
	for _, guarded := range []bool{false, true} {
		if got := limitsOf(Config{Guarded: guarded}).farewell; got != sec {
			t.Errorf("guarded %v: the server waits for %v, want a second", guarded, got)
		}
	}
	b := closingAfterTheReply(t)
	b.limits.farewell = 20 * ms
	conn, ask := speak(t, b)
	ask()
	within(t, "the end of both sides", func() bool {
		_, err := conn.Write([]byte("x"))
		return err != nil
	})
}

// TestPL10ClosesAfterTheReply: P-L10: of the requests of a client that keeps its
// connections, all that went out are seen, and those without a response are
// counted as lost. Which of them cross the end of their connection is up to
// net/http; one that it gives up before a byte went out does not count.
func TestPL10ClosesAfterTheReply(t *testing.T) {
	b := closingAfterTheReply(t)
	answered := 0
	for range 50 {
		if r := b.call(t.Context(), http.MethodPost, "/"); r.status == 200 {
			answered++
		}
	}
	sent := int(b.sent.Load())
	if answered == 0 || sent < answered {
		t.Errorf("%d responses to %d requests", answered, sent)
	}
	within(t, "all are seen", func() bool {
		return b.count(wire.ServerArrived) == sent && b.count(wire.ServerReset) == sent-answered
	})
}

// TestPF1ABlackHoleEndsAtOnce: P-F1: a thousand requests vanish. When the fault
// is taken away, who comes next is served, those stay unanswered, and the server
// closes all the same.
func TestPF1ABlackHoleEndsAtOnce(t *testing.T) {
	const n = 1000
	f := fault.NewFault(fault.Outage)
	f.Name, f.How, f.Manual = "hole", fault.ByBlackHole, true
	b := newBench(t, fault.Config{Faults: []fault.Fault{f}})
	do := func(do wire.FaultDo) {
		if err := b.Do(wire.ServerInput{Kind: wire.ServerFault, Do: do}); err != nil {
			t.Fatal(err)
		}
	}
	do(wire.FaultOn)
	results := b.start(n)
	within(t, "all are swallowed", func() bool { return b.stats().Faults[0].Hits == n })
	do(wire.FaultOff)
	if r := b.get("/", attemptField(n, 1, 1)); r.status != 200 {
		t.Errorf("after it: %+v", r)
	}
	if open := b.stats().Open; open != n {
		t.Errorf("%d wait, want %d", open, n)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for range n {
		if r := wait(t, results); r.err == nil {
			t.Errorf("a swallowed request got %d", r.status)
		}
	}
}
