package pagetest

import (
	"math"
	"slices"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/metrics"
	"herdscope/engine/wire"
)

// latency is what the requests of the model took. All of them are interactive;
// what was not the last try counts as backoff.
func (r *Run) latency() *metrics.LatencyView {
	m := r.model
	l := &metrics.LatencyView{Heat: m.heat(r.watch)}
	c := &l.Classes[wire.Interactive]
	var whole, last []time.Duration
	for i, at := range m.doneAt {
		if at > m.now.Add(-10*time.Second) {
			whole, last = append(whole, m.waits[i]), append(last, m.lastTry[i])
			c.Spent[metrics.PartBackoff] += m.waits[i] - m.lastTry[i]
			c.Spent[metrics.PartWire] += m.lastTry[i]
			c.Ended++
		}
	}
	c.Intended, c.Sent = percentiles(whole), percentiles(last)
	if c.Open = int64(len(m.clients)); c.Open > 0 {
		c.Oldest = min(m.now.Duration(), 12*time.Second)
	}
	if m.scenario.Fleet.Policy.Queue.Limit > 0 {
		l.Pages = pages()
	}
	return l
}

func (m *model) heat(w metrics.Watch) *metrics.Heat {
	h := &metrics.Heat{
		Rows: w.HeatRows, Cols: w.HeatCols, Width: w.Span / time.Duration(w.HeatCols),
		Low: 10 * time.Millisecond, High: 100 * time.Second,
		Counts: make([]uint16, w.HeatRows*w.HeatCols),
	}
	first := m.now.Bin(h.Width) - int64(h.Cols) + 1
	h.Start = clock.Instant(first * int64(h.Width))
	for i, at := range m.doneAt {
		row := int(math.Log10(float64(max(m.waits[i], h.Low))/float64(h.Low)) * float64(h.Rows) / 4)
		if col := at.Bin(h.Width) - first; col >= 0 && col < int64(h.Cols) {
			h.Counts[min(row, h.Rows-1)*h.Cols+int(col)]++
		}
	}
	return h
}

func percentiles(times []time.Duration) (p metrics.Percentiles) {
	slices.Sort(times)
	n := len(times)
	if n == 0 {
		return p
	}
	return metrics.Percentiles{
		Count: int64(n), P50: times[n/2], P90: times[n*9/10], P99: times[n*99/100], Max: times[n-1],
	}
}

// pages are made up: the second step takes longest, and waits most of it.
func pages() metrics.PageView {
	p := metrics.PageView{Failed: 7, Times: metrics.Percentiles{
		Count: 240, P50: 900 * time.Millisecond, P90: 2 * time.Second, P99: 4 * time.Second,
		Max: 5 * time.Second,
	}}
	for _, s := range []metrics.Spent{
		{metrics.PartQueue: 10 * time.Second, metrics.PartWire: 40 * time.Second},
		{metrics.PartQueue: 70 * time.Second, metrics.PartBackoff: 12 * time.Second, metrics.PartWire: 41 * time.Second},
		{metrics.PartQueue: 11 * time.Second, metrics.PartWire: 39 * time.Second},
	} {
		p.Steps = append(p.Steps, metrics.Step{Pages: p.Times.Count, Spent: s})
		p.Sum += s.Sum()
	}
	return p
}
