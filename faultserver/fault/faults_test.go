package fault

import (
	"testing"
	"time"

	"herdscope/engine/wire"
)

func TestOutageResetsWhatIsInFlightAndWhatArrives(t *testing.T) {
	x := newScript(t, Config{
		Workers: 2,
		Service: Service{Mean: 600 * ms},
		Faults:  []Fault{{Name: "down", Kind: Outage, Start: s, Length: s}},
	})
	x.arrive(700*ms, get(1, 1, 1))
	x.arrive(800*ms, get(2, 1, 1))
	x.arrive(900*ms, get(3, 1, 1))
	x.leave(950*ms, get(2, 1, 1))
	x.log.Reset()
	x.arrive(1500*ms, get(1, 1, 2))
	x.arrive(2*s, get(1, 1, 3))
	x.to(10 * s)
	x.want(
		"1s     fault_began cause=fault fault=0 until=2s",
		"1s     reset c0001/1#1",
		"1s     server_reset c0001/1#1 delay=300ms cause=fault fault=0 wasted",
		"1s     server_reset c0002/1#1 delay=200ms cause=fault fault=0 wasted",
		"1s     reset c0003/1#1",
		"1s     server_reset c0003/1#1 cause=fault fault=0",
		"1.5s   server_arrived c0001/1#2",
		"1.5s   reset c0001/1#2",
		"1.5s   server_reset c0001/1#2 cause=fault fault=0",
		"2s     fault_ended cause=fault fault=0",
		"2s     server_arrived c0001/1#3",
		"2s     server_began c0001/1#3",
		"2.6s   reply c0001/1#3 200",
		"2.6s   server_done c0001/1#3 delay=600ms status=200",
	)
	if got := x.s.Hits(0); got != 4 {
		t.Errorf("hits = %d, want 4", got)
	}
}

func TestWorkThatEndsAsTheOutageBeginsHasEnded(t *testing.T) {
	x := newScript(t, Config{
		Service: Service{Mean: s},
		Faults:  []Fault{{Name: "down", Kind: Outage, Start: s, Length: s}},
	})
	x.arrive(0, get(1, 1, 1))
	x.log.Reset()
	x.to(s)
	x.want(
		"1s     reply c0001/1#1 200",
		"1s     server_done c0001/1#1 delay=1s status=200",
		"1s     fault_began cause=fault fault=0 until=2s",
	)
}

func TestErrorsHitTheirShare(t *testing.T) {
	const n = 20_000
	for share, bounds := range map[int64][2]int64{
		0:    {0, 0},
		1000: {n, n},
		// Four standard deviations, sqrt(n p (1-p)) = 61, on each side.
		250: {n/4 - 245, n/4 + 245},
	} {
		server := mustNew(t, Config{Faults: []Fault{
			{Name: "burst", Kind: Errors, Length: time.Hour, Status: 502, Share: share * 1000},
		}})
		failed := int64(0)
		for i := range n {
			out := server.Step(0, arrival(get(i%100, i/100+1, 1)), nil)
			for _, e := range out {
				if e.Kind == wire.ServerReply && e.Reply.Status == 502 {
					failed++
				}
			}
		}
		if failed < bounds[0] || failed > bounds[1] {
			t.Errorf("share %d of %d: %d failed, want %v", share, n, failed, bounds)
		}
		if failed != server.Hits(0) {
			t.Errorf("share %d: %d failed, %d hits", share, failed, server.Hits(0))
		}
	}
}

func TestErrorsComeInOrderAndBeforeTheRateLimit(t *testing.T) {
	x := newScript(t, Config{
		Limit: RateLimit{Rate: 1, Burst: 1},
		Faults: []Fault{
			{Name: "none", Kind: Errors, Length: s, Status: 500, Share: 0},
			{Name: "first", Kind: Errors, Length: s, Status: 502, Share: Always},
			{Name: "second", Kind: Errors, Length: s, Status: 504, Share: Always},
		},
	})
	x.to(0)
	x.log.Reset()
	x.arrive(0, get(1, 1, 1))
	x.arrive(s, get(1, 1, 2)) // the token is still there
	x.want(
		"0s     server_arrived c0001/1#1",
		"0s     reply c0001/1#1 502",
		"0s     server_rejected c0001/1#1 status=502 cause=fault fault=1",
		"1s     fault_ended cause=fault fault=0",
		"1s     fault_missed cause=fault fault=0",
		"1s     fault_ended cause=fault fault=1",
		"1s     fault_ended cause=fault fault=2",
		"1s     fault_missed cause=fault fault=2",
		"1s     server_arrived c0001/1#2",
		"1s     server_began c0001/1#2",
		"1s     reply c0001/1#2 200",
		"1s     server_done c0001/1#2 status=200",
	)
}

