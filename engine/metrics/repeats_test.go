package metrics

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"herdscope/engine/wire"
)

// The list is of requests, in the order of their second effects, and bounded;
// the count is not.
func TestRepeatsAreListedAndCounted(t *testing.T) {
	c := New(Config{})
	again := func(client int, key uint64, times uint32) {
		c.Observe(wire.Event{
			Kind: wire.ServerRepeated, Key: key, Times: times,
			ID: wire.AttemptID{Client: wire.ClientID(client), Request: 1, Try: uint16(times)},
		})
	}
	again(1, 0, 2)
	again(2, 7, 2)
	again(3, 7, 3) // the same key, by another client
	again(1, 0, 3)
	again(1, 0, 4)
	s := c.Summary()
	want := []Repeat{
		{ID: wire.AttemptID{Client: 1, Request: 1, Try: 2}, Times: 4},
		{ID: wire.AttemptID{Client: 2, Request: 1, Try: 2}, Key: 7, Times: 3},
	}
	if diff := cmp.Diff(want, s.Repeats); diff != "" {
		t.Errorf("repeats (-want +got):\n%s", diff)
	}
	for client := range 100 {
		again(client+10, 0, 2)
	}
	s = c.Summary()
	if s.Duplicates != 105 || s.Repeated != 102 || len(s.Repeats) != MaxRepeats {
		t.Errorf("%d duplicates, %d repeated, %d listed, want 105, 102, %d",
			s.Duplicates, s.Repeated, len(s.Repeats), MaxRepeats)
	}
}

func TestReturnsAfterAnUnreadableFieldAreNeitherEarlyNorLate(t *testing.T) {
	c := New(Config{})
	for _, e := range []wire.Event{
		{Delay: -1}, {Delay: 0}, {Delay: wire.ReturnTolerance}, {Delay: wire.ReturnTolerance + 1},
		{Untold: true}, {Untold: true, Delay: -5},
	} {
		e.Kind = wire.ServerReturned
		c.Observe(e)
	}
	s := c.Summary()
	got := [4]int64{s.Early, s.OnTime, s.Late, s.Untold}
	if want := [4]int64{1, 2, 1, 2}; got != want {
		t.Errorf("early, on time, late, untold: %v, want %v", got, want)
	}
}
