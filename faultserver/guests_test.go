package faultserver

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

func TestClientsAreKnownByFieldCookieAddress(t *testing.T) {
	for _, c := range []struct{ field, cookie, want string }{
		{"shop", "bank", "shop"},
		{"", "bank", "bank"},
		{"", "", "192.0.2.1"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		if c.field != "" {
			r.Header.Set(ClientHeader, c.field)
		}
		if c.cookie != "" {
			r.AddCookie(&http.Cookie{Name: ClientCookie, Value: c.cookie})
		}
		if got := caller(r); got != c.want {
			t.Errorf("field %q, cookie %q: known as %q, want %q", c.field, c.cookie, got, c.want)
		}
	}
}

// tries is a client's arrivals in a row: a path, and whether the attempt fails.
func TestLikelyRetries(t *testing.T) {
	type step struct {
		after time.Duration
		path  string
		fails bool
		want  string // request and try
	}
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"the same again after a failure", []step{{0, "/a", true, "1.1"}, {sec, "/a", true, "1.2"}, {sec, "/a", false, "1.3"}}},
		{"the same again after a success", []step{{0, "/a", false, "1.1"}, {sec, "/a", false, "2.1"}}},
		{"something else", []step{{0, "/a", true, "1.1"}, {sec, "/b", false, "2.1"}, {sec, "/a", false, "1.2"}}},
		{"another query", []step{{0, "/a?x=1", true, "1.1"}, {sec, "/a?x=2", false, "2.1"}}},
		{"too late", []step{{0, "/a", true, "1.1"}, {RetryWindow + 1, "/a", false, "2.1"}}},
		{"just in time", []step{{0, "/a", true, "1.1"}, {RetryWindow, "/a", false, "1.2"}}},
	} {
		var g guests
		now := clock.Instant(0)
		for i, s := range c.steps {
			now = now.Add(s.after)
			r := httptest.NewRequest("GET", s.path, nil)
			r.Header.Set(ClientHeader, "shop")
			v := g.arrive(r, now)
			if got := strconv.Itoa(int(v.id.Request)) + "." + strconv.Itoa(int(v.id.Try)); got != s.want {
				t.Errorf("%s: arrival %d is %s, want %s", c.name, i+1, got, s.want)
			}
			if int(v.nth) != i+1 {
				t.Errorf("%s: arrival %d is the client's number %d", c.name, i+1, v.nth)
			}
			if s.fails {
				g.fail(v, now)
			}
		}
	}
}

func TestKeyMakesARetryAtAnotherPath(t *testing.T) {
	var g guests
	request := func(path string) *http.Request {
		r := httptest.NewRequest("POST", path, nil)
		r.Header.Set(wire.KeyHeader, "order-1")
		return r
	}
	v := g.arrive(request("/pay?t=1"), 0)
	g.fail(v, 0)
	if again := g.arrive(request("/pay?t=2"), 1); again.id.Request != v.id.Request || again.id.Try != 2 {
		t.Errorf("the key again is %v, want a retry of %v", again.id, v.id)
	}
}

// Two of a kind that failed are both repeated, the older one first.
func TestTwinsAreRepeatedInOrder(t *testing.T) {
	var g guests
	a, b := g.arrive(requestOf("shop"), 0), g.arrive(requestOf("shop"), 0)
	g.fail(a, 0)
	g.fail(b, 0)
	got := []wire.AttemptID{g.arrive(requestOf("shop"), 1).id, g.arrive(requestOf("shop"), 1).id}
	want := []wire.AttemptID{{Client: a.id.Client, Request: 1, Try: 2}, {Client: a.id.Client, Request: 2, Try: 2}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("retries (-want +got):\n%s", diff)
	}
}

