package fault

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// keyed is the only try of a request with an Idempotency-Key.
func keyed(client, request int, key uint64) wire.Attempt {
	a := post(client, request, 1)
	a.Key = key
	return a
}

// The caller gives up after 50 ms and tries again, as it may: the card is
// charged twice, since the server could not know that it had left.
func TestLeaverIsChargedTwice(t *testing.T) {
	x := newScript(t, Config{Service: Service{Mean: 100 * ms}})
	x.arrive(0, post(1, 1, 1))
	x.leave(50*ms, post(1, 1, 1))
	x.arrive(60*ms, post(1, 1, 2))
	x.to(s)
	x.want(
		"0s     server_arrived c0001/1#1",
		"0s     server_began c0001/1#1",
		"60ms   server_arrived c0001/1#2",
		"60ms   server_began c0001/1#2",
		"100ms  server_done c0001/1#1 delay=100ms status=200 wasted",
		"160ms  reply c0001/1#2 200",
		"160ms  server_done c0001/1#2 delay=100ms status=200",
		"160ms  server_repeated c0001/1#2 times=2",
	)
}

// The same with a key, and a server that reads it: the second try comes too
// early and is told so, the third gets the reply that the first could not take.
func TestKeyGetsTheStoredReply(t *testing.T) {
	x := newScript(t, Config{
		Service: Service{Mean: 100 * ms}, Effects: Effects{Idempotency: true},
	})
	first := keyed(1, 1, 7)
	x.arrive(0, first)
	x.leave(50*ms, first)
	for try, at := range []time.Duration{60 * ms, 150 * ms} {
		again := first
		again.ID.Try = uint16(try + 2)
		x.arrive(at, again)
	}
	x.to(s)
	x.want(
		"0s     server_arrived c0001/1#1",
		"0s     server_began c0001/1#1",
		"60ms   server_arrived c0001/1#2",
		"60ms   reply c0001/1#2 409",
		"60ms   server_rejected c0001/1#2 status=409 cause=key",
		"100ms  server_done c0001/1#1 delay=100ms status=200 wasted",
		"150ms  server_arrived c0001/1#3",
		"150ms  reply c0001/1#3 200 replayed",
		"150ms  server_replayed c0001/1#3 status=200 key=7",
	)
	if got, want := x.s.EffectCounts(), (EffectCounts{Done: 1, Replayed: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// An attempt that is reset takes no effect: its key is free again.
func TestResetFreesTheKey(t *testing.T) {
	x := newScript(t, Config{
		Service: Service{Mean: 100 * ms}, Effects: Effects{Idempotency: true},
		Faults: []Fault{{Name: "down", Kind: Outage, Start: 50 * ms, Length: ms}},
	})
	x.arrive(0, keyed(1, 1, 7))
	x.to(60 * ms)
	x.log.Reset()
	x.arrive(60*ms, keyed(2, 1, 7))
	x.to(s)
	x.want(
		"60ms   server_arrived c0002/1#1",
		"60ms   server_began c0002/1#1",
		"160ms  reply c0002/1#1 200",
		"160ms  server_done c0002/1#1 delay=100ms status=200",
	)
}

func TestStoredRepliesExpire(t *testing.T) {
	x := newScript(t, Config{Effects: Effects{Idempotency: true, TTL: s}})
	x.arrive(0, keyed(1, 1, 7))
	x.arrive(999*ms, keyed(1, 2, 7))
	x.log.Reset()
	x.arrive(s, keyed(1, 3, 7))
	x.arrive(1500*ms, keyed(1, 4, 7)) // counts from the latest effect
	x.want(
		"1s     server_arrived c0001/3#1",
		"1s     server_began c0001/3#1",
		"1s     reply c0001/3#1 200",
		"1s     server_done c0001/3#1 status=200",
		"1s     server_repeated c0001/3#1 times=2 key=7",
		"1.5s   server_arrived c0001/4#1",
		"1.5s   reply c0001/4#1 200 replayed",
		"1.5s   server_replayed c0001/4#1 status=200 key=7",
	)
}

// Keys make requests the same, whoever sends them; without idempotency they only
// tell that an effect is a duplicate. Safe and idempotent methods never are.
func TestDuplicatesByKeyAndByRequest(t *testing.T) {
	x := newScript(t, Config{})
	put := keyed(5, 1, 7)
	put.Method = wire.Put
	for i, a := range []wire.Attempt{
		keyed(1, 1, 7), keyed(2, 9, 7), keyed(1, 1, 8), // 7 twice
		post(1, 1, 1), post(1, 1, 2), post(1, 1, 3), post(1, 2, 1), // request 1 three times
		put, put, get(1, 3, 1), get(1, 3, 2),
	} {
		x.arrive(time.Duration(i)*ms, a)
	}
	want := []Repeat{
		{ID: keyed(2, 9, 7).ID, Key: 7, Times: 2, At: clock.Instant(ms)},
		{ID: post(1, 1, 2).ID, Times: 3, At: clock.Instant(5 * ms)},
	}
	if diff := cmp.Diff(want, x.s.Repeats()); diff != "" {
		t.Errorf("repeats (-want +got):\n%s", diff)
	}
	if got, want := x.s.EffectCounts(), (EffectCounts{Done: 7, Repeated: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestListOfRepeatsIsBounded(t *testing.T) {
	x := newScript(t, Config{})
	const n = 3 * maxRepeats
	for request := 1; request <= n; request++ {
		x.arrive(0, post(1, request, 1))
		x.arrive(0, post(1, request, 2))
	}
	if got := len(x.s.Repeats()); got != maxRepeats {
		t.Errorf("%d are listed, want %d", got, maxRepeats)
	}
	if got := x.s.EffectCounts().Repeated; got != n {
		t.Errorf("%d repeated, want %d", got, n)
	}
}

// With keys and a server that reads them nothing takes effect twice, whatever
// leaves and comes again, as long as replies are kept.
func TestNoKeyTakesEffectTwice(t *testing.T) {
	x := newScript(t, Config{
		Workers: 2, Backlog: 3, Service: Service{Shape: ExponentialShape, Mean: 30 * ms},
		Effects: Effects{Idempotency: true},
		Faults:  []Fault{{Name: "down", Kind: Outage, Start: 300 * ms, Length: 20 * ms, Every: 400 * ms}},
	})
	served := map[uint64]int{}
	x.s.config.Effects.TTL = time.Hour
	for i := range 2000 {
		a := keyed(i%13, i/13+1, uint64(i%37+1))
		at := time.Duration(i) * 3 * ms
		x.arrive(at, a)
		if i%3 == 0 {
			x.leave(at, a)
		}
	}
	x.to(time.Hour)
	for i := range 37 {
		if e, ok := x.s.effects.known.get(uint64(i + 1)); ok {
			served[uint64(i+1)] = int(e.times)
		}
	}
	for key := uint64(1); key <= 37; key++ {
		if served[key] != 1 {
			t.Errorf("key %d took effect %d times", key, served[key])
		}
	}
	if c := x.s.EffectCounts(); c.Done != 37 || c.Repeated != 0 || c.Replayed < 1000 {
		t.Errorf("%+v", c)
	}
}
