package faultserver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

func TestRepliesWhenTheModelSays(t *testing.T) {
	b := newBench(t, fault.Config{Workers: 1, Service: fault.Service{Mean: 100 * ms}})
	results := b.start(2)
	within(t, "one in service, one waiting", func() bool {
		s := b.stats()
		return s.Busy == 1 && s.Backlog == 1 && s.Open == 2
	})
	b.clock.set(100 * ms)
	if r := wait(t, results); r.status != 200 || r.body != "OK\n" || r.err != nil {
		t.Errorf("reply %+v, want 200 OK", r)
	}
	b.clock.set(200 * ms)
	if r := wait(t, results); r.status != 200 {
		t.Errorf("reply %+v, want 200", r)
	}
	e := b.last(wire.ServerDone)
	if e.At != clock.Instant(200*ms) || e.Delay != 100*ms {
		t.Errorf("done at %v after %v, want 200ms, 100ms", e.At.Duration(), e.Delay)
	}
}

func TestAttemptIsTheOneOfTheHeader(t *testing.T) {
	b := newBench(t, fault.Config{}, func(c *Config) { c.Routes = []string{"/api", "/api/pay"} })
	b.call(context.Background(), http.MethodPut, "/api/pay/7",
		wire.AttemptHeader+": 417.12.3.background.2.wp")
	want := wire.Event{
		Kind: wire.ServerArrived, ID: wire.AttemptID{Client: 417, Request: 12, Try: 3},
		Class: wire.Background, Method: wire.Put, Scope: 2,
		Warm: true, Probe: true, Fault: wire.NoFault,
	}
	if got := b.last(wire.ServerArrived); got != want {
		t.Errorf("arrived %+v, want %+v", got, want)
	}
}

func TestForeignClientsAreToldApart(t *testing.T) {
	b := newBench(t, fault.Config{})
	ids := func(fields ...string) wire.Event {
		if r := b.get("/anything", fields...); r.status != 200 {
			t.Fatalf("reply %+v", r)
		}
		return b.last(wire.ServerArrived)
	}
	first := ids("X-Client-Id: shop", "X-Priority: critical")
	again := ids("X-Client-Id: shop", "X-Priority: urgent")
	other, address := ids("X-Client-Id: bank"), ids()
	if first.ID.Request != 1 || again.ID.Request != 2 || first.ID.Client != again.ID.Client {
		t.Errorf("the same client is %v, then %v", first.ID, again.ID)
	}
	if other.ID.Client == first.ID.Client || address.ID.Client == first.ID.Client ||
		first.ID.Client < FirstForeignClient {
		t.Errorf("clients %v, %v, %v", first.ID, other.ID, address.ID)
	}
	if first.Class != wire.Critical || again.Class != wire.Interactive {
		t.Errorf("classes %v, %v, want critical, interactive", first.Class, again.Class)
	}
}

// requestOf is a request of a foreign client.
func requestOf(client string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set(ClientHeader, client)
	return r
}

func TestGuestsAreBounded(t *testing.T) {
	var g guests
	r := requestOf("")
	for i := range 2 * maxGuests {
		r.Header.Set(ClientHeader, "c"+strconv.Itoa(i))
		g.arrive(r, 0)
	}
	if n, _ := g.counts(); n > maxGuests+1 {
		t.Errorf("%d clients are remembered, want at most %d", n, maxGuests+1)
	}
	if id := g.arrive(requestOf("a newcomer"), 0).id; id.Client != overflow {
		t.Errorf("a newcomer is %v, want %v", id.Client, overflow)
	}
}

// The same key is the same client in every run, whoever called before.
func TestForeignClientsDoNotDependOnOrder(t *testing.T) {
	var g, h guests
	h.arrive(requestOf("another"), 0)
	if a, b := g.arrive(requestOf("shop"), 0), h.arrive(requestOf("shop"), 0); a != b {
		t.Errorf("shop is %v and %v", a, b)
	}
}

func TestOutageResetsAllInFlightAndCountsArrivals(t *testing.T) {
	const n = 200
	b := newBench(t, fault.Config{
		Service: fault.Service{Mean: 10 * sec},
		Faults:  []fault.Fault{{Name: "down", Kind: fault.Outage, Start: sec, Length: sec}},
	})
	results := b.start(n)
	within(t, "all in flight", func() bool { return b.stats().Busy == n })
	b.clock.set(sec)
	for range n {
		if r := wait(t, results); !errors.Is(r.err, syscall.ECONNRESET) {
			t.Errorf("reply %+v, want a reset connection", r)
		}
	}
	for range 5 {
		if r := b.get("/"); !errors.Is(r.err, syscall.ECONNRESET) {
			t.Errorf("during the outage: reply %+v, want a reset connection", r)
		}
	}
	if got := b.count(wire.ServerArrived); got != n+5 {
		t.Errorf("%d arrivals, want %d", got, n+5)
	}
	b.clock.set(2 * sec)
	within(t, "the outage is over", func() bool { return !b.stats().Faults[0].On })
	if hits := b.stats().Faults[0].Hits; hits != n+5 {
		t.Errorf("%d hits, want %d", hits, n+5)
	}
}

