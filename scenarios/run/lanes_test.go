package run

import (
	"slices"
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/metrics"
	"herdscope/engine/wire"
)

// flipLog keeps the transitions and the probes of each breaker.
type flipLog struct {
	flips     map[queueOf][]wire.Event
	good, bad map[queueOf]int64
	n         int64
	shared    bool
}

func newFlipLog() *flipLog {
	return &flipLog{
		flips: map[queueOf][]wire.Event{}, good: map[queueOf]int64{}, bad: map[queueOf]int64{},
	}
}

func (l *flipLog) Observe(e wire.Event) {
	key := queueOf{e.ID.Client, e.Scope}
	if l.shared {
		key.client = 0
	}
	switch {
	case e.Kind == wire.BreakerChanged:
		l.flips[key] = append(l.flips[key], e)
		l.n++
	case e.Kind == wire.ProbeDone && e.Good:
		l.good[key]++
	case e.Kind == wire.ProbeDone:
		l.bad[key]++
	}
}

// seen is the rarest state that a breaker had from one moment up to another.
func seen(flips []wire.Event, from, to clock.Instant) wire.BreakerState {
	if to <= 0 {
		return metrics.NoState
	}
	is := wire.Closed
	var had []wire.BreakerState
	for _, f := range flips {
		if f.At >= to {
			break
		}
		if f.At >= from {
			had = append(had, is)
		}
		is = f.To
	}
	had = append(had, is)
	for _, s := range []wire.BreakerState{wire.HalfOpen, wire.Open, wire.Eligible} {
		if slices.Contains(had, s) {
			return s
		}
	}
	return wire.Closed
}

// TestPF4LanesShowEveryFlip holds the lanes and the log against all transitions, of
// breakers that flip at their leisure, and of some that flip faster than a frame.
func TestPF4LanesShowEveryFlip(t *testing.T) {
	for _, openFor := range []string{"10s", "20ms", "shared"} {
		const end = 22*time.Second + 30*time.Millisecond
		l := newFlipLog()
		w := metrics.Watch{Span: 20 * time.Second, BreakerRows: 30, BreakerCols: 50, Flips: 1 << 20}
		knob, breakers := []string{"breaker.open_for", openFor}, 200
		if openFor == "shared" {
			knob, breakers, l.shared = []string{"breaker.shared", "on"}, 1, true
		}
		snap := watched(t, builtin(t, "gateway-down", knob...), end, w, l)
		v := snap.Lanes
		var listed int64
		for _, f := range v.Flips {
			listed += f.N
		}
		if v.Total != l.n || listed != l.n || l.n == 0 {
			t.Errorf("open for %s: %d transitions, %d of them listed; want %d", openFor, v.Total, listed, l.n)
		}
		if v.Matching != int64(breakers) || len(v.Lanes) != min(breakers, 30) {
			t.Errorf("open for %s: %d lanes of %d", openFor, len(v.Lanes), v.Matching)
		}
		halfOpen := 0
		for _, lane := range v.Lanes {
			checkLane(t, openFor, l, v, lane)
			for _, s := range lane.Strip {
				if s == wire.HalfOpen {
					halfOpen++
				}
			}
		}
		if halfOpen == 0 {
			t.Errorf("open for %s: no half-open is seen", openFor)
		}
	}
}

func checkLane(t *testing.T, name string, l *flipLog, v *metrics.LaneView, lane metrics.Lane) {
	t.Helper()
	key := queueOf{lane.Client, lane.Scope}
	flips := l.flips[key]
	opened := int64(0)
	for _, f := range flips {
		if f.To == wire.Open {
			opened++
		}
	}
	last := flips[len(flips)-1]
	if lane.State != last.To || lane.Since != last.At || lane.Opened != opened ||
		lane.Good != l.good[key] || lane.Bad != l.bad[key] {
		t.Errorf("open for %s: lane %+v, want %v since %v, opened %d, probes %d and %d", name, lane,
			last.To, last.At, opened, l.good[key], l.bad[key])
	}
	for c, s := range lane.Strip {
		from := v.Start.Add(time.Duration(c) * v.Width)
		if want := seen(flips, from, from.Add(v.Width)); s != want {
			t.Errorf("open for %s: client %d is %v in column %d, want %v", name, lane.Client, s, c, want)
		}
	}
}

