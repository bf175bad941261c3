package metrics

import (
	"time"

	"herdscope/engine/clock"
)

const (
	// fineBins is how many bins of binWidth are kept: ten minutes.
	fineBins = 6000
	// coarseBins is how many bins of each greater width are kept. Both are
	// even, so that the two oldest always make one whole bin of the next width.
	coarseBins = 3000
	// viewBins is how many bins a Snapshot may have.
	viewBins = 1200
)

// history is the bins of the run. Each level has bins twice as wide as the one
// before, and older ones: a full level merges its two oldest bins into one of
// the next level.
type history struct {
	levels []ring
	// cur is the number of the newest bin of level 0.
	cur int64
}

// ring is a queue of bins without gaps in time.
type ring struct {
	bins     []Bin
	first, n int
}

func newHistory() history {
	h := history{cur: -1}
	h.open()
	return h
}

// open begins the next bin.
func (h *history) open() {
	h.cur++
	h.push(0, Bin{Start: binStart(h.cur)})
}

func (h *history) push(level int, b Bin) {
	if level == len(h.levels) {
		h.levels = append(h.levels, newRing(level))
	}
	r := &h.levels[level]
	if r.n == len(r.bins) {
		old := *r.at(0)
		old.merge(r.at(1))
		r.first = (r.first + 2) % len(r.bins)
		r.n -= 2
		h.push(level+1, old)
		r = &h.levels[level] // push may have moved it
	}
	r.n++
	*r.at(r.n - 1) = b
}

func newRing(level int) ring {
	if level == 0 {
		return ring{bins: make([]Bin, fineBins)}
	}
	return ring{bins: make([]Bin, coarseBins)}
}

// at is the i-th oldest bin.
func (r *ring) at(i int) *Bin {
	i += r.first
	if i >= len(r.bins) {
		i -= len(r.bins)
	}
	return &r.bins[i]
}

// newest is the bin that is not over yet.
func (h *history) newest() *Bin { return h.bin(h.cur) }

// bin is the bin with the given number, which must be one of the last ten
// minutes.
func (h *history) bin(number int64) *Bin {
	r := &h.levels[0]
	return r.at(r.n - 1 - int(h.cur-number))
}

// view is the bins that cover the last span, in a width that makes them few
// enough.
func (h *history) view(span time.Duration) (bins []Bin, width time.Duration) {
	width = binWidth
	for span > viewBins*width {
		width *= 2
	}
	end := binStart(h.cur + 1)
	first := max(0, end.Add(-span)).Bin(width)
	bins = make([]Bin, binStart(h.cur).Bin(width)-first+1)
	for i := range bins {
		bins[i].Start = clock.Instant((first + int64(i)) * int64(width))
	}
	h.fill(bins, width)
	return bins, width
}

// fill adds the history to the bins of the given width that it falls in. It
// goes back in time, so the state that a bin ends with is the one met first.
func (h *history) fill(bins []Bin, width time.Duration) {
	first, last := bins[0].Start.Bin(width), int64(len(bins))
	for l := range h.levels {
		r := &h.levels[l]
		for i := r.n - 1; i >= 0; i-- {
			b := r.at(i)
			at := b.Start.Bin(width) - first
			if at < 0 {
				return
			}
			to := &bins[at]
			if at < last {
				last = at
				to.States, to.Waiting, to.Busy, to.Backlog = b.States, b.Waiting, b.Busy, b.Backlog
				to.Limit = b.Limit
			}
			to.add(b)
		}
	}
}

// Arrivals is the attempts that arrived at the server.
func (b *Bin) Arrivals() int64 { return int64(b.First) + int64(b.Retry) }

// merge makes b one bin with the one that follows it.
func (b *Bin) merge(next *Bin) {
	b.add(next)
	b.States, b.Waiting, b.Busy, b.Backlog = next.States, next.Waiting, next.Busy, next.Backlog
	b.Limit = next.Limit
}

// add adds the counts of another bin.
func (b *Bin) add(o *Bin) {
	b.First += o.First
	b.Retry += o.Retry
	b.Began += o.Began
	b.Sent += o.Sent
	b.Good += o.Good
	b.Bad += o.Bad
	b.Refused += o.Refused
	b.HalfOpened += o.HalfOpened
	for i, n := range o.Ended {
		b.Ended[i] += n
	}
	for i := range o.Asked {
		b.Asked[i] += o.Asked[i]
		b.Started[i] += o.Started[i]
	}
}
