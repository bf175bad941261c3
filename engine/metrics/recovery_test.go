package metrics

import (
	"strings"
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// goodput is a rate of successes per second from a moment on.
type goodput struct {
	from time.Duration
	rate int
}

// window is a fault that is on from a moment to another; one without an end
// goes on.
type window struct{ from, to time.Duration }

// recoverRun runs a fault and the goodput around it, and returns what the
// collector says at the end of the run.
func recoverRun(t *testing.T, faults []window, rates []goodput, length time.Duration) (*Collector, Recovery) {
	t.Helper()
	c := New(Config{Clients: 1, Faults: []FaultPlan{{Name: "outage"}, {Name: "slow"}}})
	rate, done := 0, 0.0
	for now := time.Duration(0); now < length; now += 10 * ms {
		for i, f := range faults {
			e := wire.Event{At: at(now), Fault: uint8(i % 2), Until: at(f.to)}
			switch now {
			case f.from:
				e.Kind = wire.FaultBegan
				c.Observe(e)
			case f.to:
				e.Kind = wire.FaultEnded
				c.Observe(e)
			}
		}
		for _, r := range rates {
			if r.from == now {
				rate = r.rate
			}
		}
		for done += float64(rate) / 100; done >= 1; done-- {
			c.Observe(wire.Event{Kind: wire.RequestBegan, At: at(now), Since: at(now)})
			c.Observe(wire.Event{Kind: wire.RequestDone, At: at(now), Outcome: wire.Succeeded})
		}
	}
	c.Advance(at(length))
	_, sum := mustHold(t, c)
	return c, sum.Recovery
}

// TestRecovery: of 100/s, 80/s are enough (100 - 2 sqrt 100), so the first good
// second may begin 0.2 s before the goodput is back.
func TestRecovery(t *testing.T) {
	const s = time.Second
	for _, tc := range []struct {
		name   string
		faults []window
		rates  []goodput
		length time.Duration
		want   Recovery // Why need only be contained
	}{
		{
			"no fault", nil, []goodput{{0, 100}}, 20 * s,
			Recovery{Why: "no fault has begun"},
		},
		{
			"a fault goes on", []window{{10 * s, 90 * s}}, []goodput{{0, 100}, {10 * s, 0}}, 20 * s,
			Recovery{Why: "no fault has ended"},
		},
		{
			"back after 8.3 s, less a fifth", []window{{10 * s, 13 * s}},
			[]goodput{{0, 100}, {10 * s, 0}, {21300 * ms, 100}}, 40 * s,
			Recovery{Known: true, Took: 8100 * ms},
		},
		{
			"a fault that hurts nobody", []window{{10 * s, 13 * s}}, []goodput{{0, 100}}, 40 * s,
			Recovery{Known: true, Took: 0},
		},
		{
			"ends within a bin", []window{{10 * s, 13030 * ms}},
			[]goodput{{0, 100}, {10 * s, 0}, {13100 * ms, 100}}, 40 * s,
			Recovery{Known: true, Took: 70 * ms},
		},
		{
			"a burst is no recovery", []window{{10 * s, 13 * s}},
			[]goodput{{0, 100}, {10 * s, 0}, {14 * s, 400}, {15 * s, 10}, {20 * s, 100}}, 40 * s,
			Recovery{Known: true, Took: 6800 * ms},
		},
		{
			"not enough yet", []window{{10 * s, 13 * s}},
			[]goodput{{0, 100}, {10 * s, 0}, {13 * s, 75}}, 40 * s,
			Recovery{Why: "not yet recovered after 27.0 s"},
		},
		{
			"within two deviations", []window{{10 * s, 13 * s}},
			[]goodput{{0, 100}, {10 * s, 0}, {13 * s, 81}}, 40 * s,
			Recovery{Known: true, Took: 0},
		},
		{
			"two good seconds at the end", []window{{10 * s, 13 * s}},
			[]goodput{{0, 100}, {10 * s, 0}, {20 * s, 100}}, 22700 * ms,
			Recovery{Why: "not yet recovered after 9.7 s"},
		},
		{
			"three good seconds at the end", []window{{10 * s, 13 * s}},
			[]goodput{{0, 100}, {10 * s, 0}, {20 * s, 100}}, 23 * s,
			Recovery{Known: true, Took: 6800 * ms},
		},
		{
			"no goodput before", []window{{10 * s, 13 * s}}, []goodput{{13 * s, 100}}, 40 * s,
			Recovery{Why: "no goodput before the fault"},
		},
		{
			"hardly any goodput before", []window{{10 * s, 13 * s}}, []goodput{{0, 3}}, 40 * s,
			Recovery{Why: "a goodput of 3.0/s before the fault is too little"},
		},
		{
			"from the start", []window{{500 * ms, 3 * s}}, []goodput{{0, 100}}, 40 * s,
			Recovery{Why: "less than a second"},
		},
		{
			"the next fault comes first", []window{{10 * s, 13 * s}, {17 * s, 90 * s}},
			[]goodput{{0, 100}, {10 * s, 0}}, 40 * s,
			Recovery{Why: "not recovered in the 4.0 s up to the next fault"},
		},
		{
			"measured by what was before both", []window{{10 * s, 13 * s}, {17 * s, 20 * s}},
			[]goodput{{0, 100}, {10 * s, 0}, {13 * s, 50}, {30 * s, 100}}, 50 * s,
			Recovery{Known: true, Took: 9600 * ms},
		},
		{
			"measured by what was before the second", []window{{10 * s, 13 * s}, {25 * s, 27 * s}},
			[]goodput{{0, 100}, {10 * s, 0}, {13 * s, 100}, {14 * s, 200}, {25 * s, 0}, {27 * s, 150}, {33 * s, 200}}, 50 * s,
			Recovery{Known: true, Took: 5500 * ms},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, got := recoverRun(t, tc.faults, tc.rates, tc.length)
			if got.Known != tc.want.Known || got.Took != tc.want.Took || !strings.Contains(got.Why, tc.want.Why) {
				t.Fatalf("got %+v, want %+v", got, tc.want)
			}
			c.Advance(at(tc.length + 2*time.Second))
			checkRecoveryNote(t, c, got)
		})
	}
}

