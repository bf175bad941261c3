package pagetest

import (
	"math"
	"slices"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/metrics"
	"herdscope/engine/wire"
)

const bin = 100 * time.Millisecond

// Snapshot is a new snapshot of the run.
func (r *Run) Snapshot() *metrics.Snapshot {
	m := r.model
	r.seq++
	s := &metrics.Snapshot{
		Seq: r.seq, At: m.now, Clients: len(m.clients),
		Requests: m.requests, Attempts: m.attempts, Retries: m.retries,
		Now: m.headline(m.now), Was: r.was, Changed: r.changed,
		Window: min(10*time.Second, m.now.Duration()), BinWidth: bin,
		Marks: r.marks(), Notes: slices.Clone(r.notes),
		Faults: []metrics.FaultView{m.faultView()},
	}
	s.Outcomes[wire.Succeeded] = int64(len(m.doneAt))
	s.Outcomes[wire.Failed] = m.failed
	s.Outcomes[wire.Unfinished] = s.Requests - int64(len(m.doneAt)) - m.failed
	s.Bins = m.bins(r.watch.Span)
	r.queues(s)
	m.breakers(s)
	s.Recovery = m.recovery()
	if r.watch.RasterRows > 0 && r.watch.RasterCols > 0 {
		s.Raster = m.raster(r.watch)
	}
	if r.watch.HeatRows > 0 && r.watch.HeatCols > 0 {
		s.Latency = r.latency()
	}
	if r.watch.Lines {
		s.Lines = r.lines(s)
	}
	if r.watch.BreakerRows > 0 {
		s.Lanes = r.lanes(s)
	}
	return s
}

// queues are made up: background waits longer and longer.
func (r *Run) queues(s *metrics.Snapshot) {
	for _, c := range r.model.clients {
		if c.busy {
			s.InFlight++
		} else {
			s.Sleeping++
		}
	}
	if r.model.scenario.Fleet.Policy.Queue.Limit == 0 {
		return
	}
	age := s.At.Duration() / 2
	s.Queues = [wire.NumClasses]metrics.QueueView{
		{Count: 900},
		{Waiting: 41, Oldest: 800 * time.Millisecond, Count: 500},
		{Waiting: 97, Oldest: age, Count: 300, Starving: age > 5*time.Second, Starved: 1},
	}
	s.Waiting = 138
}

func (m *model) headline(to clock.Instant) metrics.Headline {
	from := max(to.Add(-10*time.Second), 0)
	seconds := max(to.Sub(from).Seconds(), 0.1)
	var h metrics.Headline
	counts := make([]float64, int(seconds*10)+1)
	first := 0.0
	for _, a := range m.arrivals {
		if a.at <= from {
			continue
		}
		h.Sent++
		counts[min(int(a.at.Sub(from)/bin), len(counts)-1)]++
		if !a.retry {
			first++
		}
	}
	var waits []time.Duration
	for i, t := range m.doneAt {
		if t > from {
			h.Goodput++
			waits = append(waits, m.waits[i])
		}
	}
	if first > 0 {
		h.Amplification = h.Sent / first
	}
	if h.Sent > 0 {
		mean := h.Sent / float64(len(counts))
		h.PeakToMean = slices.Max(counts) / mean
		h.Chance = 1 + math.Sqrt(2*math.Log(float64(len(counts)))/mean)
	}
	h.Offered, h.Sent, h.Goodput = first/seconds, h.Sent/seconds, h.Goodput/seconds
	slices.Sort(waits)
	if h.Count = int64(len(waits)); h.Count > 0 {
		h.P50, h.Max = waits[len(waits)/2], waits[len(waits)-1]
	}
	if h.Count >= 100 {
		h.P99 = waits[len(waits)*99/100]
	}
	return h
}

