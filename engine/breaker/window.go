package breaker

import (
	"time"

	"herdscope/engine/clock"
)

// shape is the kind and the size of a window: calls for one over the last
// calls, width of a bucket for one over time. The zero shape is no window.
type shape struct {
	calls int32
	width time.Duration
}

// tally is how many calls there were, and how many of them failed, were slow.
type tally struct{ calls, failed, slow int64 }

// window keeps what became of the last calls, and its tally without recounting.
// It allocates when it is made and never after.
type window struct {
	shape shape
	sum   tally
	// head is the place that the next call takes in a ring of calls, or the
	// number of the newest bucket since the run began.
	head int64
	// words holds 32 calls each, two bits a call, or one bucket each.
	words []uint64
}

const (
	callBits     = 2
	callsPerWord = 64 / callBits
	failedBit    = 1
	slowBit      = 2
)

func newWindow(s shape) *window {
	words := int32(Buckets)
	if s.calls > 0 {
		words = (s.calls + callsPerWord - 1) / callsPerWord
	}
	return &window{shape: s, words: make([]uint64, words)}
}

// empty forgets all calls.
func (w *window) empty() {
	if w == nil {
		return
	}
	clear(w.words)
	w.sum, w.head = tally{}, 0
}

// add takes in a call that ended at now.
func (w *window) add(now clock.Instant, failed, slow bool) {
	mark := tally{calls: 1}
	if failed {
		mark.failed = 1
	}
	if slow {
		mark.slow = 1
	}
	if w.shape.calls > 0 {
		w.addCall(mark)
		return
	}
	w.advance(now)
	bucket := &w.words[place(w.head)]
	if tallyOf(*bucket).calls < maxPerBucket {
		*bucket += packed(mark)
		w.sum.plus(mark)
	}
}

// addCall puts a call into the ring, in place of the oldest if that is full.
func (w *window) addCall(mark tally) {
	word := &w.words[w.head/callsPerWord]
	shift := uint(w.head%callsPerWord) * callBits
	if w.sum.calls == int64(w.shape.calls) {
		old := *word >> shift
		w.sum.minus(tally{1, int64(old & failedBit), int64(old & slowBit / slowBit)})
	}
	*word &^= (failedBit | slowBit) << shift
	*word |= uint64(mark.failed*failedBit|mark.slow*slowBit) << shift
	w.sum.plus(mark)
	w.head = (w.head + 1) % int64(w.shape.calls)
}

// advance drops the buckets that have left a window over time, all of them
// after a gap that is longer than the window.
func (w *window) advance(now clock.Instant) {
	newest := now.Bin(w.shape.width)
	for n := max(w.head+1, newest-Buckets+1); n <= newest; n++ {
		bucket := &w.words[place(n)]
		w.sum.minus(tallyOf(*bucket))
		*bucket = 0
	}
	w.head = max(w.head, newest)
}

// place is where a bucket lies in the ring; its number may be negative.
func place(n int64) int64 { return (n%Buckets + Buckets) % Buckets }

// tally is the calls that the window holds at now.
func (w *window) tally(now clock.Instant) tally {
	if w == nil {
		return tally{}
	}
	if w.shape.calls == 0 {
		w.advance(now)
	}
	return w.sum
}

// A bucket packs its tally into one word of three counters. One that is full
// takes no more calls; the shares stay right.
const (
	counterBits  = 21
	maxPerBucket = 1<<counterBits - 1
)

func packed(t tally) uint64 {
	return uint64(t.calls | t.failed<<counterBits | t.slow<<(2*counterBits))
}

func tallyOf(bucket uint64) tally {
	return tally{
		calls:  int64(bucket & maxPerBucket),
		failed: int64(bucket >> counterBits & maxPerBucket),
		slow:   int64(bucket >> (2 * counterBits) & maxPerBucket),
	}
}

func (t *tally) plus(o tally) {
	t.calls, t.failed, t.slow = t.calls+o.calls, t.failed+o.failed, t.slow+o.slow
}

func (t *tally) minus(o tally) {
	t.calls, t.failed, t.slow = t.calls-o.calls, t.failed-o.failed, t.slow-o.slow
}

// reaches says whether part is at least the share rate of all, in thousandths;
// a rate of 0 is off.
func reaches(part, all, rate int64) bool { return rate > 0 && part*1000 >= all*rate }