// checkRecoveryNote looks for the note that belongs to a recovery.
func checkRecoveryNote(t *testing.T, c *Collector, r Recovery) {
	t.Helper()
	i, told := c.story.last(NoteRecovered)
	if !r.Known {
		return
	}
	if !told || c.story.notes[i].Delay != r.Took || c.story.notes[i].Text == "" {
		t.Errorf("notes are %+v, want a recovery of %v", c.story.notes, r.Took)
	}
}

func TestFaultsAreSeen(t *testing.T) {
	plan := FaultPlan{Name: "outage", Length: 3 * time.Second, Next: clockAfter(25 * time.Second)}
	c := New(Config{Clients: 3, Faults: []FaultPlan{plan, {Name: "slow"}}})
	c.Observe(wire.Event{Kind: wire.ServerArrived, At: at(time.Second), ID: id(0), Fault: wire.NoFault})
	c.Observe(wire.Event{
		Kind: wire.ServerBegan, At: at(time.Second), ID: id(0), Fault: 1, Cause: wire.CauseFault,
	})
	c.Observe(wire.Event{Kind: wire.ServerArrived, At: at(time.Second), ID: id(1), Fault: wire.NoFault})
	c.Observe(wire.Event{Kind: wire.FaultBegan, At: at(2 * time.Second), Until: at(5 * time.Second)})
	for _, client := range []int{0, 1} { // in service, in the backlog
		c.Observe(wire.Event{
			Kind: wire.ServerReset, At: at(2 * time.Second), ID: id(client), Wasted: client == 0,
		})
	}
	s, _ := mustHold(t, c)
	if f := s.Faults[0]; !f.On || f.Until != at(5*time.Second) || f.Hits != 2 || f.Next != at(25*time.Second) {
		t.Errorf("outage is %+v", f)
	}
	if f := s.Faults[1]; f.On || f.Hits != 1 || f.Next < at(time.Hour) {
		t.Errorf("slow is %+v", f)
	}
	c.Observe(wire.Event{Kind: wire.ServerArrived, At: at(3 * time.Second), ID: id(2), Fault: wire.NoFault})
	c.Observe(wire.Event{Kind: wire.ServerReset, At: at(3 * time.Second), ID: id(2)})
	c.Observe(wire.Event{Kind: wire.FaultEnded, At: at(4 * time.Second)})
	c.Observe(wire.Event{Kind: wire.FaultBegan, At: at(4 * time.Second), Fault: 77})
	s, _ = mustHold(t, c)
	if f := s.Faults[0]; f.On || f.Began != at(2*time.Second) || f.Hits != 3 {
		t.Errorf("outage is %+v", f)
	}
	if len(s.Marks) != 1 || s.Marks[0].Until != at(4*time.Second) || s.Marks[0].Text != "outage" {
		t.Errorf("marks are %+v", s.Marks)
	}
	if n := len(s.Notes); n != 2 || s.Notes[1].Kind != NoteFaultEnded || s.Notes[1].N != 3 {
		t.Errorf("notes are %+v", s.Notes)
	}
	c.Observe(wire.Event{Kind: wire.ServerArrived, At: at(5 * time.Second), ID: id(2), Fault: wire.NoFault})
	c.Observe(wire.Event{Kind: wire.ServerSwallowed, At: at(5 * time.Second), ID: id(2), Fault: 1})
	c.Observe(wire.Event{Kind: wire.FaultStruck, At: at(5 * time.Second), ID: id(2), Fault: 1})
	c.Observe(wire.Event{Kind: wire.FaultMissed, At: at(6 * time.Second), Fault: 1})
	s, _ = mustHold(t, c)
	if f := s.Faults[1]; f.Hits != 3 || f.Missed != 1 {
		t.Errorf("slow is %+v", f)
	}
}

