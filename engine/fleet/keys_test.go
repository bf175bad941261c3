package fleet_test

import (
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/fleet"
	"herdscope/engine/wire"
)

// attempts is what the fleet puts on the wire up to a second, every attempt
// failing at once.
func attempts(t *testing.T, c fleet.Config) (sent []wire.Attempt) {
	t.Helper()
	f := newFleet(t, c, 1)
	for {
		at, whose := next(f.Fleet, &f.replies)
		if at > seconds(1) {
			return sent
		}
		in := fleet.Input{Kind: fleet.Tick}
		if whose == reply {
			_, id, _ := f.replies.Pop()
			in = fleet.Input{Kind: fleet.Answered, ID: id, Reply: wire.Reply{Status: 503}}
		}
		for _, e := range f.Step(at, in, nil) {
			if e.Kind == engine.Send {
				sent = append(sent, e.Attempt)
				f.replies.Push(at.Add(time.Millisecond), e.Attempt.ID)
			}
		}
	}
}

// keyed is a fleet of n clients that post, with a key if so told.
func keyed(n int, keys bool) fleet.Config {
	c := config(n, fleet.Arrival{Think: 100 * time.Millisecond, ThinkFixed: true, Keys: keys})
	c.Mix[wire.Interactive].Method = wire.Post
	c.Policy.Retry.Attempts, c.Policy.Retry.Methods = 3, engine.MethodsWithKey
	c.Policy.Retry.Backoff.Base = 10 * time.Millisecond
	return c
}

func TestEveryUnsafeRequestHasAKeyOfItsOwn(t *testing.T) {
	type request struct {
		client wire.ClientID
		number wire.RequestID
	}
	of, keys := map[uint64]request{}, map[request]uint64{}
	retries := 0
	for _, a := range attempts(t, keyed(20, true)) {
		r := request{a.ID.Client, a.ID.Request}
		if a.Key == 0 {
			t.Fatalf("%v has no key", a.ID)
		}
		if other, ok := of[a.Key]; ok && other != r {
			t.Fatalf("%v has the key of %+v", a.ID, other)
		}
		of[a.Key], keys[r] = r, a.Key
		if a.ID.Try > 1 {
			retries++
		}
	}
	if len(keys) < 100 || retries < 200 {
		t.Errorf("%d requests and %d retries, want two retries of each", len(keys), retries)
	}
	for _, a := range attempts(t, keyed(21, true)) {
		if key, ok := keys[request{a.ID.Client, a.ID.Request}]; ok && key != a.Key {
			t.Fatalf("one more client gives %v another key", a.ID)
		}
	}
}

func TestKeysAreOff(t *testing.T) {
	for _, a := range attempts(t, keyed(20, false)) {
		if a.Key != 0 || a.ID.Try > 1 {
			t.Fatalf("%v with the key %#x, want neither key nor retry", a.ID, a.Key)
		}
	}
	c := keyed(20, true)
	c.Mix[wire.Interactive].Method = wire.Put
	for _, a := range attempts(t, c) {
		if a.Key != 0 {
			t.Fatalf("the PUT %v carries a key", a.ID)
		}
	}
}