// P-L10: each try that goes out on the wire is an arrival, the replays that
// net/http makes by itself included, and no request fails for any other reason
// than the model's.
func TestArrivalsAreWhatWentOutOnTheWire(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		t.Run(method, func(t *testing.T) {
			b := newBench(t, fault.Config{Faults: []fault.Fault{
				{Name: "down", Kind: fault.Outage, Manual: true},
			}})
			for round := range 20 {
				do := wire.FaultOff
				if round%2 == 1 {
					do = wire.FaultOn // hits the connection kept alive from before
				}
				if err := b.Do(wire.ServerInput{Kind: wire.ServerFault, Do: do}); err != nil {
					t.Fatal(err)
				}
				r := b.call(context.Background(), method, "/")
				if (r.err != nil) != (do == wire.FaultOn) {
					t.Errorf("round %d, fault %v: %+v", round, do, r)
				}
			}
			if got, want := int64(b.count(wire.ServerArrived)), b.written.Load(); got != want {
				t.Errorf("%d arrivals, %d requests written", got, want)
			}
			if got := b.written.Load(); method == http.MethodPost && got != 20 {
				t.Errorf("%d POST requests written, want 20", got)
			}
		})
	}
}

func TestRetryAfterInEveryForm(t *testing.T) {
	for form, want := range map[wire.HintForm]string{
		wire.HintNone:        "",
		wire.HintSeconds:     "2",
		wire.HintIMFDate:     "Thu, 01 Jan 1970 00:00:12 GMT",
		wire.HintRFC850Date:  "Thursday, 01-Jan-70 00:00:12 GMT",
		wire.HintAsctimeDate: "Thu Jan  1 00:00:12 1970",
	} {
		b := newBench(t, fault.Config{Limit: fault.RateLimit{Rate: 500, Burst: 1, Form: form}})
		b.clock.set(9500 * ms) // the next token comes at 11.5 s
		b.get("/")
		r := b.get("/")
		if got := r.header.Get("Retry-After"); r.status != 429 || got != want {
			t.Errorf("%v: status %d, Retry-After %q, want 429, %q", form, r.status, got, want)
		}
	}
}

func TestModelHearsThatAClientHasGone(t *testing.T) {
	b := newBench(t, fault.Config{Service: fault.Service{Mean: sec}})
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan result, 1)
	go func() { gone <- b.call(ctx, http.MethodPost, "/") }()
	within(t, "in service", func() bool { return b.stats().Busy == 1 })
	cancel()
	if r := wait(t, gone); !errors.Is(r.err, context.Canceled) {
		t.Errorf("reply %+v, want cancelled", r)
	}
	within(t, "nobody waits", func() bool { return b.stats().Open == 0 })
	if b.stats().Busy != 1 {
		t.Error("the server stopped working although it cannot know")
	}
	b.clock.set(sec)
	within(t, "served", func() bool { return b.count(wire.ServerDone) == 1 })
	if !b.last(wire.ServerDone).Wasted {
		t.Error("the work is not counted as wasted")
	}
}

func TestSecondAttemptOfTheSameNameIsRefused(t *testing.T) {
	b := newBench(t, fault.Config{Service: fault.Service{Mean: sec}})
	results := b.start(1)
	within(t, "in service", func() bool { return b.stats().Busy == 1 })
	if r := b.get("/", attemptField(0, 1, 1)); r.status != http.StatusConflict {
		t.Errorf("reply %+v, want 409", r)
	}
	b.clock.set(sec)
	if r := wait(t, results); r.status != 200 {
		t.Errorf("the first: %+v, want 200", r)
	}
	if got := b.count(wire.ServerArrived); got != 1 {
		t.Errorf("%d arrivals, want 1", got)
	}
}

func TestBadRequestsAreRefused(t *testing.T) {
	b := newBench(t, fault.Config{})
	if r := b.get("/", wire.AttemptHeader+": nonsense"); r.status != 400 ||
		!strings.Contains(r.body, "nonsense") {
		t.Errorf("bad header: %+v", r)
	}
	large := strings.NewReader(strings.Repeat("x", maxBody+1))
	response, err := b.client.Post(b.URL()+"/", "text/plain", large)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	if response.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("large body: status %d, want 413", response.StatusCode)
	}
	if got := b.count(wire.ServerArrived); got != 0 {
		t.Errorf("%d arrivals, want 0", got)
	}
}

