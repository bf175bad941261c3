package metrics

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// lines is who waits in each class of each queue, in the order in which they
// joined. It tells who is overtaken, and how long a class goes without a start.
type lines struct {
	clients, scopes int
	lines           []line // by client, scope and class
	// jumped counts, by the class of a start and of those who waited, the starts
	// that went before somebody who had joined the queue earlier.
	jumped [wire.NumClasses][wire.NumClasses]int64
	// nodes are the links of the lists; 0 is none of them.
	nodes []link
	free  int32 // the first free node
}

// line is those of one class that wait in one queue.
type line struct {
	first, last, n int32
	// since is when the class last had a start there, or nobody waiting.
	since clock.Instant
}

// link is one that waits.
type link struct {
	joined     clock.Instant
	prev, next int32
	line       int32 // -1 for a queue that the Config does not have
}

func newLines(c Config) lines {
	l := lines{clients: c.Clients, scopes: max(1, c.Scopes), nodes: make([]link, 1)}
	l.lines = make([]line, l.clients*l.scopes*wire.NumClasses)
	return l
}

// queue is the place of the first line of an event's queue; -1 if the Config
// does not have that queue.
func (l *lines) queue(e *wire.Event) int32 {
	if int(e.ID.Client) >= l.clients || int(e.Scope) >= l.scopes {
		return -1
	}
	return int32((int(e.ID.Client)*l.scopes + int(e.Scope)) * wire.NumClasses)
}

// vacant is the node that the next to join will have.
func (l *lines) vacant() int32 {
	if l.free == 0 {
		l.nodes = append(l.nodes, link{})
		l.free = int32(len(l.nodes) - 1)
	}
	return l.free
}

// join lets a request wait at the end of its line.
func (l *lines) join(e *wire.Event) { l.insert(e, e.At) }

// insert lets a request wait in its line as one that joined at a moment.
func (l *lines) insert(e *wire.Event, joined clock.Instant) {
	at := l.vacant()
	x := &l.nodes[at]
	l.free = x.next
	*x = link{joined: joined, line: l.queue(e)}
	if x.line < 0 {
		return
	}
	x.line += int32(classOf(e))
	q := &l.lines[x.line]
	if q.n == 0 {
		q.since = e.At
	}
	x.prev = q.last
	for x.prev != 0 && l.nodes[x.prev].joined > joined {
		x.next, x.prev = x.prev, l.nodes[x.prev].prev
	}
	if x.prev == 0 {
		q.first = at
	} else {
		l.nodes[x.prev].next = at
	}
	if x.next == 0 {
		q.last = at
	} else {
		l.nodes[x.next].prev = at
	}
	q.n++
}

// leave takes a node out. If nobody waits any more, it returns how long the
// class has had no start.
func (l *lines) leave(at int32, now clock.Instant) (gap time.Duration) {
	x := l.nodes[at]
	l.nodes[at] = link{next: l.free}
	l.free = at
	if x.line < 0 {
		return 0
	}
	q := &l.lines[x.line]
	if x.prev == 0 {
		q.first = x.next
	} else {
		l.nodes[x.prev].next = x.next
	}
	if x.next == 0 {
		q.last = x.prev
	} else {
		l.nodes[x.next].prev = x.prev
	}
	q.n--
	if q.n > 0 {
		return 0
	}
	return now.Sub(q.since)
}

// serve takes in a start. It returns how long the class of it had none, if
// others of it wait, and adds to the classes that were overtaken how many of
// those who wait had joined before it.
func (l *lines) serve(e *wire.Event, overtaken *[wire.NumClasses]int64) (gap time.Duration) {
	queue := l.queue(e)
	if queue < 0 {
		return 0
	}
	joined := e.At.Add(-e.Delay)
	for c := range wire.Class(wire.NumClasses) {
		q := &l.lines[queue+int32(c)]
		if q.n == 0 {
			continue
		}
		older := l.before(q, joined)
		if older > 0 {
			l.jumped[classOf(e)][c]++
		}
		if c == classOf(e) {
			gap, q.since = e.At.Sub(q.since), e.At
		} else {
			overtaken[c] += older
		}
	}
	return gap
}

// before is how many in a line joined before a moment. It walks from both ends,
// since whoever starts is mostly among the oldest or among the newest.
func (l *lines) before(q *line, t clock.Instant) int64 {
	front, back := q.first, q.last
	for n := int64(0); ; n++ {
		switch {
		case front == 0 || l.nodes[front].joined >= t:
			return n
		case l.nodes[back].joined < t:
			return int64(q.n) - n
		}
		front, back = l.nodes[front].next, l.nodes[back].prev
	}
}

// gaps adds, to the longest gap of each class, those that still go on.
func (l *lines) gaps(now clock.Instant, longest *[wire.NumClasses]time.Duration) {
	for i := range l.lines {
		if q := &l.lines[i]; q.n > 0 {
			c := i % wire.NumClasses
			longest[c] = max(longest[c], now.Sub(q.since))
		}
	}
}
