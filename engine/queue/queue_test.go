package queue

import (
	"slices"
	"strings"
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

var everybody = Allowed{true, true, true}

const second = clock.Instant(time.Second)

// first is a first try of a class that came at so many seconds, with its handle
// as its number and no deadline.
func first(handle int32, c wire.Class, seconds int) Waiter {
	at := clock.Instant(seconds) * second
	return Waiter{
		Handle: handle, Class: c, Number: uint64(handle), Came: at, Entered: at, Deadline: clock.Never,
	}
}

// drain takes out everybody in turn, at a moment, and returns the handles.
func drain(q *Queue, now clock.Instant) []int32 {
	var turns []int32
	for {
		h, c, ok := q.Next(now, everybody)
		if !ok {
			return turns
		}
		q.Remove(h, c)
		turns = append(turns, h)
	}
}

// scene is a few requests in whom every order sees something else: 1 and 2 are
// background, 3 interactive, 4 and 5 critical, a second after each other; 3 has
// the latest deadline and 5 none.
func scene() []Waiter {
	ws := []Waiter{
		first(1, wire.Background, 1), first(2, wire.Background, 2), first(3, wire.Interactive, 3),
		first(4, wire.Critical, 4), first(5, wire.Critical, 5),
	}
	for i, deadline := range []clock.Instant{20, 10, 30, 15} {
		ws[i].Deadline = deadline * second
	}
	return ws
}

func TestTurns(t *testing.T) {
	tests := []struct {
		name   string
		config Config
		want   []int32
	}{
		{"strict", Config{}, []int32{4, 5, 3, 1, 2}},
		{"fifo", Config{Order: FIFO}, []int32{1, 2, 3, 4, 5}},
		{"weighted", Config{Order: Weighted, Weight: [wire.NumClasses]int{1, 1, 1}}, []int32{4, 3, 1, 5, 2}},
		{"weighted by default", Config{Order: Weighted}, []int32{4, 5, 3, 1, 2}},
		{"ageing by default", Config{Order: Ageing}, []int32{4, 5, 3, 1, 2}},
		{"ageing in two seconds", Config{Order: Ageing, Ageing: 2 * time.Second}, []int32{4, 1, 3, 5, 2}},
		{"edf", Config{Order: EDF}, []int32{2, 4, 1, 3, 5}},
		{"lifo", Config{Order: LIFO}, []int32{5, 4, 3, 2, 1}},
		{"adaptive-lifo in a standing queue", Config{Order: AdaptiveLIFO}, []int32{5, 4, 3, 2, 1}},
		{"adaptive-lifo", Config{Order: AdaptiveLIFO, CodelInterval: 10 * time.Second}, []int32{1, 2, 3, 4, 5}},
	}
	for _, tt := range tests {
		var q Queue
		q.Use(0, tt.config)
		for _, w := range scene() {
			q.Push(w)
		}
		if got := drain(&q, 5*second); !slices.Equal(got, tt.want) {
			t.Errorf("%s: turns %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestAClassThatMayNotStartIsPassedOver(t *testing.T) {
	for o := range Order(len(OrderNames())) {
		var q Queue
		q.Use(0, Config{Order: o})
		q.Push(first(1, wire.Critical, 1))
		q.Push(first(2, wire.Background, 2))
		for _, tt := range []struct {
			allowed Allowed
			want    int32
		}{{Allowed{false, true, true}, 2}, {Allowed{true, true, false}, 1}} {
			if h, _, ok := q.Next(3*second, tt.allowed); !ok || h != tt.want {
				t.Errorf("%v: Next = %d, %v; want %d", o, h, ok, tt.want)
			}
		}
		if _, _, ok := q.Next(3*second, Allowed{false, true, false}); ok {
			t.Errorf("%v: Next gives a turn to a class that may not start, or has nobody", o)
		}
	}
}

// TestWhereARetryComesIn has a retry of a request come back, which was the third
// of four, and then one more first try.
func TestWhereARetryComesIn(t *testing.T) {
	tests := []struct {
		order Order
		want  [3][]int32 // aged, head, tail
	}{
		{Strict, [3][]int32{{2, 4, 3, 1, 5}, {2, 4, 1, 3, 5}, {2, 4, 3, 1, 5}}},
		{FIFO, [3][]int32{{2, 3, 1, 4, 5}, {1, 2, 3, 4, 5}, {2, 3, 4, 1, 5}}},
		{LIFO, [3][]int32{{5, 4, 1, 3, 2}, {1, 5, 4, 3, 2}, {5, 4, 3, 2, 1}}},
		{AdaptiveLIFO, [3][]int32{{5, 4, 1, 3, 2}, {1, 5, 4, 3, 2}, {5, 4, 3, 2, 1}}},
	}
	for _, tt := range tests {
		for reentry, want := range tt.want {
			var q Queue
			q.Use(0, Config{Order: tt.order})
			q.Push(first(2, wire.Critical, 1))
			q.Push(first(3, wire.Interactive, 2))
			q.Push(first(4, wire.Critical, 4))
			retry := first(1, wire.Interactive, 3)
			retry.Entered, retry.Reentry = 5*second, Requeue(reentry)
			if retry.Reentry == Tail {
				retry.Number = 5
			}
			q.Push(retry)
			q.Push(first(5, wire.Background, 6))
			if got := drain(&q, 7*second); !slices.Equal(got, want) {
				t.Errorf("%v, %s: turns %v, want %v", tt.order, RequeueNames()[reentry], got, want)
			}
		}
	}
}

// TestReorderingKeepsPlaces changes the order again and again, and expects each
// time the turns that the order would have given from the beginning.
func TestReorderingKeepsPlaces(t *testing.T) {
	n := Order(len(OrderNames()))
	for from := range n {
		for to := range n {
			var once, changed Queue
			once.Use(0, Config{Order: to})
			changed.Use(0, Config{Order: from})
			for _, w := range scene() {
				once.Push(w)
				changed.Push(w)
			}
			if changed.Use(6*second, Config{Order: to}) != (from != to) {
				t.Errorf("from %v to %v: Use says the wrong thing", from, to)
			}
			want := drain(&once, 6*second)
			if got := drain(&changed, 6*second); !slices.Equal(got, want) {
				t.Errorf("from %v to %v: turns %v, want %v", from, to, got, want)
			}
		}
	}
}

func TestPatience(t *testing.T) {
	var q Queue
	q.Use(0, Config{Order: AdaptiveLIFO})
	q.Push(first(1, wire.Critical, 0))
	tests := []struct {
		after, want time.Duration
	}{
		{100 * time.Millisecond, 200 * time.Millisecond}, // was empty just in time
		{101 * time.Millisecond, 106 * time.Millisecond},
	}
	for i, tt := range tests {
		w := first(int32(i+2), wire.Critical, 0)
		w.Entered = clock.Instant(tt.after)
		if got := q.Push(w).Duration(); got != tt.want {
			t.Errorf("after %v: expires at %v, want %v", tt.after, got, tt.want)
		}
	}
	drain(&q, second)
	if got := q.Push(first(1, wire.Critical, 2)).Duration(); got != 2100*time.Millisecond {
		t.Errorf("after it was empty: expires at %v, want 2.1s", got)
	}
	if !q.Sheds() {
		t.Error("adaptive-lifo does not shed")
	}
}

func TestEDFReckonsWithTheEstimate(t *testing.T) {
	var q Queue
	q.Use(0, Config{Order: EDF, Estimate: 300 * time.Millisecond})
	w := first(1, wire.Critical, 0)
	if got := q.Push(w); got != clock.Never {
		t.Errorf("without a deadline it expires at %v", got.Duration())
	}
	q.Remove(1, wire.Critical)
	w.Deadline = second
	if got := q.Push(w).Duration(); got != 700*time.Millisecond || q.Expires(1).Duration() != got {
		t.Errorf("expires at %v, want 700ms", got)
	}
	q.Use(0, Config{})
	if got := q.Expires(1); got != clock.Never || q.Sheds() {
		t.Errorf("under strict it still expires, at %v", got.Duration())
	}
}

// TestOrdersAreDescribed also holds that the table has no gap.
func TestOrdersAreDescribed(t *testing.T) {
	for o := range Order(len(OrderNames())) {
		name, bound := o.String(), o.Bound()
		if name == "" || name != OrderNames()[o] || bound == "" || strings.HasSuffix(bound, ".") {
			t.Errorf("order %d: name %q, bound %q", o, name, bound)
		}
		if r := rules[o]; r.turn == nil || r.sheds && r.expires == nil {
			t.Errorf("%v lacks a part", o)
		}
	}
	if o := Order(200); o.String() != "order 200" || o.Bound() != "" {
		t.Errorf("an unknown order is %q with the bound %q", o, o.Bound())
	}
}

func TestTwoOrdersCannotShareANumber(t *testing.T) {
	defer func() {
		if got := recover(); got != "queue: order 1 is both fifo and another" {
			t.Errorf("register panics with %v", got)
		}
	}()
	register(FIFO, rule{name: "another"})
}