func TestHandsOvertakeTraffic(t *testing.T) {
	const n = 300
	b := newBench(t, fault.Config{
		Workers: 1,
		Service: fault.Service{Mean: time.Hour},
		Faults:  []fault.Fault{{Name: "down", Kind: fault.Outage, Manual: true}},
	})
	results := b.start(n)
	within(t, "all hang", func() bool { return b.stats().Open == n })
	workers, _ := knob.Index(fault.Fields, "server.workers")
	set := wire.ServerInput{Kind: wire.ServerSet, Knob: uint16(workers), Value: 0}
	if err := b.Do(set); err != nil {
		t.Fatal(err)
	}
	if s := b.stats(); s.Busy != n || s.Backlog != 0 {
		t.Errorf("after more workers: %+v", s)
	}
	on := wire.ServerInput{Kind: wire.ServerFault, Do: wire.FaultOn}
	if err := b.Do(on); err != nil {
		t.Fatal(err)
	}
	for range n {
		if r := wait(t, results); r.err == nil {
			t.Fatalf("reply %+v, want a reset connection", r)
		}
	}
}

func TestDoRefusesWhatDoesNotExist(t *testing.T) {
	b := newBench(t, fault.Config{})
	for _, in := range []wire.ServerInput{
		{Kind: wire.ServerArrive},
		{Kind: wire.ServerFault},
		{Kind: wire.ServerSet, Knob: 999},
		{Kind: wire.ServerSet, Knob: 0, Value: -1},
	} {
		if err := b.Do(in); err == nil {
			t.Errorf("Do(%+v) is accepted", in)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	const n = 1000
	b := newBench(t, fault.Config{Service: fault.Service{Mean: sec}})
	results := b.start(n)
	within(t, "all in service", func() bool { return b.stats().Busy == n })
	b.clock.set(sec)
	for range n {
		if r := wait(t, results); r.status != 200 {
			t.Fatalf("reply %+v, want 200", r)
		}
	}
	if got := b.count(wire.ServerDone); got != n {
		t.Errorf("%d done, want %d", got, n)
	}
}

// While the clock stands still nothing ends; what was due goes on from there.
func TestPausedClockHoldsReplies(t *testing.T) {
	b := newBench(t, fault.Config{Service: fault.Service{Mean: sec}})
	results := b.start(1)
	within(t, "in service", func() bool { return b.stats().Busy == 1 })
	b.clock.set(999 * ms) // stops and starts, and is still too early
	if s := b.stats(); s.Busy != 1 {
		t.Errorf("busy %d before the time, want 1", s.Busy)
	}
	b.clock.set(sec)
	if r := wait(t, results); r.status != 200 {
		t.Errorf("reply %+v, want 200", r)
	}
}

// wallClock is the wall clock from 0.
type wallClock struct{ began time.Time }

func (c wallClock) Now() clock.Instant { return clock.Instant(time.Since(c.began)) }

func (c wallClock) Wait(t clock.Instant) (time.Duration, bool, <-chan struct{}) {
	return t.Sub(c.Now()), true, nil
}

// The timer is set anew when something earlier comes up, and no reply is early.
func TestTimerFollowsTheClock(t *testing.T) {
	const short = 20 * ms
	b := newBench(t, fault.Config{Service: fault.Service{Mean: time.Hour}},
		func(c *Config) { c.Clock = wallClock{time.Now()} })
	slow := b.start(1)
	within(t, "in service", func() bool { return b.stats().Busy == 1 })
	mean, _ := knob.Index(fault.Fields, "server.service.mean")
	set := wire.ServerInput{Kind: wire.ServerSet, Knob: uint16(mean), Value: int64(short)}
	if err := b.Do(set); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		began := time.Now()
		if r := b.get("/"); r.status != 200 {
			t.Errorf("reply %+v, want 200", r)
		}
		if took := time.Since(began); took < short {
			t.Errorf("a reply after %v, want %v at least", took, short)
		}
	}
	select {
	case r := <-slow:
		t.Errorf("the slow one has ended: %+v", r)
	default:
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	wait(t, slow)
}

func BenchmarkRoundTrip(b *testing.B) {
	s := newBench(b, fault.Config{})
	b.ReportAllocs()
	for b.Loop() {
		if r := s.get("/"); r.status != 200 {
			b.Fatalf("reply %+v", r)
		}
	}
}
