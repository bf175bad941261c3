package fleet_test

import (
	"math"
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/knob"
	"herdscope/engine/wire"

	"pgregory.net/rapid"
)

// config is a fleet of n clients with one class of requests and no retries.
func config(n int, a fleet.Arrival) fleet.Config {
	if a.Kind == fleet.ClosedLoop {
		a.Rate = 1000 // unused, but a rate must be in its range
	}
	c := fleet.Config{Clients: n, Arrival: a}
	c.Policy.Retry.Attempts = 1
	c.Policy.Retry.Backoff.Multiplier = 2000
	c.Policy.Retry.Backoff.Base = time.Second
	c.Policy.Retry.Backoff.Cap = 10 * time.Second
	c.Policy.Breaker.OpenFor = time.Second
	c.Policy.Breaker.Probes = 1
	c.Policy.Breaker.Successes = 1
	c.Mix[wire.Interactive].Weight = 1
	return c
}

// rig is a fleet whose attempts are all answered well, after a while.
type rig struct {
	*fleet.Fleet
	replies clock.Queue[wire.AttemptID]
}

func newFleet(t testing.TB, c fleet.Config, seed uint64) *rig {
	f, err := fleet.New(c, seed)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{Fleet: f}
}

// begin is one request that a fleet began.
type begin struct {
	at, since clock.Instant
	id        wire.AttemptID
	class     wire.Class
	warm      bool
}

// answerAll runs a fleet until t, answering every attempt after hold, and
// returns what began.
func answerAll(f *rig, t clock.Instant, hold time.Duration) []begin {
	var begins []begin
	var out []engine.Effect
	for {
		at, whose := next(f.Fleet, &f.replies)
		if at > t {
			return begins
		}
		in := fleet.Input{Kind: fleet.Tick}
		if whose == reply {
			_, id, _ := f.replies.Pop()
			in = fleet.Input{Kind: fleet.Answered, ID: id, Reply: wire.Reply{Status: 200}}
		}
		out = f.Step(at, in, out[:0])
		for _, e := range out {
			switch {
			case e.Kind == engine.Send:
				f.replies.Push(at.Add(hold), e.Attempt.ID)
			case e.Kind == engine.Report && e.Event.Kind == wire.RequestBegan:
				begins = append(begins, begin{
					e.Event.At, e.Event.Since, e.Event.ID, e.Event.Class, e.Event.Warm,
				})
			}
		}
	}
}

type who int

const (
	nobody who = iota
	timer
	reply
)

func next(f *fleet.Fleet, replies *clock.Queue[wire.AttemptID]) (clock.Instant, who) {
	at, whose := clock.Never, nobody
	if due, ok := f.Deadline(); ok {
		at, whose = due, timer
	}
	if due, ok := replies.Peek(); ok && due < at {
		at, whose = due, reply
	}
	return at, whose
}

func seconds(s float64) clock.Instant { return clock.Instant(s * 1e9) }

func TestClosedLoopThinksAfterEachRequest(t *testing.T) {
	f := newFleet(t, config(3, fleet.Arrival{Think: time.Second, ThinkFixed: true}), 1)
	begins := answerAll(f, seconds(10), 500*time.Millisecond)
	last := map[wire.ClientID]clock.Instant{}
	for _, b := range begins {
		if before, ok := last[b.id.Client]; ok && b.at != before.Add(1500*time.Millisecond) {
			t.Errorf("client %d begins at %v after %v", b.id.Client, b.at.Duration(), before.Duration())
		} else if !ok && b.at >= seconds(1) {
			t.Errorf("client %d first begins at %v, beyond its think time", b.id.Client, b.at.Duration())
		}
		last[b.id.Client] = b.at
	}
	if len(begins) < 18 || len(begins) > 21 {
		t.Errorf("%d requests in 10 s of 3 clients with a cycle of 1.5 s", len(begins))
	}
}

func TestHeldClientsBeginWarmAtZero(t *testing.T) {
	f := newFleet(t, config(200, fleet.Arrival{Held: 1000}), 1)
	begins := answerAll(f, 0, time.Second)
	if len(begins) != 200 {
		t.Fatalf("%d requests at 0, want 200", len(begins))
	}
	for _, b := range begins {
		if !b.warm || b.at != 0 {
			t.Fatalf("%v began at %v, warm %v", b.id, b.at, b.warm)
		}
	}
	later := answerAll(f, seconds(1.5), time.Second)
	if len(later) != 200 || later[0].warm {
		t.Errorf("%d requests after the held ones ended, warm %v", len(later), later[0].warm)
	}
}

func TestShareOfHeldClients(t *testing.T) {
	f := newFleet(t, config(10_000, fleet.Arrival{Held: 300, Think: time.Hour}), 1)
	warm := 0
	for _, b := range answerAll(f, 0, time.Hour) {
		if b.warm {
			warm++
		}
	}
	if warm < 2800 || warm > 3200 {
		t.Errorf("%d of 10,000 clients held a request, want about 3,000", warm)
	}
}

