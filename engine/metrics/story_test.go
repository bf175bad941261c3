package metrics

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// notesOf are the notes of a kind.
func notesOf(c *Collector, k NoteKind) (notes []Note) {
	for _, n := range c.Snapshot().Notes {
		if n.Kind == k {
			notes = append(notes, n)
		}
	}
	return notes
}

// Many changes do not take a fault off the time axis.
func TestChangesDoNotDriveOutFaults(t *testing.T) {
	s := newStory()
	s.mark(Mark{Kind: MarkFault, Text: "outage"})
	for i := range 3 * maxTold {
		s.mark(Mark{Kind: MarkChange, At: clock.Instant(i)})
	}
	if len(s.marks) != maxTold || s.marks[0].Kind != MarkFault {
		t.Errorf("%d marks, the first %+v", len(s.marks), s.marks[0])
	}
	if got, want := s.marks[1].At, clock.Instant(2*maxTold+1); got != want {
		t.Errorf("the oldest change kept is of %d, want %d", got, want)
	}
}

func TestOneWaveIsOneHerd(t *testing.T) {
	const length = 40 * time.Second
	times := every(100*ms, 10, length) // the mean bin is 10
	add := func(at clock.Instant, n int) {
		for range n {
			times = append(times, at)
		}
	}
	add(at(12000*ms), 60)
	add(at(12100*ms), 190)
	add(at(12400*ms), 90) // two bins without, one wave
	add(at(20000*ms), 490)
	add(at(30000*ms), 20) // no herd: 3 times the mean
	slices.Sort(times)
	c := New(Config{Clients: 1})
	arrive(t, c, times, length)
	got := notesOf(c, NoteHerd)
	if len(got) != 2 {
		t.Fatalf("notes are %+v", got)
	}
	if n := got[0]; n.At != at(12100*ms) || n.N != 200 || n.Times != 20 {
		t.Errorf("first herd is %+v", n)
	}
	// The ten seconds before hold the first wave of 340.
	if n := got[1]; n.At != at(20*time.Second) || n.N != 500 || n.Times < 37.3 || n.Times > 37.4 {
		t.Errorf("second herd is %+v", n)
	}
}

func TestHerdOutOfNothing(t *testing.T) {
	c := New(Config{Clients: 1})
	burst := make([]clock.Instant, 200)
	for i := range burst {
		burst[i] = at(5 * time.Second)
	}
	arrive(t, c, burst, 10*time.Second)
	if got := notesOf(c, NoteHerd); len(got) != 1 || got[0].N != 200 || got[0].Times != 0 {
		t.Errorf("notes are %+v", got)
	}
}

func TestRandomStreamIsNoHerd(t *testing.T) {
	for _, rate := range []float64{20, 200, 2000} {
		c := New(Config{Clients: 1})
		arrive(t, c, poisson(11, rate, 300*time.Second), 300*time.Second)
		if got := notesOf(c, NoteHerd); len(got) > 0 {
			t.Errorf("at %v/s: %+v", rate, got)
		}
	}
}

// turnAll brings breakers into a state, one after another from a moment on.
func turnAll(c *Collector, from, gap time.Duration, first, n int, to wire.BreakerState) {
	for i := range n {
		c.Observe(wire.Event{
			Kind: wire.BreakerChanged, At: at(from + time.Duration(i)*gap), ID: id(first + i),
			From: c.breakers.own.states[first+i], To: to,
		})
	}
}

func TestBreakersOpenTogether(t *testing.T) {
	c := New(Config{Clients: 1000, BreakersOn: true})
	turnAll(c, 5*time.Second, ms, 0, 385, wire.Open)       // 100 in a bin
	turnAll(c, 10*time.Second, 50*ms, 400, 100, wire.Open) // 2 in a bin: no wave
	turnAll(c, 20*time.Second, 0, 0, 385, wire.HalfOpen)
	turnAll(c, 20*time.Second, 0, 0, 385, wire.Closed)
	c.Advance(at(30 * time.Second))
	got := notesOf(c, NoteBreakersOpened)
	if len(got) != 1 || got[0].N != 385 || got[0].At != at(5*time.Second) || got[0].Delay != 400*ms {
		t.Errorf("notes are %+v", got)
	}
	s, sum := mustHold(t, c)
	if b := s.Breakers; b.Opened != 485 || b.HalfOpened != 385 || b.Closed != 385 || b.Counts[wire.Open] != 100 {
		t.Errorf("breakers are %+v", b)
	}
	// 385 from 5.192 s on average to 20 s, 100 from 12.475 s to 30 s.
	want := (385*(20-5.192) + 100*(30-12.475)) / (1000 * 30)
	if diff := sum.OpenShare - want; diff < -1e-9 || diff > 1e-9 {
		t.Errorf("open share is %v, want %v", sum.OpenShare, want)
	}
	if last := s.Breakers.Last; len(last) != LastChanges || last[0].ID != id(369) || last[15].ID != id(384) {
		t.Errorf("last changes are %v", last)
	}
}

