package metrics

import (
	"testing"
	"time"

	"herdscope/engine/wire"
)

func TestKeptBackCountsThoseThatWindowProtectionHeld(t *testing.T) {
	c := New(Config{Clients: 3})
	for client, kept := range []bool{true, false, true} {
		e := wire.Event{ID: id(client), Class: wire.Background}
		for _, kind := range []wire.EventKind{wire.RequestBegan, wire.RequestQueued} {
			e.Kind = kind
			c.Observe(e)
		}
		e.Kind, e.At, e.Delay, e.Kept = wire.RequestDequeued, at(time.Second), time.Second, kept
		c.Observe(e)
	}
	_, sum := mustHold(t, c)
	if want := [wire.NumClasses]int64{wire.Background: 2}; sum.KeptBack != want {
		t.Errorf("kept back %v, want %v", sum.KeptBack, want)
	}
}