func TestPoissonRateAndDispersion(t *testing.T) {
	f := newFleet(t, config(50, fleet.Arrival{Kind: fleet.Poisson, Rate: 200_000}), 7)
	var bins [1000]float64
	begins := answerAll(f, seconds(100), time.Millisecond)
	for _, b := range begins {
		bins[min(int(b.at.Bin(100*time.Millisecond)), 999)]++
		if b.since != b.at {
			t.Fatalf("%v began at %v, but was meant for %v", b.id, b.at, b.since)
		}
	}
	if n := len(begins); math.Abs(float64(n)-20_000) > 4*math.Sqrt(20_000) {
		t.Errorf("%d arrivals in 100 s at 200/s", n)
	}
	mean, sum := float64(len(begins))/1000, 0.0
	for _, n := range bins {
		sum += (n - mean) * (n - mean)
	}
	if fano := sum / 999 / mean; math.Abs(fano-1) > 4*math.Sqrt(2.0/999) {
		t.Errorf("variance over mean of a Poisson stream is %.3f", fano)
	}
}

func TestConstantArrivalsAreEvenlySpaced(t *testing.T) {
	f := newFleet(t, config(8, fleet.Arrival{Kind: fleet.Constant, Rate: 100_000}), 1)
	begins := answerAll(f, seconds(10), time.Second)
	if len(begins) != 1001 {
		t.Fatalf("%d arrivals in [0 s, 10 s] at 100/s", len(begins))
	}
	for i, b := range begins {
		if want := clock.Instant(i) * 10_000_000; b.at != want {
			t.Fatalf("arrival %d at %v, want %v", i, b.at.Duration(), want.Duration())
		}
	}
}

func TestFractionalRate(t *testing.T) {
	f := newFleet(t, config(3, fleet.Arrival{Kind: fleet.Constant, Rate: 100}), 1)
	if n := len(answerAll(f, seconds(100), time.Second)); n != 11 {
		t.Errorf("%d arrivals in [0 s, 100 s] at 0.1/s, want 11", n)
	}
}

// TestNoCatchUpAfterAStall: a sender that stood still for five seconds leaves
// out what it missed, and counts it.
func TestNoCatchUpAfterAStall(t *testing.T) {
	for _, kind := range []fleet.ArrivalKind{fleet.Poisson, fleet.Constant} {
		f := newFleet(t, config(50, fleet.Arrival{Kind: kind, Rate: 1_000_000}), 1)
		answerAll(f, seconds(1), time.Millisecond)
		began, missed := 0, 0
		for _, e := range f.Step(seconds(6), fleet.Input{Kind: fleet.Tick}, nil) {
			switch {
			case e.Kind != engine.Report:
			case e.Event.Kind == wire.RequestBegan:
				began++
				if late := e.Event.At.Sub(e.Event.Since); late > fleet.MaxLag {
					t.Errorf("a request began %v late", late)
				}
			case e.Event.Kind == wire.ArrivalsMissed:
				missed++
			}
		}
		if began > 200 || began == 0 {
			t.Errorf("%v: %d requests at once after a stall; %v of arrivals are 100", kind, began, fleet.MaxLag)
		}
		if missed < 4500 || missed > 5300 {
			t.Errorf("%v: %d arrivals missed in 5 s at 1000/s", kind, missed)
		}
		if at, _ := f.Deadline(); at <= seconds(6) {
			t.Errorf("%v: still due at %v", kind, at.Duration())
		}
	}
}

func TestRateChangeTakesEffectAtOnce(t *testing.T) {
	for _, kind := range []fleet.ArrivalKind{fleet.Poisson, fleet.Constant} {
		f := newFleet(t, config(100, fleet.Arrival{Kind: kind, Rate: 1_000}), 1)
		answerAll(f, seconds(5), time.Millisecond)
		set(t, f, seconds(5), "arrival.rate", 1_000_000)
		n := len(answerAll(f, seconds(6), time.Millisecond))
		if n < 850 || n > 1150 {
			t.Errorf("kind %d: %d arrivals in the second after going from 1/s to 1000/s", kind, n)
		}
	}
}

func set(t testing.TB, f *rig, at clock.Instant, name string, value int64) {
	i, ok := knob.Index(fleet.Fields, name)
	if !ok {
		t.Fatalf("no knob %s", name)
	}
	f.Step(at, fleet.Input{Kind: fleet.Set, Knob: uint16(len(engine.Fields) + i), Value: value}, nil)
}

