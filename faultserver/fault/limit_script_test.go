package fault

import (
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// verdicts has attempts arrive, one each, and gives the status of each reply.
func (x *script) verdicts(at time.Duration, attempts ...wire.Attempt) []uint16 {
	var statuses []uint16
	for _, a := range attempts {
		x.arrive(at, a)
		status := uint16(0)
		for i := range x.buf {
			if x.buf[i].Kind == wire.ServerReply {
				status = x.buf[i].Reply.Status
			}
		}
		statuses = append(statuses, status)
	}
	x.log.Reset()
	return statuses
}

func (x *script) wantVerdicts(at time.Duration, attempts []wire.Attempt, want ...uint16) {
	x.t.Helper()
	got := x.verdicts(at, attempts...)
	for i := range want {
		if got[i] != want[i] {
			x.t.Errorf("at %v: statuses %v, want %v", at, got, want)
			return
		}
	}
}

// returned counts how those came back that have so far.
func (x *script) returned() (returns [wire.NumReturns]int64) {
	for i := range x.returns {
		returns[x.returns[i]]++
	}
	return returns
}

// each is the first attempts of so many clients.
func each(clients int, request int) []wire.Attempt {
	var attempts []wire.Attempt
	for c := range clients {
		attempts = append(attempts, get(c+1, request, 1))
	}
	return attempts
}

func TestFixedWindowEndsForEverybodyAtOnce(t *testing.T) {
	x := newScript(t, Config{Limit: RateLimit{
		Rate: 1000, Law: FixedWindow, Window: 2 * s, Form: wire.HintSeconds,
	}})
	for client := 1; client <= 3; client++ {
		x.arrive(1200*ms, get(client, 1, 1))
	}
	x.arrive(2*s, get(3, 1, 2))
	x.want(
		"1.2s   server_arrived c0001/1#1",
		"1.2s   server_began c0001/1#1",
		"1.2s   reply c0001/1#1 200",
		"1.2s   server_done c0001/1#1 status=200",
		"1.2s   server_arrived c0002/1#1",
		"1.2s   server_began c0002/1#1",
		"1.2s   reply c0002/1#1 200",
		"1.2s   server_done c0002/1#1 status=200",
		"1.2s   server_arrived c0003/1#1",
		"1.2s   reply c0003/1#1 429 seconds=1",
		"1.2s   server_rejected c0003/1#1 status=429 cause=rate_limit",
		"2s     server_arrived c0003/1#2",
		"2s     server_returned c0003/1#2 delay=-200ms", // it was told 1 s, which rounds 0.8 s up
		"2s     server_began c0003/1#2",
		"2s     reply c0003/1#2 200",
		"2s     server_done c0003/1#2 status=200",
	)
}

func TestSlidingWindowFades(t *testing.T) {
	x := newScript(t, Config{Limit: RateLimit{Rate: 4000, Law: SlidingWindow, Window: s}})
	x.wantVerdicts(900*ms, each(5, 1), 200, 200, 200, 200, 429)
	// 4 x 0.9 = 3.6 are still counted, 4 x 0.75 = 3 and 4 x 0.5 = 2.
	x.wantVerdicts(1100*ms, each(1, 2), 429)
	x.wantVerdicts(1250*ms, each(2, 3), 200, 429)
	x.wantVerdicts(1500*ms, each(2, 4), 200, 429)
}

func TestLimitPerClientAndPerClass(t *testing.T) {
	x := newScript(t, Config{Limit: RateLimit{Rate: 1000, Burst: 1, Per: PerClient}})
	x.wantVerdicts(0, each(3, 1), 200, 200, 200)
	x.wantVerdicts(0, each(3, 2), 429, 429, 429)
	if known, forgotten := x.s.Callers(); known != 3 || forgotten != 0 {
		t.Errorf("%d callers, %d forgotten, want 3, 0", known, forgotten)
	}
	background := get(9, 1, 1)
	background.Class = wire.Background
	x = newScript(t, Config{Limit: RateLimit{Rate: 1000, Burst: 1, Per: PerClass}})
	x.wantVerdicts(0, append(each(2, 1), background, background), 200, 429, 200, 429)
}

// Attempts that wait count as well; one that leaves is still there.
func TestCapOnAttemptsAtTheServer(t *testing.T) {
	x := newScript(t, Config{
		Workers: 1, Service: Service{Mean: 1500 * ms},
		Limit: RateLimit{Concurrent: 2, Answer: AnswerUnavailable, Form: wire.HintSeconds},
	})
	x.arrive(0, get(1, 1, 1))
	x.arrive(0, get(2, 1, 1))
	x.leave(s, get(1, 1, 1))
	x.arrive(s, get(3, 1, 1))
	x.arrive(1500*ms, get(3, 1, 2))
	x.want(
		"0s     server_arrived c0001/1#1",
		"0s     server_began c0001/1#1",
		"0s     server_arrived c0002/1#1",
		"1s     server_arrived c0003/1#1",
		"1s     reply c0003/1#1 503 seconds=2",
		"1s     server_rejected c0003/1#1 status=503 cause=rate_limit",
		"1.5s   server_done c0001/1#1 delay=1.5s status=200 wasted",
		"1.5s   server_began c0002/1#1 delay=1.5s",
		"1.5s   server_arrived c0003/1#2",
		"1.5s   server_returned c0003/1#2 delay=-1.5s",
	)
}

func TestCapPerClientTakesNothingFromTheRate(t *testing.T) {
	x := newScript(t, Config{
		Service: Service{Mean: s},
		Limit:   RateLimit{Rate: 1, Burst: 3, Concurrent: 1},
	})
	x.set(0, "server.limit.per", int64(PerClient))
	one := get(1, 1, 1)
	x.wantVerdicts(0, []wire.Attempt{one, get(1, 2, 1), get(2, 1, 1)}, 0, 429, 0)
	x.to(10 * s)
	for request := 3; request <= 4; request++ {
		x.wantVerdicts(10*s*time.Duration(request), []wire.Attempt{get(1, request, 1)}, 0)
	}
	x.wantVerdicts(50*s, []wire.Attempt{get(1, 5, 1)}, 429)
}

func TestQuotaFaultHasItsOwnLaw(t *testing.T) {
	x := newScript(t, Config{Faults: []Fault{{
		Name: "quota", Kind: Quota, Start: s, Length: 10 * s, Every: 20 * s,
		Limit: RateLimit{Rate: 2000, Law: FixedWindow, Per: PerClient, Answer: AnswerUnavailable},
	}}})
	x.wantVerdicts(0, each(1, 1), 200)
	two := []wire.Attempt{get(1, 2, 1), get(1, 3, 1), get(1, 4, 1), get(2, 1, 1)}
	x.wantVerdicts(1500*ms, two, 200, 200, 503, 200)
	x.wantVerdicts(21500*ms, two, 200, 200, 503, 200) // a window begins with nothing used
	if got := x.s.Hits(0); got != 2 {
		t.Errorf("%d hits, want 2", got)
	}
}

// A quota that is not meant for an attempt leaves it to the server's own limit.
func TestQuotaIsForThoseThatItMatches(t *testing.T) {
	x := newScript(t, Config{
		Limit: RateLimit{Rate: 1, Burst: 2},
		Faults: []Fault{{
			Name: "quota", Kind: Quota, Length: 10 * s, Limit: RateLimit{Rate: 1, Burst: 1},
			Match: Match{Classes: 1 << wire.Background},
		}},
	})
	background := get(9, 1, 1)
	background.Class = wire.Background
	x.wantVerdicts(0, []wire.Attempt{
		background, get(1, 1, 1), background, get(1, 2, 1), get(1, 3, 1),
	}, 200, 200, 429, 200, 429)
}

// The waits of those who come together are spread over half a wait, none shorter
// than the law asks; the draws are those of the attempt.
func TestServerJitterSpreadsWaits(t *testing.T) {
	config := Config{Limit: RateLimit{
		Rate: 10, Burst: 1, Form: wire.HintFraction, Jitter: 500,
	}}
	waits := func(seed uint64) (waits []int64) {
		server, err := New(config, seed, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range each(101, 1) {
			for _, e := range server.Step(0, arrival(a), nil) {
				if e.Kind == wire.ServerReply && e.Reply.Status == 429 {
					waits = append(waits, e.Reply.Hint.Value)
				}
			}
		}
		return waits
	}
	first, again, other := waits(1), waits(1), waits(2)
	least, most, sum, differ := first[0], first[0], int64(0), 0
	for i, w := range first {
		least, most, sum = min(least, w), max(most, w), sum+w
		if w != again[i] {
			t.Fatalf("wait %d is %d and %d with one seed", i, w, again[i])
		}
		if w != other[i] {
			differ++
		}
	}
	// 100 draws over 50 s: a mean of 125 s with a standard deviation of 1.44 s.
	mean := sum / int64(len(first))
	if least < 100_000 || most > 150_000 || mean < 119_000 || mean > 131_000 || differ < 90 {
		t.Errorf("waits from %d to %d ms, mean %d; %d differ with another seed",
			least, most, mean, differ)
	}
}

// A date is written, and meant, by the clock of the server.
func TestSkewedClock(t *testing.T) {
	for _, c := range []struct {
		skew, back time.Duration
		value      int64
		want       wire.Return
	}{
		{0, 2 * s, 2, wire.ReturnedOnTime},
		{60 * s, 2 * s, 62, wire.ReturnedOnTime},
		{60 * s, 62 * s, 62, wire.ReturnedLate}, // read by the right clock
		{-60 * s, 0, -58, wire.ReturnedEarly},   // it has passed by the right clock
	} {
		x := newScript(t, Config{
			ClockSkew: c.skew, Limit: RateLimit{Rate: 500, Burst: 1, Form: wire.HintIMFDate},
		})
		x.arrive(0, get(1, 1, 1))
		x.arrive(0, get(2, 1, 1))
		if got := x.buf[1].Reply.Hint; got != (wire.Hint{Form: wire.HintIMFDate, Value: c.value}) {
			t.Errorf("skew %v: hint %+v, want %d", c.skew, got, c.value)
		}
		if got := x.s.Date(clock.Instant(1500 * ms)); got != 1+int64(c.skew/s) {
			t.Errorf("skew %v: date %d after 1.5 s", c.skew, got)
		}
		x.arrive(c.back, get(2, 1, 2))
		if got := x.returned(); got[c.want] != 1 {
			t.Errorf("skew %v: back after %v: returns %v, want one %d", c.skew, c.back, got, c.want)
		}
	}
}

// When a return counts as what, by the form: the wait is 1.5 s, from 0 s on.
func TestReturnsByForm(t *testing.T) {
	for _, c := range []struct {
		form wire.HintForm
		back time.Duration
		want wire.Return
	}{
		{wire.HintSeconds, 1999 * ms, wire.ReturnedEarly},
		{wire.HintSeconds, 2 * s, wire.ReturnedOnTime},
		{wire.HintSeconds, 3 * s, wire.ReturnedOnTime},
		{wire.HintSeconds, 3001 * ms, wire.ReturnedLate},
		{wire.HintNegative, 3 * s, wire.ReturnedUntold},
		{wire.HintFraction, 1 * s, wire.ReturnedUntold},
		{wire.HintSigned, 1 * s, wire.ReturnedUntold},
		{wire.HintGarbage, 1 * s, wire.ReturnedUntold},
		{wire.HintEmpty, 1 * s, wire.ReturnedUntold},
		{wire.HintPast, 100 * ms, wire.ReturnedLate},
		{wire.HintHuge, 1000 * time.Hour, wire.ReturnedEarly},
		{wire.HintPadded, 2 * s, wire.ReturnedOnTime},
		{wire.HintTwice, 3999 * ms, wire.ReturnedEarly},
		{wire.HintTwice, 4 * s, wire.ReturnedOnTime},
		{wire.HintPushback, 1499 * ms, wire.ReturnedEarly},
		{wire.HintPushback, 1500 * ms, wire.ReturnedOnTime},
		{wire.HintPushbackStop, 1000 * time.Hour, wire.ReturnedEarly},
	} {
		x := newScript(t, Config{Limit: RateLimit{
			Rate: 667, Burst: 1, Form: c.form,
		}})
		x.arrive(0, get(1, 1, 1))
		x.arrive(0, get(2, 1, 1))
		x.arrive(c.back, get(2, 1, 2))
		var want [wire.NumReturns]int64
		want[c.want] = 1
		if got := x.returned(); got != want {
			t.Errorf("%v after %v: returns %v, want %v", c.form, c.back, got, want)
		}
	}
}

func TestRepliesCarryTheQuota(t *testing.T) {
	x := newScript(t, Config{Limit: RateLimit{
		Rate: 200, Law: FixedWindow, Window: 10 * s, Fields: true, Form: wire.HintSeconds,
	}})
	for client := 1; client <= 3; client++ {
		x.arrive(2500*ms, get(client, 1, 1))
	}
	x.want(
		"2.5s   server_arrived c0001/1#1",
		"2.5s   server_began c0001/1#1",
		"2.5s   reply c0001/1#1 200 q=2 w=10 r=1 t=8",
		"2.5s   server_done c0001/1#1 status=200",
		"2.5s   server_arrived c0002/1#1",
		"2.5s   server_began c0002/1#1",
		"2.5s   reply c0002/1#1 200 q=2 w=10 r=0 t=8",
		"2.5s   server_done c0002/1#1 status=200",
		"2.5s   server_arrived c0003/1#1",
		"2.5s   reply c0003/1#1 429 seconds=8 q=2 w=10 r=0 t=8",
		"2.5s   server_rejected c0003/1#1 status=429 cause=rate_limit",
	)
}

func TestLimitStartsAnewWithAnotherLaw(t *testing.T) {
	x := newScript(t, Config{Limit: RateLimit{Rate: 1000, Burst: 1}})
	x.wantVerdicts(0, each(2, 1), 200, 429)
	x.set(0, "server.limit.law", int64(FixedWindow))
	x.wantVerdicts(0, each(2, 2), 200, 429)
	x.set(0, "server.workers", 5) // changes nothing of the limit
	x.wantVerdicts(0, each(1, 3), 429)
	x.set(0, "server.limit.rate", 2000)
	x.wantVerdicts(0, each(2, 4), 200, 429) // a window keeps its count
	x.set(0, "server.limit.per", int64(PerClient))
	x.wantVerdicts(0, each(2, 5), 200, 200)
}
