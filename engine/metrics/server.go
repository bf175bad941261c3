package metrics

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// failing is the least status of a reply that was wasted work.
const failing = 400

// server is what is counted at the server.
type server struct {
	arrivals, rejected, reset, done int64
	duplicates                      int64
	early, onTime, late             int64

	busy, backlog int64
	// last is the attempt that arrived last, as long as it has not begun.
	last wire.AttemptID

	// workers is how many there are, 0 if unlimited; used and there are the
	// workers busy and existing while they are limited.
	workers     int64
	used, there integral
	// worked and wasted are nanoseconds of work.
	worked, wasted float64
}

func newServer(workers int) (s server) {
	s.setWorkers(0, workers)
	return s
}

func (s *server) setWorkers(now clock.Instant, n int) {
	s.workers = max(0, int64(n))
	s.there.set(now, s.workers)
	s.setBusy(now, s.busy)
}

// setBusy says how many are in service. More than there are workers are some
// that were taken up before their number was lowered.
func (s *server) setBusy(now clock.Instant, n int64) {
	s.busy = n
	s.used.set(now, min(n, s.workers))
}

// work counts work that is over.
func (s *server) work(d time.Duration, wasted bool) {
	s.worked += float64(d)
	if wasted {
		s.wasted += float64(d)
	}
}

func (c *Collector) serverArrived(e *wire.Event) {
	c.server.arrivals++
	c.server.backlog++
	c.server.last = e.ID
	if beforeRun(e) {
		return
	}
	retry := e.ID.Try > 1
	if b := c.bin(e.At); retry {
		b.Retry++
	} else {
		b.First++
	}
	c.synchrony.add(e.At)
	c.raster.add(e.At, e.ID.Client, retry)
}

func (c *Collector) serverBegan(e *wire.Event) {
	s := &c.server
	s.backlog--
	s.setBusy(e.At, s.busy+1)
	if s.last == e.ID {
		s.last = wire.AttemptID{}
	}
	if e.Cause == wire.CauseFault {
		c.hit(e.Fault)
	}
}

func (s *server) finished(e *wire.Event) {
	s.done++
	s.setBusy(e.At, s.busy-1)
	s.work(e.Delay, e.Wasted || e.Status >= failing)
}

func (c *Collector) serverRejected(e *wire.Event) {
	c.server.rejected++
	c.server.backlog--
	c.bin(e.At).Refused++
	c.hit(e.Fault)
}

// serverReset takes in a reset, of an attempt that has just arrived, is in
// service or waits. An outage resets what is in service before what waits.
func (c *Collector) serverReset(e *wire.Event) {
	s := &c.server
	s.reset++
	s.work(e.Delay, true)
	if e.ID != s.last && s.busy > 0 {
		s.setBusy(e.At, s.busy-1)
	} else {
		s.backlog--
	}
	c.bin(e.At).Refused++
	c.hit(e.Fault)
}

func (c *Collector) serverReturned(e *wire.Event) {
	switch s := &c.server; {
	case e.Delay < 0:
		s.early++
	case e.Delay <= time.Second:
		s.onTime++
	default:
		s.late++
	}
	c.waves.add(e.At)
}

func (s *server) wastedShare() float64 { return share(s.wasted, s.worked) }

func (s *server) busyShare(now clock.Instant) float64 {
	return share(s.used.upTo(now), s.there.upTo(now))
}

func (s *server) view(now clock.Instant) ServerView {
	return ServerView{
		Busy: s.busy, Backlog: s.backlog,
		Arrivals: s.arrivals, Rejected: s.rejected, Reset: s.reset, Done: s.done,
		WastedShare: s.wastedShare(), BusyShare: s.busyShare(now),
		Duplicates: s.duplicates,
		Early:      s.early, OnTime: s.onTime, Late: s.late,
	}
}