func TestFailuresAreBounded(t *testing.T) {
	var g guests
	r := requestOf("")
	for i := range 2 * maxFailures {
		r.Header.Set(ClientHeader, "c"+strconv.Itoa(i))
		g.fail(g.arrive(r, clock.Instant(i)), clock.Instant(i))
	}
	kept := 0
	for _, known := range g.failed {
		kept += len(known)
	}
	if kept > maxFailures || len(g.order) > maxFailures {
		t.Errorf("%d failures, %d in order, want at most %d", kept, len(g.order), maxFailures)
	}
}

func TestForeignRetriesAreMeasuredByTheirRetryAfter(t *testing.T) {
	b := newBench(t, fault.Config{
		Limit: fault.RateLimit{Rate: 500, Burst: 1, Form: wire.HintSeconds}, // one in 2 s
	})
	for _, at := range []time.Duration{0, 100 * ms, time.Second, 2500 * ms} {
		b.clock.set(at)
		b.get("/", "X-Client-Id: shop")
	}
	stats := b.stats()
	if stats.LikelyRetries != 2 || stats.RetryAfter != (ReturnStats{Early: 1, OnTime: 1}) {
		t.Errorf("%d likely retries, returns %+v, want 2: one early, one on time",
			stats.LikelyRetries, stats.RetryAfter)
	}
}

func TestArrivalsAreTold(t *testing.T) {
	var mu sync.Mutex
	var told []Arrival
	b := newBench(t, fault.Config{Service: fault.Service{Mean: 0}, Faults: []fault.Fault{
		{Name: "burst", Kind: fault.Errors, Manual: true, Status: 503, Share: fault.Always},
		{Name: "down", Kind: fault.Outage, Manual: true},
	}}, func(c *Config) {
		c.OnArrival = func(a Arrival) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, a)
		}
	})
	b.clock.set(2 * sec)
	b.get("/x?y=1", "X-Client-Id: shop")
	for i := range 2 {
		if err := b.Do(wire.ServerInput{Kind: wire.ServerFault, Fault: uint8(i), Do: wire.FaultOn}); err != nil {
			t.Fatal(err)
		}
		b.call(context.Background(), "POST", "/", "X-Client-Id: shop")
	}
	shop := clientNamed("shop")
	want := []Arrival{
		{Client: "shop", ID: wire.AttemptID{Client: shop, Request: 1, Try: 1}, Method: "GET", Path: "/x?y=1",
			End: Answered, Status: 200},
		{Client: "shop", ID: wire.AttemptID{Client: shop, Request: 2, Try: 1}, Method: "POST", Path: "/",
			End: Answered, Status: 503, Fault: "burst"},
		{Client: "shop", ID: wire.AttemptID{Client: shop, Request: 2, Try: 2}, Method: "POST", Path: "/",
			End: WasReset, Fault: "down"},
	}
	for i := range want {
		want[i].At, want[i].Time = clock.Instant(2*sec), time.Unix(2, 0)
	}
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("arrivals (-want +got):\n%s", diff)
	}
}

// TestEachConnectionOfAForeignClientHasItsLot: with the unit connection, what one
// client sends by a connection shares a lot, and its connections have others,
// those that are open at the same time too.
func TestEachConnectionOfAForeignClientHasItsLot(t *testing.T) {
	f := fault.NewFault(fault.Errors)
	f.Name, f.Unit, f.Share, f.Status = "lots", fault.PerConnection, fault.Always/2, 503
	b := newBench(t, fault.Config{Faults: []fault.Fault{f}})
	var first [40]int
	hit := 0
	for i := range first {
		transport := &http.Transport{MaxConnsPerHost: 1}
		defer transport.CloseIdleConnections()
		b.client = &http.Client{Transport: transport}
		first[i] = b.get("/").status
		for range 3 {
			if r := b.get("/"); r.status != first[i] {
				t.Fatalf("connection %d: %d after %d: %v", i, r.status, first[i], r.err)
			}
		}
		if first[i] == 503 {
			hit++
		}
	}
	if hit < 10 || hit > 30 {
		t.Errorf("%d of %d connections are hit, want about half", hit, len(first))
	}
}
