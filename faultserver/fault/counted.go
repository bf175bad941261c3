package fault

import (
	"herdscope/engine/rng"
	"herdscope/engine/wire"
)

// Unit is what the share of a fault is drawn for.
type Unit uint8

// The units of a draw.
const (
	// PerRequest draws for each attempt: by client, request and try.
	PerRequest Unit = iota
	// PerConnection draws for each connection: all its attempts share the lot.
	// The model takes each client to keep one connection, until something closes
	// it.
	PerConnection
)

var unitNames = []string{"request", "connection"}

// UnitNames lists the units' names in the order of their values.
func UnitNames() []string { return unitNames }

// String is the unit's name, as scenario files write it.
func (u Unit) String() string { return nameOf(unitNames, int(u)) }

// Count says which of the attempts that match a fault it hits, by their order of
// arrival since the window began. What is 0 asks for nothing; the rest has to
// hold together.
type Count struct {
	// First hits only the first that many.
	First int
	// Nth hits only each n-th.
	Nth int
	// Until hits only until that many attempts have been served well.
	Until int
	// PerClient counts for each client alone.
	PerClient bool
}

// counted is what a window has counted, or one of its clients.
type counted struct{ seen, served int32 }

// countedClients is how many clients a window counts apart. Of more, those that
// came first are forgotten.
const countedClients = 1 << 16

// windowCounts is what a window has counted, in all and by client.
type windowCounts struct {
	all     counted
	clients memory[counted]
}

// restart begins to count anew, in the room that there is.
func (t *windowCounts) restart() {
	t.all, t.clients.size = counted{}, countedClients
	t.clients.clear()
}

// of is the counts that concern a client.
func (t *windowCounts) of(c *Count, client wire.ClientID) counted {
	if !c.PerClient {
		return t.all
	}
	n, _ := t.clients.get(uint64(client))
	return n
}

func (t *windowCounts) keep(c *Count, client wire.ClientID, n counted) {
	if !c.PerClient {
		t.all = n
		return
	}
	t.clients.put(uint64(client), n)
}

// takes counts an attempt that matches, and says whether the fault may hit it.
func (t *windowCounts) takes(c *Count, client wire.ClientID) bool {
	if *c == (Count{}) {
		return true
	}
	n := t.of(c, client)
	n.seen = min(n.seen+1, 1<<31-2)
	t.keep(c, client, n)
	return (c.First == 0 || int(n.seen) <= c.First) &&
		(c.Nth == 0 || int(n.seen)%c.Nth == 0) &&
		(c.Until == 0 || int(n.served) < c.Until)
}

// countSuccess tells the faults that wait for successes of one.
func (s *Server) countSuccess(a *wire.Attempt) {
	for i := range s.windows {
		w, c := &s.windows[i], &s.config.Faults[i].Count
		if !w.on || c.Until == 0 {
			continue
		}
		n := w.counts.of(c, a.ID.Client)
		n.served = min(n.served+1, 1<<31-2)
		w.counts.keep(c, a.ID.Client, n)
	}
}

// strikes says whether fault i, which picks its attempts, hits this one. It is
// asked once for each attempt that gets as far.
func (s *Server) strikes(i int, a *wire.Attempt) bool {
	f, w := &s.config.Faults[i], &s.windows[i]
	return w.on && s.matches(i, a) && w.counts.takes(&f.Count, a.ID.Client) &&
		rng.HitMillionth(s.faultDraw(i, a), f.Share)
}

// faultDraw is the draw of fault i for an attempt, or for its connection. A
// number of a client or a request has 32 bits, so that there is room above it.
func (s *Server) faultDraw(i int, a *wire.Attempt) uint64 {
	who := uint64(a.ID.Client) | uint64(i)<<32
	if s.config.Faults[i].Unit == PerConnection {
		return rng.At(s.seed, rng.FaultHit, who, 1<<32|uint64(s.connOf(a)), 0)
	}
	return rng.At(s.seed, rng.FaultHit, who, uint64(a.ID.Request), uint64(a.ID.Try))
}

// marks is what the faults that are on will do to an attempt that is let in.
type marks struct {
	// slow is the latency faults that have hit it, as bits by index.
	slow uint64
	// damage is the fault that spoils its reply, by index plus one; 0 is none.
	damage uint8
}

// ask asks the faults, in the order of the configuration, about an arrival: the
// first that settles it, or else what will become of it. Warm attempts passed the
// door before the run began.
func (s *Server) ask(a *wire.Attempt) (m marks, by int, settled bool) {
	for i := range s.windows {
		f := &s.config.Faults[i]
		settles := f.settles()
		switch {
		case !s.windows[i].on || !f.row().picks || a.Warm && settles:
		case f.row().stage == AtReply && !settles && m.damage != 0: // another came first
		case !s.strikes(i, a):
		case settles:
			return marks{}, i, true
		case f.Kind == Latency:
			m.slow |= 1 << i
		default:
			m.damage = uint8(i) + 1
		}
	}
	return m, 0, false
}

// forget takes fault i from what will become of an attempt.
func (m *marks) forget(i int) {
	m.slow &^= 1 << i
	if int(m.damage) == i+1 {
		m.damage = 0
	}
}
