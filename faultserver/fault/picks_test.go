package fault

import (
	"slices"
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// failed is the attempts, of those that arrive one after the other at 0, that a
// fault of the kind errors hits.
func failed(t testing.TB, c Config, seed uint64, attempts []wire.Attempt) (victims []wire.AttemptID) {
	t.Helper()
	server, err := New(c, seed, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []wire.ServerEffect
	for _, a := range attempts {
		out = server.Step(0, arrival(a), out[:0])
		for _, e := range out {
			if e.Kind == wire.ServerReply && e.Reply.Status == 503 {
				victims = append(victims, e.ID)
			}
		}
	}
	return victims
}

func burst(change func(*Fault)) Config {
	f := NewFault(Errors)
	f.Name = "burst"
	change(&f)
	return Config{Faults: []Fault{f}}
}

// P-F2: a share of 0 never hits and one of 1 always does, exactly; a share in
// between hits as often as it says.
func TestPF2SharesAreExactOverAMillionDraws(t *testing.T) {
	const n = 1_000_000
	for _, tt := range []struct{ share, least, most int64 }{
		{0, 0, 0},
		{1, 0, 9}, // one is expected; 10 or more are less likely than 1 in 8 million
		{Always / 2, n/2 - 2500, n/2 + 2500},
		{Always, n, n},
	} {
		server := mustNew(t, burst(func(f *Fault) { f.Share = tt.share }))
		server.Step(0, wire.ServerInput{}, nil)
		var hits int64
		a := get(0, 0, 1)
		for i := range n {
			a.ID.Client, a.ID.Request = wire.ClientID(i%1000), wire.RequestID(i/1000+1)
			if server.strikes(0, &a) {
				hits++
			}
		}
		if hits < tt.least || hits > tt.most {
			t.Errorf("a share of %d millionths hits %d of a million", tt.share, hits)
		}
	}
}

// P-F2: a seed picks the same victims in whatever order they come, and another
// seed others.
func TestPF2ASeedPicksItsVictims(t *testing.T) {
	var attempts []wire.Attempt
	for i := range 2000 {
		attempts = append(attempts, get(i%50, i/50+1, 1))
	}
	c := burst(func(f *Fault) { f.Share = Always / 4 })
	forth := failed(t, c, 1, attempts)
	slices.Reverse(attempts)
	back := failed(t, c, 1, attempts)
	slices.Reverse(back)
	if !slices.Equal(forth, back) || len(forth) == 0 {
		t.Errorf("%d victims, and %d in the other order", len(forth), len(back))
	}
	if other := failed(t, c, 2, attempts); len(other) == len(forth) && slices.Equal(forth, other) {
		t.Error("two seeds have the same victims")
	}
}

func TestCounts(t *testing.T) {
	var attempts []wire.Attempt
	for i := range 12 {
		attempts = append(attempts, get(i%3, i/3+1, 1)) // c0/1 c1/1 c2/1 c0/2 ...
	}
	for _, tt := range []struct {
		name  string
		count Count
		want  []int // places in attempts
	}{
		{"all", Count{}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
		{"first 4", Count{First: 4}, []int{0, 1, 2, 3}},
		{"first 2 of each client", Count{First: 2, PerClient: true}, []int{0, 1, 2, 3, 4, 5}},
		{"each 5th", Count{Nth: 5}, []int{4, 9}},
		{"each 2nd of each client", Count{Nth: 2, PerClient: true}, []int{3, 4, 5, 9, 10, 11}},
		{"each 2nd of the first 4", Count{First: 4, Nth: 2}, []int{1, 3}},
	} {
		var want []wire.AttemptID
		for _, i := range tt.want {
			want = append(want, attempts[i].ID)
		}
		got := failed(t, burst(func(f *Fault) { f.Count = tt.count }), 1, attempts)
		if !slices.Equal(got, want) {
			t.Errorf("%s: hit %v, want %v", tt.name, got, want)
		}
	}
}

// TestUntilSoManySucceed: the victims are a share of the clients; the others
// succeed meanwhile, and then all do.
func TestUntilSoManySucceed(t *testing.T) {
	var attempts []wire.Attempt
	for i := range 200 {
		attempts = append(attempts, get(i%10, i/10+1, 1))
	}
	c := burst(func(f *Fault) { f.Match.Clients, f.Count.Until = 500, 20 })
	victims := failed(t, c, 1, attempts)
	last := victims[len(victims)-1]
	served := 0
	for _, a := range attempts {
		if a.ID == last {
			break
		}
		if !slices.Contains(victims, a.ID) {
			served++
		}
	}
	if served >= 20 || len(victims) < 10 {
		t.Errorf("%d victims, the last after %d successes; want less than 20", len(victims), served)
	}
	if again := c; failed(t, again, 1, attempts)[0] != victims[0] {
		t.Error("the same seed has other victims")
	}
}

// TestCountsBeginAnewWithEachWindow.
func TestCountsBeginAnewWithEachWindow(t *testing.T) {
	f := NewFault(Errors)
	f.Name, f.Length, f.Every, f.Count.First = "f", s, 2*s, 1
	server := mustNew(t, Config{Faults: []Fault{f}})
	for i := range 8 {
		at := clock.Instant(time.Duration(i) * 500 * ms)
		server.Step(at, arrival(get(1, i+1, 1)), nil)
	}
	if hits := server.Hits(0); hits != 2 {
		t.Errorf("%d hits in two windows, want one in each", hits)
	}
}

func TestMatches(t *testing.T) {
	a := get(3, 1, 1)
	a.Method, a.Class, a.Route = wire.Post, wire.Critical, 1
	for _, tt := range []struct {
		field, text string
		want        bool
	}{
		{"methods", "GET", false},
		{"methods", "GET, POST", true},
		{"classes", "critical", true},
		{"classes", "background, interactive", false},
		{"path", "/api", true},
		{"path", "/api/pay", true},
		{"path", "/ap", false},
		{"path", "/", true},
		{"service", "pay", true},
		{"service", OwnService, false},
		{"header", "X-Beta", false},
		{"header", "x-tenant", true},
		{"header", "X-Tenant: gold", true},
		{"header", "X-Tenant: lead", false},
	} {
		f := NewFault(Errors)
		f.Name = "f"
		if err := TextFieldNamed(tt.field).Set(&f, tt.text); err != nil {
			t.Fatal(err)
		}
		server := mustNew(t, Config{
			Faults: []Fault{f}, Routes: []string{"/", "/api/pay"},
			Headers:  [wire.NumClasses]string{wire.Critical: "X-Tenant: gold"},
			Services: []Backend{{Name: "pay", Routes: []uint8{1}}},
		})
		if got := server.matches(0, &a); got != tt.want {
			t.Errorf("%s %s: %v, want %v", tt.field, tt.text, got, tt.want)
		}
		read := a
		read.Read, read.Meets = true, 1
		if f.Match.Textual() && !server.matches(0, &read) {
			t.Errorf("%s %s: what was read off the socket does not count", tt.field, tt.text)
		}
	}
}

func TestBadTextsNameTheFieldAndWhatIsAllowed(t *testing.T) {
	for field, text := range map[string]string{
		"path": "api", "header": "X Beta", "methods": "GTE", "classes": "urgent", "service": "a\nb",
	} {
		f := NewFault(Errors)
		err := TextFieldNamed(field).Set(&f, text)
		if err == nil {
			t.Errorf("%s takes %q", field, text)
		}
		if f != NewFault(Errors) {
			t.Errorf("%s is changed by %q", field, text)
		}
	}
}

// TestTheSameClientsEveryTime: a share of the clients is the same for a fault,
// and another for the next.
func TestTheSameClientsEveryTime(t *testing.T) {
	f := NewFault(Errors)
	f.Name, f.Match.Clients = "f", 300
	g := f
	g.Name = "g"
	server := mustNew(t, Config{Faults: []Fault{f, g}})
	n, both := 0, 0
	for c := range wire.ClientID(10_000) {
		if server.among(0, c) {
			n++
			if server.among(1, c) {
				both++
			}
		}
	}
	if n < 2800 || n > 3200 || both < 750 || both > 1050 {
		t.Errorf("%d of 10000 clients, %d of them in the other fault's share too", n, both)
	}
}

// TestAConnectionSharesItsLot: with the unit connection, a client's attempts are
// all hit or none, until its connection ends.
func TestAConnectionSharesItsLot(t *testing.T) {
	server := mustNew(t, burst(func(f *Fault) { f.Share, f.Unit = Always/2, PerConnection }))
	lot := func(client, request int) bool {
		hits := server.Hits(0)
		server.Step(0, arrival(get(client, request, 1)), nil)
		return server.Hits(0) > hits
	}
	other := 0
	for client := range 100 {
		first := lot(client, 1)
		for request := 2; request < 6; request++ {
			if lot(client, request) != first {
				t.Fatalf("client %d: its attempts on one connection differ", client)
			}
		}
		server.conns.drop(wire.ClientID(client))
		if lot(client, 6) != first {
			other++
		}
	}
	if other < 30 || other > 70 {
		t.Errorf("%d of 100 clients have another lot with their next connection", other)
	}
}

// P-L10: a connection that the server closes for being idle costs the client a
// new one, and a request that was on its way to it its reply.
func TestPL10IdleConnectionsAreClosed(t *testing.T) {
	f := NewFault(IdleClose)
	f.Name, f.After, f.Race = "idle", 50*ms, 2*ms
	x := newScript(t, Config{Service: Service{Mean: 10 * ms}, Faults: []Fault{f}})
	x.arrive(0, post(1, 1, 1))
	x.to(ms * 30)
	x.log.Reset()
	x.arrive(59*ms, post(1, 2, 1))  // idle since 10 ms: 49 ms
	x.arrive(120*ms, post(1, 3, 1)) // idle since 69 ms: closed 1 ms ago
	x.arrive(121*ms, post(1, 4, 1)) // by a new connection
	x.arrive(200*ms, post(1, 5, 1)) // closed 19 ms ago: the client has seen it
	x.to(s)
	x.want(
		"59ms   server_arrived c0001/2#1",
		"59ms   server_began c0001/2#1",
		"69ms   reply c0001/2#1 200",
		"69ms   server_done c0001/2#1 delay=10ms status=200",
		"120ms  server_arrived c0001/3#1",
		"120ms  fault_struck c0001/3#1 cause=fault fault=0",
		"120ms  reset c0001/3#1 nothing",
		"120ms  server_reset c0001/3#1 cause=fault",
		"121ms  server_arrived c0001/4#1",
		"121ms  server_began c0001/4#1",
		"131ms  reply c0001/4#1 200",
		"131ms  server_done c0001/4#1 delay=10ms status=200",
		"200ms  server_arrived c0001/5#1",
		"200ms  fault_struck c0001/5#1 cause=fault fault=0",
		"200ms  server_began c0001/5#1",
		"210ms  reply c0001/5#1 200",
		"210ms  server_done c0001/5#1 delay=10ms status=200",
	)
	if hits := x.s.Hits(0); hits != 2 {
		t.Errorf("%d connections closed, want 2", hits)
	}
}

func TestWaves(t *testing.T) {
	const period = time.Second
	for _, tt := range []struct {
		wave Wave
		at   time.Duration
		want int64
	}{
		{Steady, 300 * ms, full},
		{Sine, 0, 0}, {Sine, 500 * ms, full}, {Sine, 250 * ms, full / 2}, {Sine, 1500 * ms, full},
		{Saw, 0, 0}, {Saw, 250 * ms, full / 4}, {Saw, 999 * ms, full * 999 / 1000},
		{Square, 0, full}, {Square, 499 * ms, full}, {Square, 500 * ms, 0}, {Square, s, full},
	} {
		got := tt.wave.level(tt.at, period)
		if diff := got - tt.want; diff < -3400 || diff > 3400 { // Bhaskara's error, twice
			t.Errorf("%v at %v: %d, want %d", tt.wave, tt.at, got, tt.want)
		}
	}
}

func TestLatencyIsDistributedAndSwings(t *testing.T) {
	f := NewFault(Latency)
	f.Name, f.Added, f.Shape, f.Wave, f.Period = "f", 100*ms, ExponentialShape, Square, 2*s
	server := mustNew(t, Config{Faults: []Fault{f}})
	const n = 20_000
	sum := [2]time.Duration{}
	for half := range sum {
		server.now = clock.Instant(time.Duration(half) * s)
		for i := range n {
			sum[half] += server.latency(0, &job{attempt: get(i, 1, 1)})
		}
	}
	if mean := sum[0] / n; mean < 97*ms || mean > 103*ms || sum[1] != 0 {
		t.Errorf("the mean is %v in one half and %v in the other, want 100ms and 0", mean, sum[1]/n)
	}
}