// TestLanesWorstFirst: those in trouble come before the others, and those that
// opened most often before those; a filter leaves out the rest.
func TestLanesWorstFirst(t *testing.T) {
	s := builtin(t, "gateway-down", "breaker.open_for", "2s")
	for f := range metrics.BreakerFilter(metrics.NumBreakerFilters) {
		w := metrics.Watch{Span: 20 * time.Second, BreakerRows: 500, BreakerCols: 40, BreakerFilter: f}
		snap := watched(t, s, 37*time.Second, w)
		lanes := snap.Lanes.Lanes
		if int64(len(lanes)) != snap.Lanes.Matching {
			t.Errorf("%v: %d lanes of %d", f, len(lanes), snap.Lanes.Matching)
		}
		want := snap.Breakers.Total
		switch f {
		case metrics.NotClosed:
			want -= snap.Breakers.Counts[wire.Closed]
		case metrics.Probing:
			want = snap.Breakers.Counts[wire.Eligible] + snap.Breakers.Counts[wire.HalfOpen]
		}
		if int64(len(lanes)) != want {
			t.Errorf("%v: %d lanes, want %d", f, len(lanes), want)
		}
		for i := 1; i < len(lanes); i++ {
			if lanes[i-1].Opened < lanes[i].Opened { // all were in trouble in the last ten seconds
				t.Errorf("%v: lane %d opened %d times, the one after it %d", f, i-1, lanes[i-1].Opened, lanes[i].Opened)
			}
		}
	}
}

// TestLanesInParts: part by part the lanes are the same as all at once.
func TestLanesInParts(t *testing.T) {
	v, err := startVirtual(builtin(t, "gateway-down", "breaker.open_for", "2s"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.sim.RunUntil(clock.Instant(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	lanes := func(skip, rows int) []metrics.Lane {
		v.hub.watch(metrics.Watch{Span: 20 * time.Second, BreakerRows: rows, BreakerSkip: skip, BreakerCols: 1})
		snap := v.hub.snapshot(v.now())
		if err := snap.Check(); err != nil {
			t.Error(err)
		}
		return snap.Lanes.Lanes
	}
	var parts []metrics.Lane
	for skip := 0; skip <= 240; skip += 40 {
		parts = append(parts, lanes(skip, 40)...)
	}
	all := lanes(0, 1000)
	for i := range all {
		if i >= len(parts) || parts[i].Client != all[i].Client {
			t.Fatalf("%d lanes in parts are not the %d lanes there are, from %d on", len(parts), len(all), i)
		}
	}
	if len(parts) != len(all) {
		t.Errorf("%d lanes in parts, want %d", len(parts), len(all))
	}
}

// TestLanesCountDown: whoever looks sees when an open breaker lets a probe through.
func TestLanesCountDown(t *testing.T) {
	v, err := startVirtual(builtin(t, "gateway-down"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	v.hub.watch(metrics.Watch{Span: 20 * time.Second, BreakerRows: 200, BreakerCols: 40})
	if err := v.sim.RunUntil(clock.Instant(12 * time.Second)); err != nil {
		t.Fatal(err)
	}
	first := v.hub.snapshot(v.now())
	v.look(v.hub.survey)
	snap := v.hub.snapshot(v.now())
	open := 0
	for i, l := range snap.Lanes.Lanes {
		if first.Lanes.Lanes[i].Looked || !l.Looked {
			t.Fatalf("lane %d looked at: %v, then %v", i, first.Lanes.Lanes[i].Looked, l.Looked)
		}
		want := clock.Never
		if l.State == wire.Open {
			open++
			want = l.Since.Add(10 * time.Second)
		}
		if l.Detail.Until != want || int64(l.Detail.Trips) != l.Opened {
			t.Errorf("client %d, %v: %+v, want until %v and %d trips", l.Client, l.State, l.Detail, want, l.Opened)
		}
	}
	if open == 0 {
		t.Error("no breaker is open")
	}
}