// TestHeldFaultHasNothingToCome: a schedule that a hand overrides announces no
// window.
func TestHeldFaultHasNothingToCome(t *testing.T) {
	plan := FaultPlan{Name: "outage", Length: 3 * time.Second, Next: clockAfter(25 * time.Second)}
	for _, tc := range []struct {
		dos  []wire.FaultDo
		hand wire.FaultDo
		next clock.Instant
	}{
		{nil, wire.FaultAuto, at(25 * time.Second)},
		{[]wire.FaultDo{wire.FaultOff}, wire.FaultOff, clock.Never},
		{[]wire.FaultDo{wire.FaultOn}, wire.FaultOn, clock.Never},
		{[]wire.FaultDo{wire.FaultNow}, wire.FaultAuto, at(25 * time.Second)},
		{[]wire.FaultDo{wire.FaultOff, wire.FaultNow}, wire.FaultOff, clock.Never},
		{[]wire.FaultDo{wire.FaultOff, wire.FaultAuto}, wire.FaultAuto, at(25 * time.Second)},
	} {
		c := New(Config{Clients: 1, Faults: []FaultPlan{plan}})
		for _, do := range tc.dos {
			c.SetFault(0, do)
			c.SetFault(1, do) // There is none: nothing happens.
		}
		if f := c.Snapshot().Faults[0]; f.Hand != tc.hand || f.Next != tc.next {
			t.Errorf("after %v: held %v, next at %v", tc.dos, f.Hand, f.Next)
		}
	}
	c := New(Config{Clients: 1, Faults: []FaultPlan{{Name: "no length"}}})
	c.SetFault(0, wire.FaultNow)
	if f := c.Snapshot().Faults[0]; f.Hand != wire.FaultOn {
		t.Errorf("a fault without a length is %+v", f)
	}
}

// TestEndOfAFaultIsKnownAtOnce: what is said of a fault's recovery never is that
// of the fault before it, though bins settle a second later.
func TestEndOfAFaultIsKnownAtOnce(t *testing.T) {
	rates := []goodput{{0, 100}, {10 * time.Second, 0}, {13 * time.Second, 100}, {30 * time.Second, 0}}
	faults := []window{{10 * time.Second, 13 * time.Second}, {30 * time.Second, 33 * time.Second}}
	for _, tc := range []struct {
		length time.Duration
		why    string
	}{{13200 * ms, "not yet recovered after 0.2 s"}, {33500 * ms, "not yet recovered after 0.5 s"}} {
		c, _ := recoverRun(t, faults, rates, tc.length)
		if got := c.Snapshot().Recovery; got.Known || got.Why != tc.why {
			t.Errorf("after %v: %+v, want %q", tc.length, got, tc.why)
		}
	}
}
