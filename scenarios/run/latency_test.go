package run

import (
	"math"
	"slices"
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/scenarios"
)

// watched runs s in virtual time up to a moment and returns what a screen that
// watches w sees then.
func watched(
	t *testing.T, s scenarios.Scenario, to time.Duration, w metrics.Watch, observers ...wire.Observer,
) *metrics.Snapshot {
	t.Helper()
	v, err := startVirtual(s, Options{Observers: observers})
	if err != nil {
		t.Fatal(err)
	}
	v.hub.watch(w)
	if err := v.sim.RunUntil(clock.Instant(to)); err != nil {
		t.Fatal(err)
	}
	snap := v.hub.snapshot(v.now())
	if err := snap.Check(); err != nil {
		t.Error(err)
	}
	return snap
}

// diary keeps what happened to each request.
type diary struct {
	began   map[wire.AttemptID]wire.Event
	sent    map[wire.AttemptID]clock.Instant
	queue   map[wire.AttemptID]time.Duration
	onWire  map[wire.AttemptID]time.Duration
	done    []wire.Event
	pages   []wire.Event
	members map[wire.AttemptID][]wire.Event // ended requests, by page
}

func newDiary() *diary {
	return &diary{
		began: map[wire.AttemptID]wire.Event{}, sent: map[wire.AttemptID]clock.Instant{},
		queue: map[wire.AttemptID]time.Duration{}, onWire: map[wire.AttemptID]time.Duration{},
		members: map[wire.AttemptID][]wire.Event{},
	}
}

func (d *diary) Observe(e wire.Event) {
	id := wire.AttemptID{Client: e.ID.Client, Request: e.ID.Request}
	switch e.Kind {
	case wire.RequestBegan:
		d.began[id] = e
	case wire.RequestDequeued:
		d.queue[id] += e.Delay
	case wire.AttemptSent:
		d.sent[id] = e.At
	case wire.AttemptEnded:
		d.onWire[id] += e.Delay
	case wire.RequestDone:
		d.done = append(d.done, e)
		page := wire.AttemptID{Client: e.ID.Client, Request: wire.RequestID(e.Group)}
		d.members[page] = append(d.members[page], e)
	case wire.PageEnded:
		d.pages = append(d.pages, e)
	}
}

// TestLatencyIsWhatARecountFinds holds what the page about latency shows against
// a diary of all requests: retries, queues, breakers, and pages that people leave.
func TestLatencyIsWhatARecountFinds(t *testing.T) {
	for _, name := range []string{"starvation", "gateway-down"} {
		s := builtin(t, name, "arrival.patience", "6s", "queue.limit", "4")
		s.Fleet.Arrival.Chain = 3
		const end = 14300 * time.Millisecond
		d := newDiary()
		w := metrics.Watch{Span: 12 * time.Second, HeatRows: 20, HeatCols: 60}
		snap := watched(t, s, end, w, d)
		checkClasses(t, name, d, snap)
		checkHeat(t, name, d, snap.Latency.Heat)
		checkPages(t, name, d, snap.Latency.Pages)
		checkOutcomes(t, name, d, snap)
	}
}

func checkClasses(t *testing.T, name string, d *diary, snap *metrics.Snapshot) {
	t.Helper()
	from := clock.Instant(snap.At.Second()-9) * clock.Instant(time.Second)
	for c := range wire.Class(wire.NumClasses) {
		var ended int64
		var queue, onWire, all time.Duration
		var intended, sent []time.Duration
		for _, e := range d.done {
			id := wire.AttemptID{Client: e.ID.Client, Request: e.ID.Request}
			if e.Class != c || e.At < from || e.Warm {
				continue
			}
			ended++
			queue, onWire, all = queue+d.queue[id], onWire+d.onWire[id], all+e.Delay
			if e.Outcome == wire.Succeeded {
				intended = append(intended, e.Delay)
				sent = append(sent, e.At.Sub(d.sent[id]))
			}
		}
		got := snap.Latency.Classes[c]
		if got.Ended != ended || got.Spent.Sum() != all ||
			got.Spent[metrics.PartQueue] != queue || got.Spent[metrics.PartWire] != onWire {
			t.Errorf("%s: %v spent %v in %d requests, want %d that took %v: %v queued, %v on the wire",
				name, c, got.Spent, got.Ended, ended, all, queue, onWire)
		}
		nearPercentiles(t, name+" from start", got.Intended, intended)
		nearPercentiles(t, name+" from send", got.Sent, sent)
	}
}

func nearPercentiles(t *testing.T, name string, got metrics.Percentiles, times []time.Duration) {
	t.Helper()
	slices.Sort(times)
	n := len(times)
	if got.Count != int64(n) {
		t.Errorf("%s: %d times, want %d", name, got.Count, n)
	}
	if n == 0 {
		return
	}
	for percent, p := range map[int]time.Duration{50: got.P50, 90: got.P90, 99: got.P99, 100: got.Max} {
		want := times[(n*percent+99)/100-1]
		if p < want || float64(p) > 1.01*float64(want)+1000 {
			t.Errorf("%s: p%d is %v, want %v", name, percent, p, want)
		}
	}
}

func checkHeat(t *testing.T, name string, d *diary, h *metrics.Heat) {
	t.Helper()
	want := make([]uint16, h.Rows*h.Cols)
	step := math.Pow(float64(h.High)/float64(h.Low), 1/float64(h.Rows))
	for _, e := range d.done {
		if e.Outcome != wire.Succeeded || e.Warm || e.At < h.Start {
			continue
		}
		row := 0
		for edge := float64(h.Low) * step; row < h.Rows-1 && float64(e.Delay) >= edge; edge *= step {
			row++
		}
		want[row*h.Cols+int(e.At.Sub(h.Start)/h.Width)]++
	}
	if !slices.Equal(h.Counts, want) {
		t.Errorf("%s: the heat map is\n%v, want\n%v", name, h.Counts, want)
	}
}

func checkPages(t *testing.T, name string, d *diary, got metrics.PageView) {
	t.Helper()
	var failed, whole int64
	var sum time.Duration
	var steps [3]time.Duration
	for _, e := range d.pages {
		switch {
		case !e.Good:
			failed++
		case !e.Warm:
			whole++
			sum += e.Delay
			for i, m := range d.members[wire.AttemptID{Client: e.ID.Client, Request: wire.RequestID(e.Group)}] {
				steps[i] += m.Delay
			}
		}
	}
	if got.Times.Count != whole || got.Failed != failed || got.Sum != sum || whole == 0 || failed == 0 {
		t.Errorf("%s: %d whole pages took %v, %d failed; want %d, %v, %d",
			name, got.Times.Count, got.Sum, got.Failed, whole, sum, failed)
	}
	for i, s := range got.Steps {
		if s.Spent.Sum() != steps[i] || s.Pages != whole {
			t.Errorf("%s: step %d took %v of %d pages, want %v of %d",
				name, i, s.Spent.Sum(), s.Pages, steps[i], whole)
		}
	}
}

func checkOutcomes(t *testing.T, name string, d *diary, snap *metrics.Snapshot) {
	t.Helper()
	var got, want [wire.NumOutcomes]int32
	for _, b := range snap.Bins {
		for o, n := range b.Ended {
			got[o] += n
		}
	}
	for _, e := range d.done {
		if e.At >= snap.Bins[0].Start {
			want[e.Outcome]++
		}
	}
	if got != want {
		t.Errorf("%s: outcomes in the bins %v, want %v", name, got, want)
	}
}
