package metrics

import (
	"math"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// rasterArrivals is how many arrivals a raster can show.
const rasterArrivals = 1 << 17

// maxCells limits a raster, whatever is asked for.
const maxCells = 1 << 20

// rasterLog is the latest arrivals, in the order in which they were observed.
type rasterLog struct {
	arrivals []arrival
	n        uint64 // arrivals so far
}

type arrival struct {
	at     clock.Instant
	client wire.ClientID
	retry  bool
}

func newRasterLog() rasterLog {
	return rasterLog{arrivals: make([]arrival, rasterArrivals)}
}

func (l *rasterLog) add(at clock.Instant, client wire.ClientID, retry bool) {
	l.arrivals[l.n%rasterArrivals] = arrival{at, client, retry}
	l.n++
}

// draw is the raster that is watched, over the last span; nil if none is.
func (c *Collector) draw(span time.Duration) *Raster {
	rows, cols := min(c.watch.RasterRows, c.config.Clients), c.watch.RasterCols
	if rows <= 0 || cols <= 0 || cols > maxCells/rows {
		return nil
	}
	width := max(1, span/time.Duration(cols))
	r := &Raster{
		Rows: rows, Cols: cols, Width: width,
		// Columns are aligned to the run, so that a dot keeps its column while
		// the picture moves.
		Start: clock.Instant((c.now.Bin(width) - int64(cols) + 1) * int64(width)),
		First: make([]uint16, rows*cols), Retry: make([]uint16, rows*cols),
		States: make([]wire.BreakerState, rows),
	}
	c.raster.fill(r, c.config.Clients)
	c.breakers.worst(r.States, c.config.Clients)
	return r
}

// fill counts the arrivals into the raster, the latest first.
func (l *rasterLog) fill(r *Raster, clients int) {
	// Arrivals are out of order by no more than bins stay open for.
	stop := r.Start.Add(-time.Duration(settleBins * int64(binWidth)))
	for back := uint64(1); back <= min(l.n, rasterArrivals); back++ {
		a := &l.arrivals[(l.n-back)%rasterArrivals]
		if a.at < stop {
			return
		}
		col := int(a.at.Sub(r.Start) / r.Width)
		if a.at < r.Start || col >= r.Cols || int(a.client) >= clients {
			continue
		}
		cell := rowOf(int(a.client), clients, r.Rows)*r.Cols + col
		if a.retry {
			count(&r.Retry[cell])
		} else {
			count(&r.First[cell])
		}
	}
}

// rowOf is the row whose clients, from row*clients/rows up to the next row's,
// hold this one.
func rowOf(client, clients, rows int) int { return ((client+1)*rows - 1) / clients }

// count adds one, up to the largest value.
func count(n *uint16) {
	if *n < math.MaxUint16 {
		*n++
	}
}
