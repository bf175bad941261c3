package metrics

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// Part is what the time of a request goes to.
type Part uint8

// The parts. From its intended start to its end a request is in exactly one of
// them.
const (
	// PartLate is before it began, where its sender was behind schedule.
	PartLate Part = iota
	// PartQueue is in the queue for a slot.
	PartQueue
	// PartSocket is with a slot, in wait of a connection.
	PartSocket
	// PartToken is while the client's token was refreshed.
	PartToken
	// PartBackoff is the wait for the next try.
	PartBackoff
	// PartWire is attempts under way.
	PartWire
	// PartShared is in the flight of an identical request.
	PartShared
	// PartNested is after the reply, while nested requests are under way.
	PartNested

	// NumParts is the number of parts.
	NumParts = int(PartNested) + 1
)

var partNames = [NumParts]string{
	"late start", "queue", "connection", "token", "backoff", "attempts", "shared", "nested",
}

// String is the part's name, as people read it.
func (p Part) String() string {
	if int(p) < len(partNames) {
		return partNames[p]
	}
	return "unknown"
}

// Spent is time by what it went to.
type Spent [NumParts]time.Duration

// Sum is the time of all parts.
func (s *Spent) Sum() (sum time.Duration) {
	for _, d := range s {
		sum += d
	}
	return sum
}

func (s *Spent) add(o *Spent) {
	for i, d := range o {
		s[i] += d
	}
}

// journey is what has become of one request so far.
type journey struct {
	spent Spent
	part  Part
	class wire.Class
	since clock.Instant // of the present part
	began clock.Instant // the intended start
	sent  clock.Instant // its latest try
}

// turn ends the present part at a moment and begins another.
func (j *journey) turn(at clock.Instant, next Part) {
	j.spent[j.part] += max(0, at.Sub(j.since))
	j.part, j.since = next, max(j.since, at)
}

// journeys is the requests under way, and what became of those that ended lately.
// Requests that were held when the run began are left out: their age is unknown.
type journeys struct {
	under   table[journey]
	classes [wire.NumClasses]ended
	pages   pages
	heat    heatLog
}

// ended is the requests of one class that ended in the last ten seconds.
type ended struct {
	intended, sent recent
	seconds        [10]tally
	cur            int
}

// tally is how many requests ended, and what their time went to.
type tally struct {
	n     int64
	spent Spent
}

func newJourneys() journeys {
	j := journeys{under: newTable[journey](), pages: newPages(), heat: newHeatLog()}
	for i := range j.classes {
		j.classes[i] = ended{intended: newRecent(), sent: newRecent()}
	}
	return j
}

// observe takes in what happens to a request.
func (j *journeys) observe(e *wire.Event) {
	key := requestKey(e.ID)
	if e.Kind == wire.RequestBegan {
		j.begin(key, e)
		return
	}
	r := j.under.at(key)
	if r == nil {
		return
	}
	switch e.Kind {
	case wire.RequestQueued:
		r.turn(e.At, PartQueue)
	case wire.SocketQueued:
		r.turn(e.At.Add(-e.Delay), PartQueue)
		r.turn(e.At, PartSocket)
	case wire.AttemptSent:
		r.turn(e.At.Add(-e.Delay), PartQueue)
		r.turn(e.At, PartWire)
		r.sent = e.At
	case wire.RetryScheduled:
		r.turn(e.At, PartBackoff)
	case wire.RequestHeld:
		r.turn(e.At, PartToken)
	case wire.RequestJoined:
		r.turn(e.At, PartShared)
		r.sent = e.At
	case wire.RequestNesting:
		r.turn(e.At, PartNested)
	case wire.ClassChanged:
		if !e.Shared {
			r.class = classOf(e)
		}
	case wire.RequestDone:
		r.turn(e.At, PartWire)
		j.end(r, e)
		j.under.take(key)
	}
}

func (j *journeys) begin(key uint64, e *wire.Event) {
	if e.Warm {
		return
	}
	r := journey{part: PartLate, class: classOf(e), since: min(e.Since, e.At), began: min(e.Since, e.At)}
	r.turn(e.At, PartQueue)
	j.under.put(key, r)
}

// end counts a request that has ended.
func (j *journeys) end(r *journey, e *wire.Event) {
	j.pages.step(e, &r.spent)
	c := &j.classes[r.class]
	t := &c.seconds[c.cur]
	t.n++
	t.spent.add(&r.spent)
	if e.Outcome == wire.Succeeded {
		c.intended.record(e.Delay)
		c.sent.record(e.At.Sub(r.sent))
		j.heat.add(e.At, e.Delay)
	}
}

// turn begins a new second and forgets the oldest.
func (j *journeys) turn() {
	for i := range j.classes {
		c := &j.classes[i]
		c.intended.turn()
		c.sent.turn()
		c.cur = (c.cur + 1) % len(c.seconds)
		c.seconds[c.cur] = tally{}
	}
}

// LatencyView is how long people wait, and for what.
type LatencyView struct {
	// Heat is the latencies over time.
	Heat    *Heat
	Classes [wire.NumClasses]ClassLatency
	Pages   PageView
}

// ClassLatency is the requests of one class that ended in this second of the run
// clock and the nine before it, those held when the run began left out.
type ClassLatency struct {
	// Intended is the time from the intended start of a request to its success;
	// Sent that from its last send, which is all that a simple client measures.
	// Both are accurate to a hundredth.
	Intended, Sent Percentiles
	// Ended is how many requests ended, however they did, and Spent what the
	// time of all of them together went to, from the intended start to the end.
	Ended int64
	Spent Spent
	// Open is how many are under way now, and Oldest how long the oldest of them
	// has been since its intended start.
	Open   int64
	Oldest time.Duration
}

// view is what is shown of the latencies, in a heat map as watched.
func (j *journeys) view(now clock.Instant, span time.Duration, w Watch) *LatencyView {
	v := &LatencyView{Heat: j.heat.draw(now, span, w), Pages: j.pages.view()}
	for i := range j.classes {
		c, to := &j.classes[i], &v.Classes[i]
		to.Intended, to.Sent = c.intended.sum().percentiles(), c.sent.sum().percentiles()
		for k := range c.seconds {
			to.Ended += c.seconds[k].n
			to.Spent.add(&c.seconds[k].spent)
		}
	}
	for i, key := range j.under.keys {
		if key != 0 {
			r := &j.under.values[i]
			to := &v.Classes[r.class]
			to.Open++
			to.Oldest = max(to.Oldest, now.Sub(r.began))
		}
	}
	return v
}
