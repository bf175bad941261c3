package queue

import (
	"slices"
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"

	"pgregory.net/rapid"
)

// twin is a queue as one would write it without a thought for speed: a list, and
// for each order a search through all of it.
type twin struct {
	config  Config
	list    []Waiter
	emptied clock.Instant
	// The deficit round robin: the class on turn, and what each has left.
	class   int
	deficit [wire.NumClasses]int
}

func (q *twin) push(w Waiter) {
	if len(q.list) == 0 {
		q.emptied = w.Entered
	}
	q.list = append(q.list, w)
}

func (q *twin) remove(handle int32) {
	i := slices.IndexFunc(q.list, func(w Waiter) bool { return w.Handle == handle })
	class := q.list[i].Class
	q.list = slices.Delete(q.list, i, i+1)
	if q.count(class) == 0 {
		q.deficit[class] = 0
		if q.class == int(class) {
			q.class = (q.class + 1) % wire.NumClasses
		}
	}
}

func (q *twin) count(c wire.Class) int {
	n := 0
	for _, w := range q.list {
		if w.Class == c {
			n++
		}
	}
	return n
}

// next sorts all who may start by who goes first, and takes the first.
func (q *twin) next(now clock.Instant, allowed Allowed) (int32, bool) {
	may := slices.DeleteFunc(slices.Clone(q.list), func(w Waiter) bool { return !allowed[w.Class] })
	if len(may) == 0 {
		return 0, false
	}
	if q.config.Order == Weighted {
		c := q.roundRobin(allowed)
		may = slices.DeleteFunc(may, func(w Waiter) bool { return w.Class != c })
	}
	less := q.less(now)
	slices.SortStableFunc(may, func(a, b Waiter) int {
		switch {
		case less(a, b):
			return -1
		case less(b, a):
			return 1
		}
		return 0
	})
	return may[0].Handle, true
}

// less is each order's definition, for two requests.
func (q *twin) less(now clock.Instant) func(a, b Waiter) bool {
	switch q.config.Order {
	case Strict:
		return func(a, b Waiter) bool {
			return a.Class < b.Class || a.Class == b.Class && q.older(a, b, 0)
		}
	case Ageing:
		return func(a, b Waiter) bool { return q.older(a, b, clock.Instant(q.config.Ageing)) }
	case EDF:
		return func(a, b Waiter) bool {
			return a.Deadline < b.Deadline || a.Deadline == b.Deadline && a.Number < b.Number
		}
	case LIFO:
		return newer
	case AdaptiveLIFO:
		if now > q.emptied+clock.Instant(q.config.CodelInterval) {
			return newer
		}
	}
	return func(a, b Waiter) bool { return q.older(a, b, 0) }
}

// older compares by coming, when each class but the first comes later by a
// handicap for each before it.
func (q *twin) older(a, b Waiter, handicap clock.Instant) bool {
	moment := func(w Waiter) clock.Instant {
		if w.Reentry == Tail {
			return w.Entered + handicap*clock.Instant(w.Class)
		}
		return w.Came + handicap*clock.Instant(w.Class)
	}
	switch {
	case (a.Reentry == Head) != (b.Reentry == Head):
		return a.Reentry == Head
	case a.Reentry == Head || moment(a) == moment(b):
		return a.Number < b.Number
	}
	return moment(a) < moment(b)
}

// newer compares by coming, the latest first, between those who come in at the
// head and those who come in at the tail.
func newer(a, b Waiter) bool {
	place := map[Requeue]int{Head: 1, Aged: 2, Tail: 3}
	switch {
	case a.Reentry != b.Reentry:
		return place[a.Reentry] < place[b.Reentry]
	case a.Reentry != Aged:
		return a.Number < b.Number
	case a.Came != b.Came:
		return a.Came > b.Came
	}
	return a.Number > b.Number
}

// roundRobin goes round the classes and gives a quantum to each that has used up
// its own.
func (q *twin) roundRobin(allowed Allowed) wire.Class {
	for {
		c := wire.Class(q.class)
		if allowed[c] && q.count(c) > 0 {
			if q.deficit[c] == 0 {
				q.deficit[c] = q.config.Weight[c]
			}
			q.deficit[c]--
			if q.deficit[c] == 0 {
				q.class = (q.class + 1) % wire.NumClasses
			}
			return c
		}
		q.class = (q.class + 1) % wire.NumClasses
	}
}

// pair is a queue and its twin, who are told the same.
type pair struct {
	queue  Queue
	twin   twin
	now    clock.Instant
	number uint64
	came   [20]clock.Instant // of requests that can come back, by handle
}

func (p *pair) use(t *rapid.T, o Order) {
	c := Config{
		Order:         o,
		Ageing:        time.Duration(rapid.IntRange(1, 5).Draw(t, "ageing")),
		CodelTarget:   5,
		CodelInterval: time.Duration(rapid.IntRange(5, 20).Draw(t, "interval")),
	}
	for i := range c.Weight {
		c.Weight[i] = rapid.IntRange(1, 4).Draw(t, "weight")
	}
	if p.twin.config.Order == o {
		c.Weight = p.twin.config.Weight
	} else {
		p.twin.class, p.twin.deficit = 0, [wire.NumClasses]int{}
	}
	p.queue.Use(p.now, c)
	p.twin.config = c
}

func (p *pair) waits(h int32) bool {
	return slices.ContainsFunc(p.twin.list, func(w Waiter) bool { return w.Handle == h })
}

