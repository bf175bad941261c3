package fault

import (
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

func TestRepeatingWindowsHaveTheirEdges(t *testing.T) {
	x := newScript(t, Config{Faults: []Fault{
		{Name: "slow", Kind: Latency, Share: Always, Start: 2 * s, Length: s, Every: 10 * s, Added: s},
	}})
	x.to(30 * s)
	x.want(
		"2s     fault_began cause=fault fault=0 until=3s",
		"3s     fault_ended cause=fault fault=0",
		"3s     fault_missed cause=fault fault=0",
		"12s    fault_began cause=fault fault=0 until=13s",
		"13s    fault_ended cause=fault fault=0",
		"13s    fault_missed cause=fault fault=0",
		"22s    fault_began cause=fault fault=0 until=23s",
		"23s    fault_ended cause=fault fault=0",
		"23s    fault_missed cause=fault fault=0",
	)
}

func TestWindowsByHand(t *testing.T) {
	planned := Fault{Name: "f", Kind: Latency, Share: Always, Start: 10 * s, Length: 4 * s, Every: 20 * s}
	manual := Fault{Name: "f", Kind: Latency, Share: Always, Manual: true, Length: 4 * s}
	type move struct {
		at time.Duration
		do wire.FaultDo
	}
	for _, c := range []struct {
		name  string
		fault Fault
		moves []move
		want  []string
	}{
		{"now, between windows", planned, []move{{s, wire.FaultNow}}, []string{
			"1s     fault_began cause=fault fault=0 until=5s",
			"5s     fault_ended cause=fault fault=0",
			"10s    fault_began cause=fault fault=0 until=14s",
			"14s    fault_ended cause=fault fault=0",
		}},
		{"now, running into a window", planned, []move{{8 * s, wire.FaultNow}}, []string{
			"8s     fault_began cause=fault fault=0 until=14s",
			"14s    fault_ended cause=fault fault=0",
		}},
		{"now, inside a window", planned, []move{{12 * s, wire.FaultNow}}, []string{
			"10s    fault_began cause=fault fault=0 until=14s",
			"16s    fault_ended cause=fault fault=0",
		}},
		{"off cuts a window short", planned, []move{{12 * s, wire.FaultOff}}, []string{
			"10s    fault_began cause=fault fault=0 until=14s",
			"12s    fault_ended cause=fault fault=0",
		}},
		{"off and back in the same window", planned,
			[]move{{11 * s, wire.FaultOff}, {12 * s, wire.FaultAuto}}, []string{
				"10s    fault_began cause=fault fault=0 until=14s",
				"11s    fault_ended cause=fault fault=0",
				"12s    fault_began cause=fault fault=0 until=14s",
				"14s    fault_ended cause=fault fault=0",
			}},
		{"on passes over the schedule", planned,
			[]move{{s, wire.FaultOn}, {20 * s, wire.FaultAuto}}, []string{
				"1s     fault_began cause=fault fault=0 until=open",
				"20s    fault_ended cause=fault fault=0",
			}},
		{"on twice is on", planned,
			[]move{{s, wire.FaultOn}, {2 * s, wire.FaultOn}, {3 * s, wire.FaultNow}}, []string{
				"1s     fault_began cause=fault fault=0 until=open",
			}},
		{"now while held off, which it stays", planned,
			[]move{{s, wire.FaultOff}, {2 * s, wire.FaultNow}}, []string{
				"2s     fault_began cause=fault fault=0 until=6s",
				"6s     fault_ended cause=fault fault=0",
			}},
		{"off ends now", manual, []move{{s, wire.FaultNow}, {2 * s, wire.FaultOff}}, []string{
			"1s     fault_began cause=fault fault=0 until=5s",
			"2s     fault_ended cause=fault fault=0",
		}},
		{"auto ends now", manual, []move{{s, wire.FaultNow}, {2 * s, wire.FaultAuto}}, []string{
			"1s     fault_began cause=fault fault=0 until=5s",
			"2s     fault_ended cause=fault fault=0",
		}},
		{"now again prolongs", manual, []move{{s, wire.FaultNow}, {3 * s, wire.FaultNow}}, []string{
			"1s     fault_began cause=fault fault=0 until=5s",
			"7s     fault_ended cause=fault fault=0",
		}},
		{"now without a length is on", Fault{Name: "f", Kind: Latency, Share: Always, Manual: true},
			[]move{{s, wire.FaultNow}}, []string{
				"1s     fault_began cause=fault fault=0 until=open",
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newScript(t, Config{Faults: []Fault{c.fault}})
			for _, m := range c.moves {
				x.hand(m.at, 0, m.do)
			}
			x.to(25 * s)
			x.drop("fault_missed")
			x.want(c.want...)
		})
	}
}

func TestHandBeforeTheRunDoesNothingYet(t *testing.T) {
	x := newScript(t, Config{Faults: []Fault{{Name: "f", Kind: Latency, Share: Always, Length: s, Start: s}}})
	x.step(time.Duration(wire.Held), wire.ServerInput{})
	if on, next := x.s.FaultState(0); on || next != clock.Instant(s) {
		t.Errorf("before the run: on %v, next %v, want false, 1s", on, next.Duration())
	}
}

func TestNextAfter(t *testing.T) {
	once := Fault{Start: 2 * s, Length: s}
	often := Fault{Start: 2 * s, Length: s, Every: 5 * s}
	for _, c := range []struct {
		fault Fault
		t     time.Duration
		want  clock.Instant
	}{
		{once, -s, clock.Instant(2 * s)},
		{once, 2 * s, clock.Instant(2 * s)},
		{once, 2*s + 1, clock.Never},
		{often, 0, clock.Instant(2 * s)},
		{often, 2*s + 1, clock.Instant(7 * s)},
		{often, 7 * s, clock.Instant(7 * s)},
		{often, 11 * s, clock.Instant(12 * s)},
		{Fault{Manual: true, Length: s}, 0, clock.Never},
	} {
		if got := c.fault.NextAfter(clock.Instant(c.t)); got != c.want {
			t.Errorf("%+v: next after %v = %v, want %v", c.fault, c.t, got, c.want)
		}
	}
}
