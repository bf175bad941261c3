package metrics

import (
	"math"
	"time"

	"herdscope/engine/clock"
)

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