func TestLatencySlowsWhatArrivesMeanwhile(t *testing.T) {
	x := newScript(t, Config{
		Workers: 1,
		Service: Service{Mean: 100 * ms},
		Faults: []Fault{
			{Name: "slow", Kind: Latency, Share: Always, Start: 50 * ms, Length: 100 * ms, Added: s},
			{Name: "slower", Kind: Latency, Share: Always, Start: 50 * ms, Length: 100 * ms, Added: 2 * s},
		},
	})
	x.arrive(0, get(1, 1, 1))
	x.arrive(60*ms, get(2, 1, 1))
	x.arrive(150*ms, get(3, 1, 1))
	x.log.Reset()
	x.to(10 * s)
	x.want(
		"3.2s   reply c0002/1#1 200",
		"3.2s   server_done c0002/1#1 delay=3.1s status=200",
		"3.2s   server_began c0003/1#1 delay=3.05s",
		"3.3s   reply c0003/1#1 200",
		"3.3s   server_done c0003/1#1 delay=100ms status=200",
	)
	if x.s.Hits(0) != 1 || x.s.Hits(1) != 1 {
		t.Errorf("hits = %d, %d, want 1, 1", x.s.Hits(0), x.s.Hits(1))
	}
}

func TestSlowedServiceNamesItsFault(t *testing.T) {
	x := newScript(t, Config{Faults: []Fault{
		{Name: "other", Kind: Latency, Share: Always, Manual: true, Added: s},
		{Name: "slow", Kind: Latency, Share: Always, Length: s, Added: s},
	}})
	x.arrive(0, get(1, 1, 1))
	x.want(
		"0s     fault_began cause=fault fault=1 until=1s",
		"0s     server_arrived c0001/1#1",
		"0s     server_began c0001/1#1 cause=fault fault=1",
	)
}

func TestQuotaReplacesTheLimit(t *testing.T) {
	x := newScript(t, Config{
		Limit: RateLimit{Rate: 1000, Burst: 1, Form: wire.HintSeconds},
		Faults: []Fault{{
			Name: "quota", Kind: Quota, Start: s, Length: s,
			Limit: RateLimit{Rate: 100, Burst: 2, Form: wire.HintNone},
		}},
	})
	x.arrive(0, get(1, 1, 1))
	x.arrive(0, get(1, 2, 1))
	x.want(
		"0s     server_arrived c0001/1#1",
		"0s     server_began c0001/1#1",
		"0s     reply c0001/1#1 200",
		"0s     server_done c0001/1#1 status=200",
		"0s     server_arrived c0001/2#1",
		"0s     reply c0001/2#1 429 seconds=1",
		"0s     server_rejected c0001/2#1 status=429 cause=rate_limit",
	)
	for request := 3; request <= 5; request++ {
		x.arrive(s, get(1, request, 1))
	}
	x.want(
		"1s     fault_began cause=fault fault=0 until=2s",
		"1s     server_arrived c0001/3#1",
		"1s     server_began c0001/3#1",
		"1s     reply c0001/3#1 200",
		"1s     server_done c0001/3#1 status=200",
		"1s     server_arrived c0001/4#1",
		"1s     server_began c0001/4#1",
		"1s     reply c0001/4#1 200",
		"1s     server_done c0001/4#1 status=200",
		"1s     server_arrived c0001/5#1",
		"1s     reply c0001/5#1 429",
		"1s     server_rejected c0001/5#1 status=429 cause=rate_limit fault=0",
	)
	if got := x.s.Hits(0); got != 1 {
		t.Errorf("hits = %d, want 1", got)
	}
}

