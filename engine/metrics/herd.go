package metrics

import (
	"math"
	"time"

	"herdscope/engine/clock"
)

// enoughBins is how many bins a dispersion needs: its random spread is then
// sqrt(2/99), 0.14.
const enoughBins = 100

// foldings are the widths of the dispersions, in bins.
var foldings = [3]int64{1, 10, 100}

// dispersion is how unevenly events fall into bins, kept up in exact sums.
type dispersion struct {
	bins, sum, squares, most int64
}

func (d *dispersion) add(n int64) {
	d.bins++
	d.sum += n
	d.squares += n * n
	d.most = max(d.most, n)
}

// peakToMean is the fullest bin over the mean one; 0 if nothing came.
func (d *dispersion) peakToMean() float64 {
	if d.sum == 0 {
		return 0
	}
	return float64(d.most) * float64(d.bins) / float64(d.sum)
}

// chance is about the peakToMean of a Poisson stream of this mean: the largest
// of M Gaussian values lies about sqrt(2 ln M) deviations above the mean.
func (d *dispersion) chance() float64 {
	if d.sum == 0 {
		return 0
	}
	bins := float64(d.bins)
	return 1 + math.Sqrt(2*math.Log(bins)*bins/float64(d.sum))
}

// fano is the variance over the mean; 0 if it has none.
func (d *dispersion) fano() float64 {
	if d.bins < 2 || d.sum == 0 {
		return 0
	}
	mean := float64(d.sum) / float64(d.bins)
	spread := float64(d.squares) - mean*float64(d.sum)
	return max(0, spread/float64(d.bins-1)/mean)
}

// whole is the statistics of the whole run that come from whole bins. It is a
// plain value: a copy can be carried on by itself.
type whole struct {
	widths   [3]dispersion
	parts    [3]int64 // of the wide bins that are not whole yet
	recovery recovery
}

// add takes in the next bin, which is over; it says whether a fault has been
// recovered from with it.
func (w *whole) add(number int64, b Bin) (recovered bool) {
	for i, folding := range foldings {
		w.parts[i] += b.Arrivals()
		if (number+1)%folding == 0 {
			w.widths[i].add(w.parts[i])
			w.parts[i] = 0
		}
	}
	return w.recovery.add(number, int64(b.Good))
}

func (w *whole) edge(e edge) { w.recovery.edge(e) }

// herd is the statistics of the bins so far.
func (w *whole) herd() (h Herd) {
	fine := &w.widths[0]
	h.BinWidth, h.Bins, h.Arrivals = binWidth, fine.bins, fine.sum
	h.PeakToMean, h.Chance = fine.peakToMean(), fine.chance()
	for i := range w.widths {
		h.Fano[i] = w.widths[i].fano()
		h.Enough[i] = w.widths[i].bins >= enoughBins
	}
	return h
}

const (
	// waveLead is how long before a whole second of the server's clock a wave
	// may begin.
	waveLead = 100 * time.Millisecond
	// leastWave is how many attempts make a wave. Of so many at random, the
	// fullest tenth holds a fifth or so.
	leastWave = 30
	// openWaves is how many waves stay open for attempts out of order.
	openWaves = 4
)

// waves counts how the attempts that come back after a Retry-After fall into
// the seconds of the server's clock; see Herd.
type waves struct {
	lead   time.Duration
	open   [openWaves]wave
	all    int64
	fuller int64
}

// wave is the returns of one second, by tenths.
type wave struct {
	second int64
	tenths [10]int32
}

func newWaves(epochFraction time.Duration) (w waves) {
	w.lead = epochFraction + waveLead
	for i := range w.open {
		w.open[i].second = math.MinInt64
	}
	return w
}

func (w *waves) add(at clock.Instant) {
	at = at.Add(w.lead)
	second := at.Second()
	v := &w.open[((second%openWaves)+openWaves)%openWaves]
	if second > v.second {
		w.fold(v)
		*v = wave{second: second}
	}
	v.tenths[at.Bin(time.Second/10)-10*second]++
}

// fold counts a wave that is over.
func (w *waves) fold(v *wave) {
	var sum, most int32
	for _, n := range v.tenths {
		sum += n
		most = max(most, n)
	}
	if sum >= leastWave {
		w.all += int64(sum)
		w.fuller += int64(most)
	}
}

// share is the share of the attempts in waves that fell into the fullest tenth
// of theirs, and how many they were. Waves that are open count as over.
func (w waves) share() (float64, int64) {
	for i := range w.open {
		w.fold(&w.open[i])
	}
	return share(float64(w.fuller), float64(w.all)), w.all
}