// push lets in a first try, or a retry of what has waited before.
func (p *pair) push(t *rapid.T, o Order, handle int32) {
	p.number++
	w := Waiter{
		Handle: handle, Class: wire.Class(rapid.IntRange(0, wire.NumClasses-1).Draw(t, "class")),
		Came: p.now, Entered: p.now, Number: p.number, Deadline: clock.Never,
	}
	if rapid.Bool().Draw(t, "retry") {
		w.Came = p.came[handle]
		w.Reentry = Requeue(rapid.IntRange(0, 2).Draw(t, "reentry"))
	}
	if rapid.Bool().Draw(t, "deadline") {
		w.Deadline = w.Came + clock.Instant(rapid.IntRange(1, 40).Draw(t, "within"))
	}
	p.came[handle] = w.Came
	p.queue.Push(w)
	p.twin.push(w)
}

func (p *pair) remove(h int32) {
	i := slices.IndexFunc(p.twin.list, func(w Waiter) bool { return w.Handle == h })
	p.queue.Remove(h, p.twin.list[i].Class)
	p.twin.remove(h)
}

// next asks both for the next turn, and takes that one out, as a caller must.
func (p *pair) next(t *rapid.T) {
	var allowed Allowed
	for i := range allowed {
		allowed[i] = rapid.IntRange(0, 3).Draw(t, "allowed") > 0
	}
	got, _, ok := p.queue.Next(p.now, allowed)
	want, some := p.twin.next(p.now, allowed)
	if ok != some || ok && got != want {
		t.Fatalf("%v at %d: Next = %d, %v; want %d, %v of %+v",
			p.twin.config.Order, p.now, got, ok, want, some, p.twin.list)
	}
	if ok {
		p.remove(got)
	}
}

// step does one thing of any kind to both.
func (p *pair) step(t *rapid.T, o Order) {
	p.now += clock.Instant(rapid.IntRange(0, 3).Draw(t, "pass"))
	handle := rapid.Int32Range(0, int32(len(p.came))-1).Draw(t, "handle")
	switch verb := rapid.IntRange(0, 9).Draw(t, "verb"); {
	case verb == 0:
		p.use(t, Order(rapid.IntRange(0, len(OrderNames())-1).Draw(t, "order")))
	case verb == 1:
		p.use(t, o)
	case p.waits(handle) && verb == 2:
		p.remove(handle)
	case verb < 7 && !p.waits(handle):
		p.push(t, o, handle)
	default:
		p.next(t)
	}
}

// TestEveryOrderIsItsTwin does anything at all to a queue of each order, and to
// its twin, changes of the order included.
func TestEveryOrderIsItsTwin(t *testing.T) {
	for o := range Order(len(OrderNames())) {
		t.Run(o.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				var p pair
				p.use(t, o)
				for range rapid.IntRange(1, 80).Draw(t, "steps") {
					p.step(t, o)
					if p.queue.Len() != len(p.twin.list) {
						t.Fatalf("Len = %d, want %d", p.queue.Len(), len(p.twin.list))
					}
				}
				for len(p.twin.list) > 0 {
					p.next(t)
				}
			})
		})
	}
}

// TestTheOldestIsTheHead holds for every order: Head is by place.
func TestTheOldestIsTheHead(t *testing.T) {
	for o := range Order(len(OrderNames())) {
		var q Queue
		q.Use(0, Config{Order: o})
		for _, w := range scene() {
			q.Push(w)
		}
		if h, came, ok := q.Head(wire.Critical); !ok || h != 4 || came != 4*second {
			t.Errorf("%v: Head = %d, %v, %v; want 4", o, h, came.Duration(), ok)
		}
		drain(&q, 5*second)
		if _, _, ok := q.Head(wire.Critical); ok {
			t.Errorf("%v: an empty class has a head", o)
		}
	}
}

// turnover is one request in and one out of a queue of 1,000.
func turnover(q *Queue, handle int32, now clock.Instant) int32 {
	q.Push(Waiter{
		Handle: handle, Class: wire.Class(handle % wire.NumClasses), Number: uint64(now),
		Came: now, Entered: now, Deadline: now.Add(time.Duration(handle)),
	})
	h, c, _ := q.Next(now, everybody)
	q.Remove(h, c)
	return h
}

func full(o Order) (q Queue) {
	q.Use(0, Config{Order: o, CodelInterval: time.Nanosecond})
	for h := range int32(1000) {
		q.Push(first(h, wire.Class(h%wire.NumClasses), 0))
	}
	return q
}

func TestOrdersDoNotAllocate(t *testing.T) {
	for o := range Order(len(OrderNames())) {
		q, handle, now := full(o), int32(1000), clock.Instant(0)
		allocs := testing.AllocsPerRun(5, func() {
			for range 10_000 {
				now++
				handle = turnover(&q, handle, now)
			}
		})
		if allocs != 0 {
			t.Errorf("%v: %v allocations in 10,000 turns", o, allocs)
		}
	}
}

func BenchmarkTurn(b *testing.B) {
	for o := range Order(len(OrderNames())) {
		b.Run(o.String(), func(b *testing.B) {
			q, handle, now := full(o), int32(1000), clock.Instant(0)
			b.ReportAllocs()
			for b.Loop() {
				now++
				handle = turnover(&q, handle, now)
			}
		})
	}
}
