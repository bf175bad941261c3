package fault

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/queue"
	"herdscope/engine/wire"
)

// Capacity is what one service has to work with.
type Capacity struct {
	// Workers is how many attempts are served at once; 0 is unlimited.
	Workers int
	// Backlog is how many attempts may wait for a worker; 0 is unlimited, and
	// NoBacklog lets nobody wait. WhenFull is what becomes of one more.
	Backlog  int
	WhenFull WhenFull
	Order    Order
	Service  Service
}

// NoBacklog is the Backlog of a service at which nobody waits.
const NoBacklog = -1

// WhenFull is what becomes of an attempt that finds the backlog full.
type WhenFull uint8

// What becomes of an attempt that finds the backlog full.
const (
	// Reject answers it with 503.
	Reject WhenFull = iota
	// Block lets it wait outside, as in the accept queue of a listener, without
	// bound and first come, first served; its caller's patience decides.
	Block
	// DropOldest answers the one that has waited longest with 503, and takes in
	// the newcomer. Where nobody waits it is Reject.
	DropOldest
)

// Abandoned is what becomes of an attempt whose caller has left.
type Abandoned uint8

// What becomes of an attempt whose caller has left.
const (
	// Serve serves it to the end, as wasted work.
	Serve Abandoned = iota
	// Cancel ends it, and frees its worker or its place at once.
	Cancel
)

// pool is one service at work.
type pool struct {
	Capacity
	// backlog is those who wait for a worker, by slot. chores is the rejections
	// that cost work and wait for a worker, outside those whom a full backlog
	// keeps out; both are first come, first served.
	backlog queue.Queue
	chores  clock.Index
	outside clock.Index
	serving int
	// frozen says that an outage has stopped all work, and lost is how many
	// workers faults have taken away.
	frozen bool
	lost   int
	// cold is when the service last came back from an outage, or longPast.
	cold clock.Instant
	// emptied is the last moment at which the backlog was empty.
	emptied clock.Instant
}

// newPools makes the services of a configuration, the server's own first.
func newPools(c *Config) []pool {
	pools := make([]pool, 1+len(c.Services))
	for i := range pools {
		pools[i].Capacity, pools[i].cold = c.capacity(i), longPast
		pools[i].backlog.Use(longPast, c.queueConfig(pools[i].Order))
	}
	return pools
}

// stage is where a job is between its arrival and its end.
type stage uint8

const (
	inBacklog stage = iota
	isOutside
	isChore
	inService
	inRejection
)

// working says whether a worker is at it.
func (g stage) working() bool { return g >= inService }

// capacity is that of a service: the server's own, or the one before i in the
// list.
func (c *Config) capacity(i int) Capacity {
	if i > 0 {
		return c.Services[i-1].Capacity
	}
	return Capacity{
		Workers: c.Workers, Backlog: c.Backlog, WhenFull: c.WhenFull, Order: c.Order,
		Service: c.Service,
	}
}

// retune lets the configuration take effect on the services.
func (s *Server) retune() {
	for i := range s.pools {
		p := &s.pools[i]
		was := p.Order
		p.Capacity = s.config.capacity(i)
		p.backlog.Use(s.now, s.config.queueConfig(p.Order))
		if p.Order != was {
			s.reorder(uint8(i))
		}
	}
}

// takeIn gives an attempt that has passed all checks to its service.
func (s *Server) takeIn(a wire.Attempt, m marks, out []wire.ServerEffect) []wire.ServerEffect {
	i := s.service(&a)
	p := &s.pools[i]
	full := p.full()
	if full && p.WhenFull != Block {
		oldest, ok := s.oldest(p)
		if !ok || p.WhenFull == Reject {
			return s.reject(&a, tooBusy.reply, tooBusy.cause, wire.NoFault, out)
		}
		out = s.drop(oldest, tooBusy, out)
	}
	s.claim(&a)
	s.present.add(&a, 1)
	slot := s.jobs.add(a, s.now, m, i)
	if full && p.WhenFull == Block {
		s.jobs.table[slot].stage = isOutside
		p.outside.SetOrdered(slot, s.now, s.jobs.table[slot].number)
		return out
	}
	s.enqueue(slot)
	return s.held(slot, s.takeUp(out))
}

// full says whether an attempt that comes now cannot wait in the backlog.
func (p *pool) full() bool {
	return p.Backlog != 0 && !p.workerFree() && !p.room()
}

func (p *pool) room() bool { return p.Backlog == 0 || p.backlog.Len() < p.Backlog }

func (p *pool) workerFree() bool {
	return !p.frozen && (p.Workers == 0 || p.serving < p.Workers-p.lost)
}

// waiting is how many attempts wait for a worker, and how many outside.
func (p *pool) waiting() (inside, outside int) {
	return p.backlog.Len() + p.chores.Len(), p.outside.Len()
}

// takeUp puts waiting attempts into service while there are workers for them.
func (s *Server) takeUp(out []wire.ServerEffect) []wire.ServerEffect {
	for i := range s.pools {
		p := &s.pools[i]
		s.admit(p)
		for p.workerFree() {
			slot, ok := s.next(p)
			if !ok {
				break
			}
			out = s.begin(slot, out)
			s.admit(p)
		}
	}
	return out
}

// admit lets those outside into the backlog as far as there is room, or a worker
// that has nothing else to do.
func (s *Server) admit(p *pool) {
	for p.outside.Len() > 0 && (p.room() || p.workerFree() && p.backlog.Len() == 0) {
		slot, _, _ := p.outside.Min()
		p.outside.Clear(slot)
		s.enqueue(slot)
	}
}

// next takes out of the lines whoever a free worker turns to: a rejection, or
// else one of the backlog.
func (s *Server) next(p *pool) (slot int32, ok bool) {
	if slot, _, ok = p.chores.Min(); ok {
		p.chores.Clear(slot)
		s.jobs.table[slot].stage = inRejection
		return slot, true
	}
	slot, class, ok := p.backlog.Next(s.now, everyClass)
	if ok {
		p.backlog.Remove(slot, class)
		s.patience.Clear(slot)
		s.jobs.table[slot].stage = inService
	}
	return slot, ok
}

// end takes a job out of wherever it is.
func (s *Server) end(slot int32) job {
	j := &s.jobs.table[slot]
	p := &s.pools[j.service]
	switch j.stage {
	case inBacklog:
		p.backlog.Remove(slot, j.attempt.Class)
		s.patience.Clear(slot)
	case isOutside:
		p.outside.Clear(slot)
	case isChore:
		p.chores.Clear(slot)
	default:
		s.due.Clear(slot)
		p.serving--
	}
	s.present.add(&j.attempt, -1)
	return s.jobs.remove(slot)
}

// leave notes that the caller of an attempt has left.
func (s *Server) leave(id wire.AttemptID, out []wire.ServerEffect) []wire.ServerEffect {
	slot := s.jobs.present(id)
	if slot == none {
		return out
	}
	s.jobs.table[slot].left = true
	if s.config.Abandoned == Serve {
		return out
	}
	j := s.end(slot)
	e := s.event(wire.ServerCancelled, &j.attempt)
	e.Event.Delay, e.Event.Wasted = s.worked(&j), j.stage.working()
	return s.takeUp(append(out, e))
}

// worked is how long a worker has been at a job.
func (s *Server) worked(j *job) time.Duration {
	if !j.stage.working() {
		return 0
	}
	return s.now.Sub(j.began)
}