func TestReturnAfterHintIsReportedOnce(t *testing.T) {
	for _, c := range []struct {
		form wire.HintForm
		back time.Duration
		want string
	}{
		{wire.HintSeconds, 2 * s, "server_returned c0001/2#2"},
		{wire.HintSeconds, 1700 * ms, "server_returned c0001/2#2 delay=-300ms"},
		{wire.HintIMFDate, 2500 * ms, "server_returned c0001/2#2 delay=500ms"},
		{wire.HintAsctimeDate, 3 * s, "server_returned c0001/2#2 delay=1s"},
	} {
		x := newScript(t, Config{Limit: RateLimit{Rate: 500, Burst: 1, Form: c.form}})
		x.arrive(0, get(1, 1, 1))
		x.arrive(0, get(1, 2, 1)) // the next token comes at 2 s
		x.log.Reset()
		x.arrive(c.back, get(1, 2, 2))
		returned := 0
		for i := range x.buf {
			if x.buf[i].Event.Kind == wire.ServerReturned {
				returned++
				if got := describe(&x.buf[i]); got != c.want {
					t.Errorf("%v: %s, want %s", c.form, got, c.want)
				}
			}
		}
		if returned != 1 {
			t.Errorf("%v: returned %d times", c.form, returned)
		}
	}
}

// Each fault draws for itself: two that hit half of the attempts miss a quarter.
func TestErrorsFaultsDrawIndependently(t *testing.T) {
	half := Fault{Kind: Errors, Length: s, Status: 500, Share: Always / 2}
	first, second := half, half
	first.Name, second.Name = "first", "second"
	server := mustNew(t, Config{Faults: []Fault{first, second}})
	const n = 20_000
	for i := range n {
		server.Step(0, arrival(get(i%100, i/100+1, 1)), nil)
	}
	// Four standard deviations, sqrt(n p (1-p)) = 61.
	if got := server.Hits(1); got < n/4-245 || got > n/4+245 {
		t.Errorf("the second hit %d of %d, want about a quarter", got, n)
	}
}

func TestRateLimitChangesLive(t *testing.T) {
	x := newScript(t, Config{Limit: RateLimit{Rate: 1000, Burst: 2}})
	limited := func(at time.Duration, request int) bool {
		x.arrive(at, get(1, request, 1))
		return x.buf[1].Event.Kind != wire.ServerBegan
	}
	if limited(0, 1) || limited(0, 2) || !limited(0, 3) {
		t.Error("a burst of 2 does not let in 2")
	}
	x.set(500*ms, "server.limit.rate", 250) // half a token has come at the old rate
	if !limited(2499*ms, 4) || limited(2500*ms, 5) {
		t.Error("half a token at 1/s and half at 0.25/s are not there after 2.5 s")
	}
	x.set(2500*ms, "server.limit.burst", 5)
	if !limited(2500*ms, 6) {
		t.Error("a larger bucket comes with tokens")
	}
	x.set(100*s, "server.limit.burst", 1)
	if limited(100*s, 7) || !limited(100*s, 8) {
		t.Error("a smaller bucket keeps more than it holds, or nothing")
	}
	x.set(100*s, "server.limit.rate", 0)
	if limited(100*s, 9) {
		t.Error("a limit that is off limits")
	}
	x.set(100*s, "server.limit.rate", 1)
	if limited(100*s, 10) || !limited(100*s, 11) {
		t.Error("a limit that comes on does not start full")
	}
}

func TestWarmAttemptsPassTheChecksButNotAnOutage(t *testing.T) {
	warm := get(1, 1, 1)
	warm.Warm = true
	x := newScript(t, Config{
		Limit:   RateLimit{Rate: 1, Burst: 1},
		Service: Service{Mean: s},
		Faults: []Fault{
			{Name: "errors", Kind: Errors, Length: time.Hour, Status: 500, Share: Always},
			{Name: "down", Kind: Outage, Start: 0, Length: s},
		},
	})
	x.arrive(time.Duration(wire.Held), warm)
	warm.ID.Client = 2
	x.arrive(time.Duration(wire.Held), warm)
	if x.s.Busy() != 2 {
		t.Fatalf("%d in service before the run, want 2", x.s.Busy())
	}
	x.to(0)
	if x.s.Busy() != 0 || x.s.Hits(1) != 2 {
		t.Errorf("after the outage began: %d in service, %d hits, want 0, 2",
			x.s.Busy(), x.s.Hits(1))
	}
}

func mustNew(t testing.TB, c Config) *Server {
	t.Helper()
	server, err := New(c, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

func arrival(a wire.Attempt) wire.ServerInput {
	return wire.ServerInput{Kind: wire.ServerArrive, Attempt: a}
}
