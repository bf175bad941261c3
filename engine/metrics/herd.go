package metrics

import "math"

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

// fewPerBin is the mean below which the counts of a Poisson stream are not near
// enough to Gaussian; at it the two peaks are within a tenth of each other.
const fewPerBin = 10

// chance is about the peakToMean of a Poisson stream of this mean: the largest
// of M Gaussian values lies about sqrt(2 ln M) deviations above the mean. Small
// counts lean to the right of that.
func (d *dispersion) chance() float64 {
	if d.sum == 0 {
		return 0
	}
	bins := float64(d.bins)
	mean := float64(d.sum) / bins
	peak := mean + math.Sqrt(2*math.Log(bins)*mean)
	if mean < fewPerBin {
		peak = max(peak, poissonPeak(bins, mean))
	}
	return peak / mean
}

// poissonPeak is the median of the fullest of so many bins whose counts are
// Poisson: the least count within which all of them stay as often as not.
func poissonPeak(bins, mean float64) float64 {
	count, share := 0.0, math.Exp(-mean)
	for within := share; math.Pow(within, bins) < 0.5; within += share {
		count++
		share *= mean / count
	}
	return count
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
