package metrics

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// LineView is who waits for a slot, and who goes before whom.
type LineView struct {
	Classes [wire.NumClasses]LineClass
	// Jumped counts, by the class of a start and then by the class of those who
	// waited, the starts that went before somebody who had joined the same queue
	// earlier. A start counts once for each class, however many of it waited.
	Jumped [wire.NumClasses][wire.NumClasses]int64
	// Heads is what the heads of the queues waited for when somebody last looked,
	// at HeadsAt; clock.Never if nobody has.
	Heads   wire.Heads
	HeadsAt clock.Instant
	// Hungers are the latest starvations, oldest first; at most LastHungers.
	Hungers []Hunger
}

// LineClass is the queues of one class. All but Asked and Started are of the
// whole run, and as in Summary.
type LineClass struct {
	// Asked and Started are how many wanted a slot, and how many got one, in the
	// last Snapshot.Window.
	Asked, Started int64
	EWMA           time.Duration
	Overtaken      int64
	ServiceGap     time.Duration
	KeptBack       int64
}

// Hunger is a class in one queue whose head waited longer than it may while
// others went before it. One that begins again within a second of its end goes
// on.
type Hunger struct {
	Client wire.ClientID
	Scope  uint8
	Class  wire.Class
	Began  clock.Instant
	// Ended is clock.Never while it lasts.
	Ended clock.Instant
	// Waited is how long its head had waited when it began.
	Waited time.Duration
	// Times is how often it began.
	Times int64
}

// LastHungers is how many starvations are remembered.
const LastHungers = 64

// hungers is the latest starvations in a ring.
type hungers struct {
	ring [LastHungers]Hunger
	n    int
}

// of finds the latest starvation of an event's queue; nil if none is remembered.
func (h *hungers) of(e *wire.Event) *Hunger {
	for back := 1; back <= min(h.n, LastHungers); back++ {
		x := &h.ring[(h.n-back)%LastHungers]
		if x.Client == e.ID.Client && x.Scope == e.Scope && x.Class == classOf(e) {
			return x
		}
	}
	return nil
}

func (h *hungers) begin(e *wire.Event) {
	if x := h.of(e); x != nil && x.Ended < e.At && e.At.Sub(x.Ended) < time.Second {
		x.Ended = clock.Never
		x.Times++
		return
	}
	h.ring[h.n%LastHungers] = Hunger{
		Client: e.ID.Client, Scope: e.Scope, Class: classOf(e), Began: e.At, Ended: clock.Never,
		Waited: e.Delay, Times: 1,
	}
	h.n++
}

// end ends the latest starvation of that queue, if it is still remembered.
func (h *hungers) end(e *wire.Event) {
	if x := h.of(e); x != nil {
		x.Ended = min(x.Ended, e.At)
	}
}

func (h *hungers) view() []Hunger {
	n := min(h.n, LastHungers)
	out := make([]Hunger, n)
	for i := range out {
		out[i] = h.ring[(h.n-n+i)%LastHungers]
	}
	return out
}

// heads is what was last seen of the heads of the queues.
type heads struct {
	seen wire.Heads
	at   clock.Instant
}

// SetHeads says what the heads of all queues wait for at a moment.
func (c *Collector) SetHeads(at clock.Instant, seen wire.Heads) { c.heads = heads{seen, at} }

func (c *Collector) lineView() *LineView {
	v := &LineView{
		Jumped: c.queues.lines.jumped, Heads: c.heads.seen, HeadsAt: c.heads.at,
		Hungers: c.queues.hungers.view(),
	}
	gaps := c.queues.gap
	c.queues.lines.gaps(c.now, &gaps)
	for i := range v.Classes {
		q := &c.queues.classes[i]
		v.Classes[i] = LineClass{
			EWMA: q.ewma, KeptBack: q.kept, Overtaken: c.queues.overtaken[i], ServiceGap: gaps[i],
		}
	}
	for back := c.windowBins(); back > 0; back-- {
		b := c.history.bin(c.history.cur - back)
		for i := range v.Classes {
			v.Classes[i].Asked += int64(b.Asked[i])
			v.Classes[i].Started += int64(b.Started[i])
		}
	}
	return v
}
