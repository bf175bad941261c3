package faultserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

const (
	ms  = time.Millisecond
	sec = time.Second
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// handClock is a run clock that goes only where a test sets it, so that no test
// depends on how fast the machine is.
type handClock struct {
	mu      sync.Mutex
	now     clock.Instant
	changed chan struct{}
	broken  atomic.Bool // Now panics, once
	reads   atomic.Int64
}

func newHandClock() *handClock { return &handClock{changed: make(chan struct{})} }

func (c *handClock) Now() clock.Instant {
	c.reads.Add(1)
	if c.broken.CompareAndSwap(true, false) {
		panic("the clock is broken")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Wait never lets a timer run for longer than nothing.
func (c *handClock) Wait(t clock.Instant) (time.Duration, bool, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := t.Sub(c.now)
	return d, d <= 0, c.changed
}

func (c *handClock) set(to time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = clock.Instant(to)
	close(c.changed)
	c.changed = make(chan struct{})
}

// bench is a server under test, its clock, its events and a client.
type bench struct {
	*Server
	t      testing.TB
	clock  *handClock
	client *http.Client
	// written counts the requests that net/http set out to write, its own replays
	// too; sent counts the writes that the system took, which is one for each
	// request without a body that went out.
	written, sent atomic.Int64

	mu     sync.Mutex
	counts [wire.NumEventKinds]int
	events []wire.Event
}

func newBench(t testing.TB, c fault.Config, change ...func(*Config)) *bench {
	t.Helper()
	model, err := fault.New(c, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, clock: newHandClock()}
	config := Config{Model: model, Clock: b.clock, Observer: b.observe}
	for _, f := range change {
		f(&config)
	}
	if b.Server, err = Start(config); err != nil {
		t.Fatal(err)
	}
	b.limits.farewell = patience // read when a connection has come
	transport := &http.Transport{MaxIdleConnsPerHost: 2000, DialContext: b.connect}
	b.client = &http.Client{Transport: transport}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		transport.CloseIdleConnections()
	})
	return b
}

// connect dials for the client of the bench.
func (b *bench) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &countedConn{Conn: conn, sent: &b.sent}, nil
}

// countedConn counts the writes that the system took.
type countedConn struct {
	net.Conn
	sent *atomic.Int64
}

func (c *countedConn) Write(text []byte) (int, error) {
	n, err := c.Conn.Write(text)
	if n > 0 {
		c.sent.Add(1)
	}
	return n, err
}

func (b *bench) observe(e wire.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts[e.Kind]++
	b.events = append(b.events, e)
}

func (b *bench) count(k wire.EventKind) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.counts[k]
}

// last is the latest event of a kind.
func (b *bench) last(k wire.EventKind) wire.Event {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := len(b.events) - 1; i >= 0; i-- {
		if b.events[i].Kind == k {
			return b.events[i]
		}
	}
	b.t.Fatalf("no event %v", k)
	return wire.Event{}
}

func (b *bench) stats() Stats {
	b.t.Helper()
	stats, err := b.Stats()
	if err != nil {
		b.t.Fatal(err)
	}
	return stats
}

// result is what a request came to.
type result struct {
	status int
	header http.Header
	body   string
	err    error
}

// call makes one request; fields are header fields as "Name: value".
func (b *bench) call(ctx context.Context, method, path string, fields ...string) result {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) { b.written.Add(1) },
	})
	r, err := http.NewRequestWithContext(ctx, method, b.URL()+path, nil)
	if err != nil {
		return result{err: err}
	}
	return b.do(r, fields...)
}

// do makes a request with header fields as "Name: value".
func (b *bench) do(r *http.Request, fields ...string) result {
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		r.Header.Set(name, value)
		if name == "Host" {
			r.Host = value
		}
	}
	response, err := b.client.Do(r)
	if err != nil {
		return result{err: err}
	}
	body, err := io.ReadAll(response.Body)
	if closeErr := response.Body.Close(); err == nil {
		err = closeErr
	}
	return result{response.StatusCode, response.Header, string(body), err}
}

func (b *bench) get(path string, fields ...string) result {
	return b.call(context.Background(), http.MethodGet, path, fields...)
}

// attemptField is the header field of an attempt.
func attemptField(client, request, try int) string {
	return fmt.Sprintf("%s: %d.%d.%d.critical.1.-", wire.AttemptHeader, client, request, try)
}

// start makes n requests at once, one per client, and does not wait for them.
func (b *bench) start(n int) <-chan result {
	results := make(chan result, n)
	for client := range n {
		go func() { results <- b.get("/", attemptField(client, 1, 1)) }()
	}
	return results
}

// patience is how long a test waits for what must come: far longer than any
// machine needs, so that it only keeps a test that has failed from hanging.
const patience = time.Minute

// within fails the test if a condition does not come true.
func within(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(ms) {
		if condition() {
			return
		}
	}
	t.Fatalf("never happened: %s", what)
}

// wait is the next of the results.
func wait(t testing.TB, results <-chan result) result {
	t.Helper()
	select {
	case r := <-results:
		return r
	case <-time.After(patience):
		t.Fatal("no result")
		return result{}
	}
}

// dial is a bare connection to the server.
func (b *bench) dial() net.Conn {
	b.t.Helper()
	conn, err := net.Dial("tcp", b.Addr())
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = conn.Close() })
	return conn
}
