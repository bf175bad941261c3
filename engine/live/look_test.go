package live

import (
	"context"
	"errors"
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/fleet"
)

// TestLookFeedsNothing: whoever looks is called by the owner of the fleet, with the
// time of the call, and the fleet is told nothing. After the run nobody looks.
func TestLookFeedsNothing(t *testing.T) {
	f := &script{}
	d, err := New(Config{Fleet: f, Clock: NewClock(), BaseURL: "http://h", Clients: 1})
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	if err := d.Look(func(clock.Instant) { looked++ }); err != nil || looked > 0 {
		t.Fatalf("looked %d times before the run; %v", looked, err)
	}
	d.feed()
	if fed := f.fedSoFar(fleet.Tick, fleet.Set, fleet.Answered, fleet.Cancel, fleet.Stop); looked != 1 || len(fed) > 0 {
		t.Errorf("looked %d times, and fed %v", looked, fed)
	}
	ctx, cut := context.WithTimeout(context.Background(), time.Millisecond)
	defer cut()
	if err := d.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if err := d.Look(func(clock.Instant) { looked++ }); !errors.Is(err, ErrEnded) || looked != 1 {
		t.Errorf("looked %d times after the run; %v", looked, err)
	}
}
