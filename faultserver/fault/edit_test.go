package fault

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// edit changes the faults at a moment and writes down what the server asks for.
func (x *script) edit(at time.Duration, change func(out []wire.ServerEffect) []wire.ServerEffect) {
	x.to(at)
	for _, e := range change(nil) {
		fmt.Fprintf(&x.log, "%-6v %s\n", at, describe(&e))
	}
}

func TestFaultsComeChangeAndGoByHand(t *testing.T) {
	x := newScript(t, Config{Faults: []Fault{
		{Name: "slow", Kind: Latency, Share: Always, Start: 60 * s, Length: s, Added: s},
	}})
	burst := Fault{Name: "burst", Kind: Errors, Start: s, Length: 4 * s, Status: 503, Share: Always}
	x.edit(2*s, func(out []wire.ServerEffect) []wire.ServerEffect {
		i, out, err := x.s.AddFault(clock.Instant(2*s), burst, out)
		if i != 1 || err != nil {
			t.Errorf("AddFault: index %d, %v", i, err)
		}
		return out
	})
	x.arrive(3*s, get(1, 1, 1))
	burst.Status = 500
	x.edit(3*s, func(out []wire.ServerEffect) []wire.ServerEffect {
		out, err := x.s.ChangeFault(clock.Instant(3*s), 1, burst, out)
		if err != nil {
			t.Error(err)
		}
		return out
	})
	x.arrive(3500*ms, get(1, 1, 2))
	if got := x.s.Hits(1); got != 2 {
		t.Errorf("hits = %d, want 2", got)
	}
	x.edit(4*s, func(out []wire.ServerEffect) []wire.ServerEffect {
		return x.s.RemoveFault(clock.Instant(4*s), 1, out)
	})
	x.arrive(4*s, get(1, 1, 3))
	x.want(
		"2s     fault_began cause=fault fault=1 until=5s",
		"3s     server_arrived c0001/1#1",
		"3s     reply c0001/1#1 503",
		"3s     server_rejected c0001/1#1 status=503 cause=fault fault=1",
		"3.5s   server_arrived c0001/1#2",
		"3.5s   reply c0001/1#2 500",
		"3.5s   server_rejected c0001/1#2 status=500 cause=fault fault=1",
		"4s     fault_ended cause=fault fault=1",
		"4s     server_arrived c0001/1#3",
		"4s     server_began c0001/1#3",
		"4s     reply c0001/1#3 200",
		"4s     server_done c0001/1#3 status=200",
	)
	if x.s.HasFault(1) || !x.s.HasFault(0) {
		t.Error("the fault that was removed is still there, or the other is not")
	}
}

// The place of a fault that has gone is taken again, and nothing of it is left:
// no hits, and no attempt that waits is slowed down by its successor.
func TestThePlaceOfAFaultIsTakenAgain(t *testing.T) {
	x := newScript(t, Config{
		Workers: 1, Service: Service{Mean: s},
		Faults: []Fault{{Name: "slow", Kind: Latency, Share: Always, Length: 60 * s, Added: 10 * s}},
	})
	x.arrive(0, get(1, 1, 1)) // takes 11 s, as it has begun
	x.arrive(s, get(2, 1, 1))
	x.edit(2*s, func(out []wire.ServerEffect) []wire.ServerEffect {
		out = x.s.RemoveFault(clock.Instant(2*s), 0, out)
		next := Fault{Name: "other", Kind: Latency, Share: Always, Manual: true, Length: s, Added: time.Hour}
		i, out, err := x.s.AddFault(clock.Instant(2*s), next, out)
		if i != 0 || err != nil {
			t.Errorf("AddFault: index %d, %v", i, err)
		}
		return out
	})
	x.log.Reset()
	x.to(20 * s)
	x.want(
		"11s    reply c0001/1#1 200",
		"11s    server_done c0001/1#1 delay=11s status=200",
		"11s    server_began c0002/1#1 delay=10s",
		"12s    reply c0002/1#1 200",
		"12s    server_done c0002/1#1 delay=1s status=200",
	)
	if got := x.s.Hits(0); got != 0 {
		t.Errorf("the new fault has %d hits of the old one", got)
	}
}

