package fault

import (
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"herdscope/engine/clock"
)

// reference is a law written down as it is defined, with all moments at which it
// has let somebody in and fractions of any size.
type reference struct {
	l    RateLimit
	room int64
	in   []clock.Instant
}

func newReference(l RateLimit) *reference {
	n := new(big.Int).Mul(big.NewInt(l.Rate), big.NewInt(int64(l.Window)))
	return &reference{l: l, room: max(1, n.Div(n, big.NewInt(token)).Int64())}
}

// between counts those let in from one moment on and before another.
func (r *reference) between(from, to clock.Instant) (n int64) {
	for _, at := range r.in {
		if at >= from && at < to {
			n++
		}
	}
	return n
}

// lets says whether the law has room at now.
func (r *reference) lets(now clock.Instant) bool {
	if r.l.Law == TokenBucket {
		return r.level(now).Cmp(big.NewInt(token)) >= 0
	}
	begin := clock.Instant(now.Bin(r.l.Window) * int64(r.l.Window))
	used := big.NewRat(r.between(begin, now+1), 1)
	if r.l.Law == SlidingWindow {
		last := big.NewRat(r.between(begin.Add(-r.l.Window), begin), 1)
		rest := big.NewRat(int64(r.l.Window)-int64(now-begin), int64(r.l.Window))
		used.Add(used, last.Mul(last, rest))
	}
	return used.Cmp(big.NewRat(r.room-1, 1)) <= 0
}

// level is what a bucket holds at now that was full at 0.
func (r *reference) level(now clock.Instant) *big.Int {
	full := new(big.Int).Mul(big.NewInt(int64(r.l.Burst)), big.NewInt(token))
	level, at := new(big.Int).Set(full), clock.Instant(0)
	refill := func(to clock.Instant) {
		gain := new(big.Int).Mul(big.NewInt(r.l.Rate), big.NewInt(int64(to-at)))
		if level.Add(level, gain).Cmp(full) > 0 {
			level.Set(full)
		}
		at = to
	}
	for _, in := range r.in {
		refill(in)
		level.Sub(level, big.NewInt(token))
	}
	refill(now)
	return level
}

func drawLimit(t *rapid.T) RateLimit {
	return RateLimit{
		Rate:   rapid.Int64Range(1, 30_000).Draw(t, "rate"),
		Burst:  rapid.IntRange(1, 6).Draw(t, "burst"),
		Law:    LimitLaw(rapid.IntRange(0, 2).Draw(t, "law")),
		Window: time.Duration(rapid.Int64Range(int64(ms), int64(2*s)).Draw(t, "window")),
	}
}

// Each law lets in exactly those whom its definition does, and names the first
// moment at which it has room again.
func TestLawsAgainstTheirDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := drawLimit(t)
		twin := newReference(limit)
		var l limiter
		l.start(limit)
		now := clock.Instant(0)
		for range rapid.IntRange(1, 30).Draw(t, "arrivals") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(s)).Draw(t, "gap") >>
				rapid.IntRange(0, 30).Draw(t, "shift")))
			wait, ok := l.take(0, now)
			if want := twin.lets(now); ok != want {
				t.Fatalf("%v at %v: let in %v, want %v", limit.Law, now.Duration(), ok, want)
			}
			if ok {
				twin.in = append(twin.in, now)
				continue
			}
			if due := now.Add(wait); wait <= 0 || !twin.lets(due) || twin.lets(due-1) {
				t.Fatalf("%v at %v: wait %v is not to the first moment with room",
					limit.Law, now.Duration(), wait)
			}
		}
	})
}

// Whatever comes when: no interval holds more than the law promises.
func TestNoIntervalHoldsMoreThanTheLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := drawLimit(t)
		r := newReference(limit)
		var l limiter
		l.start(limit)
		now := clock.Instant(0)
		for range 60 {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(s)/4).Draw(t, "gap") >>
				rapid.IntRange(0, 30).Draw(t, "shift")))
			if _, ok := l.take(0, now); ok {
				r.in = append(r.in, now)
			}
		}
		for i, from := range r.in {
			for j := i; j < len(r.in); j++ {
				r.check(t, from, r.in[j], int64(j-i+1))
			}
		}
	})
}