func TestStarvationOfAClassIsToldOnce(t *testing.T) {
	c := New(Config{Clients: 3})
	feed := func(now time.Duration, kind wire.EventKind, client int) {
		c.Observe(wire.Event{
			Kind: kind, At: at(now), ID: id(client), Class: wire.Background, Delay: 7 * time.Second,
		})
	}
	feed(10*time.Second, wire.StarvationBegan, 0)
	feed(11*time.Second, wire.StarvationBegan, 1)
	feed(12*time.Second, wire.StarvationEnded, 0)
	if q := c.Snapshot().Queues[wire.Background]; !q.Starving || q.Starved != 2 {
		t.Errorf("queue is %+v", q)
	}
	feed(13*time.Second, wire.StarvationEnded, 1)
	feed(13500*ms, wire.StarvationBegan, 2) // within a second: the same story
	feed(15*time.Second, wire.StarvationEnded, 2)
	c.Advance(at(15900 * ms))
	if got := notesOf(c, NoteFed); len(got) != 0 {
		t.Errorf("told too early: %+v", got)
	}
	c.Advance(at(17 * time.Second))
	starving, fed := notesOf(c, NoteStarving), notesOf(c, NoteFed)
	if len(starving) != 1 || starving[0].Text != "background" || starving[0].Delay != 7*time.Second {
		t.Errorf("starving: %+v", starving)
	}
	if len(fed) != 1 || fed[0].At != at(15*time.Second) || fed[0].Delay != 5*time.Second {
		t.Errorf("fed: %+v", fed)
	}
	if q := c.Snapshot().Queues[wire.Background]; q.Starving || q.Starved != 3 {
		t.Errorf("queue is %+v", q)
	}
}

func TestMarkKeepsWhatWas(t *testing.T) {
	c := New(Config{Clients: 1})
	arrive(t, c, every(10*ms, 1, 10*time.Second), 10*time.Second)
	before, _ := mustHold(t, c)
	if before.Changed || before.Was != (Headline{}) || before.Now.PeakToMean != 1 {
		t.Errorf("before: %+v", before)
	}
	c.Mark(at(10*time.Second), "retry.jitter = full")
	c.Advance(at(30 * time.Second))
	s, _ := mustHold(t, c)
	if !s.Changed || s.Was != before.Now || s.Now.PeakToMean != 0 {
		t.Errorf("was %+v, now %+v", s.Was, s.Now)
	}
	if len(s.Marks) != 1 || s.Marks[0].Kind != MarkChange || s.Marks[0].Text != "retry.jitter = full" {
		t.Errorf("marks are %+v", s.Marks)
	}
	if n := notesOf(c, NoteChange); len(n) != 1 || n[0].At != at(10*time.Second) {
		t.Errorf("notes are %+v", n)
	}
	c.MarkDone(at(31*time.Second), "outage now")
	s, _ = mustHold(t, c)
	if s.Was != before.Now || len(s.Marks) != 2 || s.Marks[1].Text != "outage now" {
		t.Errorf("after a fault by hand: was %+v, marks %+v", s.Was, s.Marks)
	}
}

func TestOnlyTheLatestNotesAreKept(t *testing.T) {
	c := New(Config{Clients: 1})
	for i := range 1000 {
		c.Mark(at(time.Duration(i)*ms), fmt.Sprint(i))
	}
	s, _ := mustHold(t, c)
	if len(s.Notes) != maxTold || s.Notes[0].Text != "744" || s.Notes[maxTold-1].Text != "999" {
		t.Errorf("%d notes, %v to %v", len(s.Notes), s.Notes[0], s.Notes[len(s.Notes)-1])
	}
}

func TestSnapshotsDoNotChange(t *testing.T) {
	c := New(Config{Clients: 20, Faults: []FaultPlan{{Name: "outage"}}})
	c.SetWatch(Watch{RasterRows: 5, RasterCols: 10})
	traffic := newTraffic(12, 20, 5*ms, c.Observe)
	traffic.run(2000)
	s := c.Snapshot()
	before := fmt.Sprintf("%+v %+v", *s, *s.Raster)
	traffic.run(20_000)
	if after := fmt.Sprintf("%+v %+v", *s, *s.Raster); after != before {
		t.Error("an old snapshot has changed")
	}
	if next := c.Snapshot(); next.Seq != s.Seq+1 {
		t.Errorf("snapshot %d after %d", next.Seq, s.Seq)
	}
}

func TestLagIsOfTheLastSecond(t *testing.T) {
	c := New(Config{Clients: 1})
	began := func(now, lag time.Duration) {
		c.Observe(wire.Event{Kind: wire.RequestBegan, At: at(now), Since: at(now - lag)})
	}
	began(time.Second, 30*ms)
	began(1200*ms, 20*ms)
	c.Observe(wire.Event{Kind: wire.ArrivalsMissed, At: at(1300 * ms), Delay: 25 * ms})
	for _, tc := range []struct{ now, want time.Duration }{
		{1300 * ms, 30 * ms}, {2050 * ms, 30 * ms}, {2100 * ms, 25 * ms}, {2400 * ms, 0},
	} {
		c.Advance(at(tc.now))
		if s, _ := mustHold(t, c); s.Lag != tc.want || s.Missed != 1 {
			t.Errorf("at %v: lag %v, want %v; missed %d", tc.now, s.Lag, tc.want, s.Missed)
		}
	}
}