func TestBadEditsNameTheFieldAndChangeNothing(t *testing.T) {
	good := Fault{Name: "burst", Kind: Errors, Manual: true, Length: s, Status: 503, Share: Always}
	server, err := New(Config{Faults: []Fault{good}}, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, field string
		add         bool
		change      func(*Fault)
	}{
		{"the name of another", "name", true, func(*Fault) {}},
		{"no name", "name", true, func(f *Fault) { f.Name = "" }},
		{"a bad status", "status", true, func(f *Fault) { f.Name, f.Status = "b", 200 }},
		{"no length", "length", true, func(f *Fault) { f.Name, f.Length = "b", -1 }},
		{"windows that overlap", "every", true, func(f *Fault) {
			f.Name, f.Manual, f.Every = "b", false, s
		}},
		{"another name", "name", false, func(f *Fault) { f.Name = "b" }},
		{"another kind", "kind", false, func(f *Fault) { f.Kind = Outage }},
		{"a bad share", "share", false, func(f *Fault) { f.Share = Always + 1 }},
	} {
		f := good
		c.change(&f)
		var out []wire.ServerEffect
		if c.add {
			_, out, err = server.AddFault(0, f, nil)
		} else {
			out, err = server.ChangeFault(0, 0, f, nil)
		}
		var refused *knob.Error
		if !errors.As(err, &refused) || refused.Knob != c.field {
			t.Errorf("%s: error %v, want one about %s", c.name, err, c.field)
		}
		if len(out) > 0 || len(server.Faults()) != 1 || server.Faults()[0] != good {
			t.Errorf("%s: it changed something: %v, %+v", c.name, out, server.Faults())
		}
	}
}

func TestThereIsRoomForSoManyFaults(t *testing.T) {
	server, err := New(Config{}, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	add := func(i int) error {
		name := string(rune('a'+i%26)) + string(rune('a'+i/26))
		_, _, err := server.AddFault(0, Fault{Name: name, Kind: Outage, Manual: true, Length: s}, nil)
		return err
	}
	for i := range MaxFaults {
		if err := add(i); err != nil {
			t.Fatal(err)
		}
	}
	if add(MaxFaults) == nil {
		t.Error("one fault too many is taken")
	}
	server.RemoveFault(0, 7, nil)
	if err := add(MaxFaults); err != nil || !server.HasFault(7) {
		t.Errorf("the place that became free is not taken: %v", err)
	}
}

// P-F1: whatever is edited, everything that arrived is answered or in service or
// in the backlog, and an edge is never in the past.
func TestThousandEditsLoseNoAttempt(t *testing.T) {
	server, err := New(Config{Workers: 3, Backlog: 20, Service: Service{Mean: 50 * ms}}, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	draw := rand.New(rand.NewPCG(1, 2))
	open := map[wire.AttemptID]bool{}
	var out []wire.ServerEffect
	for step := range 5000 {
		now := clock.Instant(time.Duration(step) * 10 * ms)
		if step%5 == 0 {
			out = server.Step(now, wire.ServerInput{}, out[:0])
			out = randomEdit(draw, server, now, out)
		} else {
			a := get(draw.IntN(50), step+1, 1)
			open[a.ID] = true
			out = server.Step(now, wire.ServerInput{Kind: wire.ServerArrive, Attempt: a}, out[:0])
		}
		for _, e := range out {
			if e.Kind == wire.ServerReply && !open[e.ID] {
				t.Fatalf("step %d: %v is answered twice", step, e.ID)
			} else if e.Kind == wire.ServerReply {
				delete(open, e.ID)
			}
		}
		if got := server.Busy() + server.Waiting(); got != len(open) {
			t.Fatalf("step %d: %d in service or backlog, %d unanswered", step, got, len(open))
		}
		if at, ok := server.Deadline(); ok && at < now {
			t.Fatalf("step %d: the deadline %v is before %v", step, at, now)
		}
	}
}

func randomEdit(
	draw *rand.Rand, server *Server, now clock.Instant, out []wire.ServerEffect,
) []wire.ServerEffect {
	f := NewFault(Kind(draw.IntN(int(Quota) + 1)))
	f.Start, f.Length = now.Duration(), time.Duration(1+draw.IntN(500))*ms
	f.Added, f.Limit.Rate = time.Duration(1+draw.IntN(100))*ms, 20_000
	i := draw.IntN(max(1, len(server.Faults())))
	switch draw.IntN(4) {
	case 0:
		f.Name = "f" + string(rune('a'+draw.IntN(26)))
		_, out, _ = server.AddFault(now, f, out) // refused if the name is taken
	case 1:
		if server.HasFault(i) {
			f.Name, f.Kind = server.Faults()[i].Name, server.Faults()[i].Kind
			out, _ = server.ChangeFault(now, i, f, out)
		}
	case 2:
		if server.HasFault(i) {
			out = server.RemoveFault(now, i, out)
		}
	case 3:
		if server.HasFault(i) {
			in := wire.ServerInput{Kind: wire.ServerFault, Fault: uint8(i), Do: wire.FaultDo(draw.IntN(4))}
			out = server.Step(now, in, out)
		}
	}
	return out
}