func TestMixFollowsTheWeights(t *testing.T) {
	c := config(100, fleet.Arrival{Kind: fleet.Poisson, Rate: 1_000_000})
	c.Mix[wire.Critical].Weight = 1
	c.Mix[wire.Interactive].Weight = 3
	c.Mix[wire.Background].Weight = 6
	var counts [wire.NumClasses]float64
	begins := answerAll(newFleet(t, c, 3), seconds(20), time.Millisecond)
	for _, b := range begins {
		counts[b.class]++
	}
	for i, want := range []float64{0.1, 0.3, 0.6} {
		got := counts[i] / float64(len(begins))
		if math.Abs(got-want) > 4*math.Sqrt(want*(1-want)/float64(len(begins))) {
			t.Errorf("%v: %.3f of all, want %.1f", wire.Class(i), got, want)
		}
	}
}

// TestAnotherClientShiftsNobody: with one more client, the others do what they
// did, and a policy moves no arrival.
func TestAnotherClientShiftsNobody(t *testing.T) {
	arrival := fleet.Arrival{Think: time.Second}
	small := answerAll(newFleet(t, config(5, arrival), 9), seconds(20), time.Millisecond)
	big := answerAll(newFleet(t, config(6, arrival), 9), seconds(20), time.Millisecond)
	kept := big[:0:0]
	for _, b := range big {
		if b.id.Client < 5 {
			kept = append(kept, b)
		}
	}
	if len(kept) != len(small) {
		t.Fatalf("%d requests of the first five clients, %d without the sixth", len(kept), len(small))
	}
	for i := range kept {
		if kept[i] != small[i] {
			t.Fatalf("request %d is %+v, without the sixth client %+v", i, kept[i], small[i])
		}
	}
}

func TestStopBeginsNoMore(t *testing.T) {
	f := newFleet(t, config(10, fleet.Arrival{Think: time.Second}), 1)
	answerAll(f, seconds(5), time.Millisecond)
	f.Step(seconds(5), fleet.Input{Kind: fleet.Stop}, nil)
	if n := len(answerAll(f, seconds(50), time.Millisecond)); n != 0 {
		t.Errorf("%d requests began after Stop", n)
	}
}

// TestClientsThatGetNoAnswerDoNotSpin: a closed loop without think time at an
// open breaker begins a request every ShortestTurn, not for ever at one instant.
func TestClientsThatGetNoAnswerDoNotSpin(t *testing.T) {
	c := config(1, fleet.Arrival{})
	c.Policy.Breaker.Failures = 1
	c.Policy.Breaker.OpenFor = time.Hour
	f := newFleet(t, c, 1)
	out := f.Step(0, fleet.Input{Kind: fleet.Tick}, nil)
	f.Step(seconds(1), fleet.Input{
		Kind: fleet.Answered, ID: out[1].Attempt.ID, Reply: wire.Reply{Kind: wire.ReplyReset},
	}, nil)
	n := len(answerAll(f, seconds(2), time.Millisecond))
	if want := int(time.Second/fleet.ShortestTurn) + 1; n < want-1 || n > want+1 {
		t.Errorf("%d requests in a second, want %d", n, want)
	}
}

// TestAnEarlyTickIsHarmless holds for any moment.
func TestAnEarlyTickIsHarmless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, err := fleet.New(config(4, fleet.Arrival{Think: time.Second}), rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		at, _ := f.Deadline()
		early := clock.Instant(rapid.Int64Range(0, int64(at)).Draw(t, "early"))
		if early == at {
			return
		}
		if out := f.Step(early, fleet.Input{Kind: fleet.Tick}, nil); len(out) != 0 {
			t.Fatalf("a tick at %v, before %v, does %v", early, at, out)
		}
	})
}

func TestStepDoesNotAllocate(t *testing.T) {
	c := config(100, fleet.Arrival{Kind: fleet.Poisson, Rate: 10_000_000})
	c.Policy.Retry.Attempts = 3
	c.Policy.Queue.Limit = 1
	f := newFleet(t, c, 1)
	var out []engine.Effect
	steps := func(n int) {
		for range n {
			at, _ := f.Deadline()
			out = f.Step(at, fleet.Input{Kind: fleet.Tick}, out[:0])
			for i := 0; i < len(out); i++ {
				if out[i].Kind == engine.Send {
					in := fleet.Input{Kind: fleet.Answered, ID: out[i].Attempt.ID, Reply: wire.Reply{Status: 200}}
					out = f.Step(at, in, out)
				}
			}
		}
	}
	steps(100_000)
	if n := testing.AllocsPerRun(5, func() { steps(10_000) }); n != 0 {
		t.Errorf("%v allocations in 10,000 steps", n)
	}
}

func BenchmarkTick(b *testing.B) {
	f := newFleet(b, config(10_000, fleet.Arrival{Kind: fleet.Poisson, Rate: 100_000_000}), 1)
	var out []engine.Effect
	b.ReportAllocs()
	for b.Loop() {
		at, _ := f.Deadline()
		out = f.Step(at, fleet.Input{Kind: fleet.Tick}, out[:0])
		for _, e := range out {
			if e.Kind == engine.Send {
				out = f.Step(at, fleet.Input{
					Kind: fleet.Answered, ID: e.Attempt.ID, Reply: wire.Reply{Status: 200},
				}, out)
			}
		}
	}
}
