package metrics

import (
	"math"
	"time"

	"herdscope/engine/clock"
)

// heatSuccesses is how many successes a heat map can show.
const heatSuccesses = 1 << 16

// The latencies that a heat map can tell apart.
const (
	leastHeat = 100 * time.Microsecond
	mostHeat  = 10_000 * time.Second
)

// Heat counts successes by time and latency, from the intended start. Row r
// holds the latencies from Low * (High/Low)^(r/Rows) up to the next row's; Low
// and High are powers of ten of a millisecond which all latencies of the run lie
// between, so far as 100 us to 10,000 s reach. Those beyond count in the
// outermost rows.
type Heat struct {
	Rows, Cols int
	Start      clock.Instant
	// Width is the time that one column covers; the last one is that of now.
	Width     time.Duration
	Low, High time.Duration
	// Counts has Rows*Cols cells, row by row. Successes older than the latest
	// 65,536 are forgotten.
	Counts []uint16
}

// heatLog is the latest successes, and the extremes of all.
type heatLog struct {
	successes      []success
	n              uint64
	least, longest time.Duration
}

type success struct {
	at   clock.Instant
	took time.Duration
}

func newHeatLog() heatLog {
	return heatLog{successes: make([]success, heatSuccesses), least: math.MaxInt64}
}

func (l *heatLog) add(at clock.Instant, took time.Duration) {
	l.successes[l.n%heatSuccesses] = success{at, took}
	l.n++
	l.least, l.longest = min(l.least, took), max(l.longest, took)
}

// draw is the heat map that is watched; nil if none is.
func (l *heatLog) draw(now clock.Instant, span time.Duration, w Watch) *Heat {
	rows, cols := w.HeatRows, w.HeatCols
	if rows <= 0 || cols <= 0 || cols > maxCells/rows {
		return nil
	}
	width := max(1, span/time.Duration(cols))
	h := &Heat{
		Rows: rows, Cols: cols, Width: width,
		Start:  clock.Instant((now.Bin(width) - int64(cols) + 1) * int64(width)),
		Counts: make([]uint16, rows*cols),
	}
	h.Low, h.High = l.decades()
	l.fill(h)
	return h
}

// decades are the powers of ten around all latencies, at least two of them.
func (l *heatLog) decades() (low, high time.Duration) {
	if l.n == 0 {
		return time.Millisecond, time.Second
	}
	low, high = leastHeat, 100*leastHeat
	for low < mostHeat/100 && 10*low <= l.least {
		low *= 10
	}
	for high = 100 * low; high < mostHeat && high <= l.longest; {
		high *= 10
	}
	return low, high
}

// fill counts the successes into the map, the latest first.
func (l *heatLog) fill(h *Heat) {
	low, perRow := math.Log10(float64(h.Low)), math.Log10(float64(h.High)/float64(h.Low))/float64(h.Rows)
	for back := uint64(1); back <= min(l.n, heatSuccesses); back++ {
		s := &l.successes[(l.n-back)%heatSuccesses]
		if s.at < h.Start {
			return
		}
		col := int(s.at.Sub(h.Start) / h.Width)
		if col >= h.Cols {
			continue
		}
		row := int((math.Log10(float64(max(s.took, 1))) - low) / perRow)
		count(&h.Counts[min(max(row, 0), h.Rows-1)*h.Cols+col])
	}
}
