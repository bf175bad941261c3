package metrics

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// leastTime is the resolution of all percentiles.
	leastTime = time.Microsecond
	// mostTime is the longest time that percentiles tell apart from longer
	// ones.
	mostTime = 24 * time.Hour
	// latencyDigits, recentDigits and waitDigits are the significant digits of
	// the latencies of the whole run, of those of the last seconds, and of the
	// waits. Few digits are fast: the last seconds are summed up anew every
	// second, and the waits with every Snapshot.
	latencyDigits = 3
	recentDigits  = 2
	waitDigits    = 2
)

// times is a set of times: a histogram, and the exact maximum.
type times struct {
	histogram *hdrhistogram.Histogram
	longest   time.Duration
}

func newTimes(digits int) times {
	return times{histogram: hdrhistogram.New(int64(leastTime), int64(mostTime), digits)}
}

// record adds a time. One below 0 counts as 0, since no wait is negative.
func (t *times) record(d time.Duration) {
	d = max(d, 0)
	t.longest = max(t.longest, d)
	// The one error is a value outside the range, and this one is inside.
	_ = t.histogram.RecordValue(int64(min(d, mostTime)))
}

func (t *times) count() int64 { return t.histogram.TotalCount() }

// percentile is the least time that percent % of the times do not exceed, too
// high by no more than the digits allow; 0 if there are no times.
func (t *times) percentile(percent int64) time.Duration {
	n := t.count()
	if n == 0 {
		return 0
	}
	rank := (n*percent + 99) / 100
	value := t.histogram.ValueAtPercentile(100 * float64(rank) / float64(n))
	return min(time.Duration(value), t.longest)
}

func (t *times) percentiles() Percentiles {
	return Percentiles{
		Count: t.count(),
		P50:   t.percentile(50),
		P90:   t.percentile(90),
		P99:   t.percentile(99),
		Max:   t.longest,
	}
}

func (t *times) reset() {
	t.histogram.Reset()
	t.longest = 0
}

// merge adds all times of another set.
func (t *times) merge(o *times) {
	if o.count() == 0 {
		return
	}
	t.histogram.Merge(o.histogram)
	t.longest = max(t.longest, o.longest)
}

// recent is the times of the last ten seconds that have begun.
type recent struct {
	seconds [10]times
	cur     int
	// all is the sum of the seconds, unless it is stale. It is made anew when it
	// is asked for, which costs more than all the rest.
	all   times
	stale bool
}

func newRecent() recent {
	r := recent{all: newTimes(recentDigits)}
	for i := range r.seconds {
		r.seconds[i] = newTimes(recentDigits)
	}
	return r
}

func (r *recent) record(d time.Duration) {
	r.seconds[r.cur].record(d)
	r.all.record(d)
}

// turn begins a new second and forgets the oldest.
func (r *recent) turn() {
	r.cur = (r.cur + 1) % len(r.seconds)
	if oldest := &r.seconds[r.cur]; oldest.count() > 0 {
		oldest.reset()
		r.stale = true
	}
}

// sum is the times of all seconds.
func (r *recent) sum() *times {
	if r.stale {
		r.stale = false
		r.all.reset()
		for i := range r.seconds {
			r.all.merge(&r.seconds[i])
		}
	}
	return &r.all
}