func (m *model) bins(span time.Duration) []metrics.Bin {
	if span == 0 {
		span = time.Minute
	}
	last := m.now.Bin(bin)
	first := max(last-int64(span/bin)+1, 0)
	bins := make([]metrics.Bin, last-first+1)
	for i := range bins {
		bins[i].Start = clock.Instant((first + int64(i)) * int64(bin))
		if m.scenario.Fleet.Policy.Queue.Limit > 0 {
			bins[i].Waiting = [wire.NumClasses]int32{1: 41, 2: int32(97 * i / len(bins))}
		}
		if n := int(first) + i; n < len(m.states) {
			bins[i].States = m.states[n]
		} else if len(m.states) > 0 {
			bins[i].States = m.states[len(m.states)-1]
		}
	}
	for _, a := range m.arrivals {
		i := a.at.Bin(bin) - first
		switch {
		case i < 0 || i >= int64(len(bins)):
		case a.retry:
			bins[i].Retry++
		default:
			bins[i].First++
		}
	}
	m.ended(bins, m.doneAt, wire.Succeeded)
	m.ended(bins, m.failedAt, wire.Failed)
	return bins
}

// ended counts moments at which requests ended into the bins.
func (m *model) ended(bins []metrics.Bin, moments []clock.Instant, o wire.Outcome) {
	for _, at := range moments {
		if i := at.Bin(bin) - bins[0].Start.Bin(bin); i >= 0 && i < int64(len(bins)) {
			bins[i].Ended[o]++
		}
	}
}

func (m *model) breakers(s *metrics.Snapshot) {
	b := &s.Breakers
	b.Total = int64(len(m.clients))
	b.On = m.scenario.Fleet.Policy.Breaker.On()
	for i, n := range m.countStates() {
		b.Counts[i] = int64(n)
	}
	b.Opened, b.HalfOpened, b.Closed = m.opened, m.halfOpened, m.closed
	b.Last = slices.Clone(m.changes[max(len(m.changes)-metrics.LastChanges, 0):])
}

func (m *model) recovery() metrics.Recovery {
	if m.now.Duration() < outageStart+outageLength+4*time.Second {
		return metrics.Recovery{Why: "no fault has ended yet"}
	}
	return metrics.Recovery{Known: true, Took: 4 * time.Second}
}

func (m *model) raster(w metrics.Watch) *metrics.Raster {
	r := &metrics.Raster{
		Rows: w.RasterRows, Cols: w.RasterCols, Width: w.Span / time.Duration(w.RasterCols),
		First:  make([]uint16, w.RasterRows*w.RasterCols),
		Retry:  make([]uint16, w.RasterRows*w.RasterCols),
		States: make([]wire.BreakerState, w.RasterRows),
	}
	first := m.now.Bin(r.Width) - int64(r.Cols) + 1
	r.Start = clock.Instant(first * int64(r.Width))
	for _, a := range m.arrivals {
		col := a.at.Bin(r.Width) - first
		if col < 0 || col >= int64(r.Cols) {
			continue
		}
		i := a.client*r.Rows/len(m.clients)*r.Cols + int(col)
		if a.retry {
			r.Retry[i]++
		} else {
			r.First[i]++
		}
	}
	for i, c := range m.clients {
		row := i * r.Rows / len(m.clients)
		if worse(c.state, r.States[row]) {
			r.States[row] = c.state
		}
	}
	return r
}

// worse orders states as closed, half-open, eligible, open.
func worse(s, t wire.BreakerState) bool {
	rank := [wire.NumBreakerStates]int{wire.Closed: 0, wire.HalfOpen: 1, wire.Eligible: 2, wire.Open: 3}
	return rank[s] > rank[t]
}

func (m *model) faultView() metrics.FaultView {
	f := metrics.FaultView{
		Name: "outage", On: m.down(m.now), Began: clock.Never, Until: clock.Never,
		Length: outageLength, Hits: m.hits,
	}
	next := clock.Instant(outageStart)
	for ; next <= m.now; next = next.Add(outageEvery) {
		f.Began = next
	}
	f.Next = next
	if f.On {
		f.Until = f.Began.Add(outageLength)
	}
	return f
}
