package faultserver

import (
	"errors"
	"fmt"
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

func TestAdminIsForThoseWhoMay(t *testing.T) {
	open := adminBench(t)
	closed := newBench(t, fault.Config{}, func(c *Config) { c.Admin, c.AdminToken = DefaultAddr, "s3cret" })
	for _, c := range []struct {
		name   string
		b      *bench
		method string
		fields []string
		want   int
	}{
		{"anybody here", open, "GET", nil, 200},
		{"by the name of this machine", open, "GET", []string{"Host: localhost:1"}, 200},
		{"by a name that points here", open, "GET", []string{"Host: evil.example"}, 403},
		{"a page of another origin", open, "POST", []string{"Origin: http://evil.example"}, 403},
		{"no token", closed, "GET", nil, 401},
		{"a wrong token", closed, "GET", []string{"Authorization: Bearer s3cre"}, 401},
		{"the token bare", closed, "GET", []string{"Authorization: s3cret"}, 401},
		{"the token", closed, "GET", []string{"Authorization: Bearer s3cret"}, 200},
		{"the token under a name", closed, "GET",
			[]string{"Authorization: Bearer s3cret", "Host: faults.example"}, 200},
	} {
		path := "/_fault/stats"
		if c.method == "POST" {
			path = "/_fault/reset"
		}
		if r := c.b.admin(c.method, path, "", c.fields...); r.status != c.want {
			t.Errorf("%s: %+v, want %d", c.name, r, c.want)
		}
	}
}

func TestAdminOnAnOpenAddressNeedsAToken(t *testing.T) {
	model, err := fault.New(fault.Config{}, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Model: model, Clock: newHandClock(), Admin: "0.0.0.0:0"}
	if _, err := Start(c); !errors.Is(err, ErrExposed) {
		t.Errorf("error %v, want ErrExposed", err)
	}
}

// An admin address that is taken leaves nothing behind: the traffic's is free again.
func TestBusyAdminPort(t *testing.T) {
	b := adminBench(t)
	model, err := fault.New(fault.Config{}, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	busy := strings.TrimPrefix(b.AdminURL(), "http://")
	_, err = Start(Config{Model: model, Clock: newHandClock(), Admin: busy})
	if !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), busy) {
		t.Errorf("error %v, want one that wraps EADDRINUSE and names %s", err, busy)
	}
}

// raw sends text on a bare connection and returns the first line of the answer.
func (b *bench) raw(text string) string {
	b.t.Helper()
	conn := b.dial()
	if _, err := io.WriteString(conn, text); err != nil {
		b.t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	answer, err := io.ReadAll(conn)
	if err != nil && len(answer) == 0 {
		return err.Error()
	}
	line, _, _ := strings.Cut(string(answer), "\r\n")
	return line
}

func TestRequestsAreBounded(t *testing.T) {
	guard := func(c *Config) { c.Guarded = true }
	b, hasty := newBench(t, fault.Config{}, guard), newBench(t, fault.Config{}, guard)
	hasty.limits.body = 50 * ms // read by handlers only
	for _, c := range []struct {
		name       string
		b          *bench
		text, want string
	}{
		{"a long header", b, "GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 2*maxHeader) + "\r\n\r\n",
			"HTTP/1.1 431 Request Header Fields Too Large"},
		{"a header a little too long", b,
			"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", maxHeader) + "\r\n\r\n",
			"HTTP/1.1 431 Request Header Fields Too Large"},
		{"a long body", b, fmt.Sprintf("POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"+
			"Content-Length: %d\r\n\r\n%s", maxBody+1, strings.Repeat("x", maxBody+1)),
			"HTTP/1.1 413 Request Entity Too Large"},
		{"a slow body", hasty, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc",
			"HTTP/1.1 408 Request Timeout"},
		{"no HTTP", b, "\x16\x03\x01\x02\x00\x01\r\n\r\n", "HTTP/1.1 400 Bad Request"},
	} {
		if got := c.b.raw(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := b.count(wire.ServerArrived) + hasty.count(wire.ServerArrived); got != 0 {
		t.Errorf("%d arrivals, want 0", got)
	}
	if got := b.stats().Refused + hasty.stats().Refused; got != 2 {
		t.Errorf("%d refused, want 2", got)
	}
}

func TestGuardedServersAreBoundedInTime(t *testing.T) {
	b := newBench(t, fault.Config{}, func(c *Config) { c.Guarded = true })
	if b.http.ReadHeaderTimeout != 10*time.Second || b.http.IdleTimeout != 10*time.Minute {
		t.Errorf("header %v, idle %v", b.http.ReadHeaderTimeout, b.http.IdleTimeout)
	}
}

// fullListener gives no connection but the error of a process that has too many
// files open, until it is closed.
type fullListener struct {
	net.Listener
	left int
}

func (l *fullListener) Accept() (net.Conn, error) {
	if l.left--; l.left >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

func TestErrorsOfAcceptAreCountedAndSurvived(t *testing.T) {
	b := newBench(t, fault.Config{})
	listener, err := net.Listen("tcp", DefaultAddr)
	if err != nil {
		t.Fatal(err)
	}
	g := newGate(&fullListener{listener, 3}, 0, b.http.ErrorLog)
	server := &http.Server{Handler: b.http.Handler, ErrorLog: b.http.ErrorLog}
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(g) })
	response, err := b.client.Get("http://" + listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != 200 || g.failed.Load() != 3 {
		t.Errorf("status %d after %d errors, want 200 after 3", response.StatusCode, g.failed.Load())
	}
	_ = server.Close()
	served.Wait()
}

// As many connections as allowed leave the admin API working, and those that wait
// are served when others go.
func TestConnectionsWaitWhenThereAreTooMany(t *testing.T) {
	b := newBench(t, fault.Config{Service: fault.Service{Mean: time.Hour}}, func(c *Config) {
		c.MaxConns, c.Admin = 3, DefaultAddr
	})
	results := b.start(5)
	within(t, "three are in service", func() bool { return b.stats().Busy == 3 })
	within(t, "the others are held back", func() bool { return b.stats().HeldBack >= 1 })
	if r := b.admin("GET", "/_fault/stats", ""); r.status != 200 {
		t.Errorf("the admin API: %+v, want 200", r)
	}
	b.clock.set(time.Hour)
	for range 3 {
		if r := wait(t, results); r.status != 200 {
			t.Errorf("%+v, want 200", r)
		}
	}
	b.client.CloseIdleConnections()
	within(t, "the others are let in", func() bool { return b.stats().Arrivals == 5 })
	b.clock.set(2 * time.Hour)
	for range 2 {
		if r := wait(t, results); r.status != 200 {
			t.Errorf("%+v, want 200", r)
		}
	}
}

func TestClosingDoesNotWaitForRoom(t *testing.T) {
	b := newBench(t, fault.Config{Service: fault.Service{Mean: time.Hour}}, func(c *Config) { c.MaxConns = 1 })
	results := b.start(2)
	within(t, "one is held back", func() bool { return b.stats().HeldBack >= 1 })
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if r := wait(t, results); r.err == nil {
			t.Errorf("%+v, want an error", r)
		}
	}
}