// check fails the test if an interval, its ends included, holds too many.
func (r *reference) check(t *rapid.T, from, to clock.Instant, n int64) {
	length := to.Sub(from)
	first, last := from.Bin(r.l.Window), to.Bin(r.l.Window)
	most := (last - first + 1) * r.room
	switch {
	case r.l.Law == TokenBucket:
		most = int64(r.l.Burst) + r.l.Rate*int64(length)/token
	case r.l.Law == SlidingWindow && length < r.l.Window:
		most = 2*r.room - 1
		if first == last {
			most = r.room
		}
	}
	if n > most {
		t.Fatalf("%v: %d in the %v from %v, at most %d are allowed",
			r.l.Law, n, length, from.Duration(), most)
	}
}

// What a reply says is left is let in, and nothing else before Reset.
func TestQuotaSaysWhatIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := drawLimit(t)
		var l limiter
		l.start(limit)
		now := clock.Instant(0)
		for range rapid.IntRange(0, 20).Draw(t, "arrivals") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(s)).Draw(t, "gap")))
			l.take(0, now)
		}
		q := l.quota(0, now)
		left := int64(0)
		for ; left <= q.Units; left++ {
			if _, ok := l.take(0, now); !ok {
				break
			}
		}
		if q.Remaining != left || left > q.Units {
			t.Fatalf("%v: %+v, and %d were let in", limit.Law, q, left)
		}
		wait, ok := l.take(0, now)
		if ok || q.Reset < 0 || left == 0 && ceilSeconds(wait) != q.Reset && limit.Law != FixedWindow {
			t.Fatalf("%v: %+v, and the wait is %v", limit.Law, q, wait)
		}
	})
}

func TestLargestLimitsDoNotOverflow(t *testing.T) {
	for law := range SlidingWindow + 1 {
		var l limiter
		l.start(RateLimit{Rate: MaxRate, Burst: MaxWorkers, Law: law, Window: MaxWindow})
		now := clock.Instant(0)
		for range 1000 {
			now = now.Add(7 * time.Minute)
			if wait, ok := l.take(1, now); !ok || wait != 0 {
				t.Fatalf("%v: turned away for %v", law, wait)
			}
			if q := l.quota(1, now); q.Units < MaxWorkers || q.Remaining < 1 || q.Remaining >= q.Units {
				t.Fatalf("%v: %+v", law, q)
			}
		}
	}
	w := windowCount{count: MaxRate * 3600 / 1000}
	full := RateLimit{Rate: MaxRate, Window: MaxWindow}
	if wait, ok := w.takeSliding(0, &full); ok || wait <= MaxWindow {
		t.Errorf("a full window lets in %v, or after %v", ok, wait)
	}
}

// The callers beyond the size of the table cost the oldest theirs.
func TestCallersForgetWhoHasNotComeForLongest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 40).Draw(t, "size")
		c := callers{size: size}
		limit := RateLimit{Rate: 1, Burst: 5}.settled()
		var order []uint64 // oldest first
		uses := map[uint64]int64{}
		forgotten := int64(0)
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			key := rapid.Uint64Range(0, 60).Draw(t, "key")
			m := c.of(key, limit, 0)
			at := indexOf(order, key)
			if at >= 0 {
				order = append(order[:at], order[at+1:]...)
			} else {
				uses[key] = 0
				if len(order) == size {
					order = order[1:]
					forgotten++
				}
			}
			order = append(order, key)
			if m.window.count != uses[key] {
				t.Fatalf("caller %d has %d uses, want %d", key, m.window.count, uses[key])
			}
			m.window.count++
			uses[key]++
			if len(c.table) != len(order) || c.forgotten != forgotten {
				t.Fatalf("%d callers, %d forgotten; want %d, %d",
					len(c.table), c.forgotten, len(order), forgotten)
			}
		}
	})
}

func indexOf(keys []uint64, key uint64) int {
	for i := range keys {
		if keys[i] == key {
			return i
		}
	}
	return -1
}

func TestTallyCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c tally
		twin := map[uint64]int{}
		for range rapid.IntRange(0, 400).Draw(t, "steps") {
			key := rapid.Uint64Range(0, 150).Draw(t, "key")
			n := 1
			if twin[key] > 0 && rapid.Bool().Draw(t, "leaves") {
				n = -1
			}
			c.add(key, n)
			twin[key] += n
			if got := c.of(key); got != twin[key] {
				t.Fatalf("%d of %d, want %d", got, key, twin[key])
			}
		}
		for key := range uint64(151) {
			if got := c.of(key); got != twin[key] {
				t.Fatalf("%d of %d at the end, want %d", got, key, twin[key])
			}
		}
		if len(c.table) > 151 {
			t.Fatalf("%d places for 151 keys", len(c.table))
		}
	})
}
