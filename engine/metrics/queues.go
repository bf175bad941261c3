package metrics

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// queues is the queues of all clients, by class.
type queues struct {
	classes [wire.NumClasses]class
	// places finds a waiting request in its class.
	places table[place]
	count  int64 // requests that wait
	lines  lines
	// overtaken counts how often a start of another class, that had joined later,
	// went before one who waits; gap is the longest time in which a class had
	// somebody waiting in a queue and no start there.
	overtaken [wire.NumClasses]int64
	gap       [wire.NumClasses]time.Duration
	hungers   hungers
	// left is the request that left its queue last. If it is the next to be
	// sent, its wait has been counted.
	left uint64
	// sum is where waits that are over and waits that go on are put together.
	sum times
}

// class is the queues of one class.
type class struct {
	waiting []waiter // in no order
	waits   times    // of those that do not wait any more

	// hungry is how many queues starve now, begun how often one began to.
	hungry int64
	begun  int64
	kept   int64 // those that window protection kept from a slot
	// ewma is the average wait of those that were sent, the newest with a weight
	// of a tenth. It begins with 0.
	ewma time.Duration
	// since is when the class began to starve somewhere, over when it ceased
	// to; Never while it does, or if that has been told.
	since, over clock.Instant
}

// waiter is a request that waits.
type waiter struct {
	key   uint64
	since clock.Instant
}

func newQueues(config Config) queues {
	q := queues{places: newTable[place](), lines: newLines(config), sum: newTimes(waitDigits)}
	for i := range q.classes {
		q.classes[i] = class{waits: newTimes(waitDigits), over: clock.Never}
	}
	return q
}

// requestKey is a request as one number, which is never 0: requests are
// numbered from 1.
func requestKey(id wire.AttemptID) uint64 {
	return uint64(id.Client)<<32 | uint64(id.Request)
}

func (q *queues) class(e *wire.Event) *class { return &q.classes[classOf(e)] }

// join puts a request into its class. One that is waiting already stays where
// it is.
func (q *queues) join(e *wire.Event) {
	key := requestKey(e.ID)
	c := q.class(e)
	at := place{index: int32(len(c.waiting)), node: q.lines.vacant(), class: classOf(e)}
	if !q.places.put(key, at) {
		return
	}
	q.lines.join(e)
	c.waiting = append(c.waiting, waiter{key, e.At})
	q.count++
}

// leave takes a request out of its class and counts its wait.
func (q *queues) leave(e *wire.Event) {
	key := requestKey(e.ID)
	p, ok := q.places.take(key)
	if !ok {
		return
	}
	c := &q.classes[p.class]
	q.drop(c, p.index)
	q.count--
	q.left = key
	q.gap[p.class] = max(q.gap[p.class], q.lines.leave(p.node, e.At))
	c.waits.record(e.Delay)
	if e.Kept {
		c.kept++
	}
}

// drop takes the waiter with an index out of a class, and gives its place to the
// last one.
func (q *queues) drop(c *class, index int32) {
	last := len(c.waiting) - 1
	if moved := c.waiting[last]; int(index) != last {
		c.waiting[index] = moved
		q.places.at(moved.key).index = index
	}
	c.waiting = c.waiting[:last]
}

// reclass takes in that a request, or a flight, has another class. A member of a
// flight waits nowhere itself.
func (c *Collector) reclass(e *wire.Event) {
	if !e.Shared {
		c.client.reclassed++
	}
	if e.Leader == 0 {
		c.queues.reclass(e)
	}
}

// reclass moves a request that waits to another class, with its age.
func (q *queues) reclass(e *wire.Event) {
	p := q.places.at(requestKey(e.ID))
	if p == nil || p.class == classOf(e) {
		return
	}
	old, joined := &q.classes[p.class], q.lines.nodes[p.node].joined
	q.gap[p.class] = max(q.gap[p.class], q.lines.leave(p.node, e.At))
	q.lines.insert(e, joined) // into the node that was left
	w := old.waiting[p.index]
	q.drop(old, p.index)
	c := q.class(e)
	p.class, p.index = classOf(e), int32(len(c.waiting))
	c.waiting = append(c.waiting, w)
}

// sent takes in an attempt, and says whether it found a slot at once; if so, its
// wait is counted here.
func (q *queues) sent(e *wire.Event) (atOnce bool) {
	queued := q.left == requestKey(e.ID)
	q.left = 0
	if beforeRun(e) {
		return !queued
	}
	c := q.class(e)
	if !queued {
		c.waits.record(e.Delay)
	}
	c.ewma += (e.Delay - c.ewma) / 10
	gap := &q.gap[classOf(e)]
	*gap = max(*gap, q.lines.serve(e, &q.overtaken))
	return !queued
}

// waits is the waits of a class, those that go on included, and the age of the
// oldest of these.
func (q *queues) waits(c *class, now clock.Instant) (all *times, oldest time.Duration) {
	if len(c.waiting) == 0 {
		return &c.waits, 0
	}
	q.sum.reset()
	q.sum.merge(&c.waits)
	for i := range c.waiting {
		age := max(0, now.Sub(c.waiting[i].since))
		oldest = max(oldest, age)
		q.sum.record(age)
	}
	return &q.sum, oldest
}

func (q *queues) view(i int, now clock.Instant) QueueView {
	c := &q.classes[i]
	all, oldest := q.waits(c, now)
	return QueueView{
		Waiting:  int64(len(c.waiting)),
		Oldest:   oldest,
		P50:      all.percentile(50),
		P99:      all.percentile(99),
		Max:      all.longest,
		Count:    all.count(),
		Starving: c.hungry > 0,
		Starved:  c.begun,
	}
}

// starve takes in that a queue began to starve; it says whether that is news of
// the class.
func (c *class) starve(at clock.Instant) (news bool) {
	c.begun++
	c.hungry++
	if c.hungry > 1 {
		return false
	}
	news = c.over == clock.Never
	c.over = clock.Never
	if news {
		c.since = at
	}
	return news
}

// fed takes in that a queue ceased to starve.
func (c *class) fed(at clock.Instant) {
	if c.hungry == 0 {
		return
	}
	c.hungry--
	if c.hungry == 0 {
		c.over = at
	}
}

func (c *Collector) starvationBegan(e *wire.Event) {
	c.queues.hungers.begin(e)
	if c.queues.class(e).starve(e.At) {
		c.story.note(Note{
			Kind: NoteStarving, At: e.At, Delay: e.Delay, Text: classOf(e).String(),
		})
	}
}

func (c *Collector) starvationEnded(e *wire.Event) {
	c.queues.class(e).fed(e.At)
	c.queues.hungers.end(e)
}

// tellFed notes each class that has not starved for a second.
func (c *Collector) tellFed(now clock.Instant) {
	for i := range c.queues.classes {
		q := &c.queues.classes[i]
		if q.over == clock.Never || now.Sub(q.over) < time.Second {
			continue
		}
		c.story.note(Note{
			Kind: NoteFed, At: q.over, Delay: q.over.Sub(q.since), Text: wire.Class(i).String(),
		})
		q.over = clock.Never
	}
}
