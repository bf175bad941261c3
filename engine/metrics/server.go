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
	cancelled                       int64
	swallowed                       int64
	replayed, duplicates            int64
	repeats                         repeats
	returns                         [wire.NumReturns]int64

	busy, backlog int64

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
	c.server.abort(e)
	c.bin(e.At).Refused++
	c.hit(e.Fault)
}

// abort takes out an attempt that ends unserved, with the work done for it.
func (s *server) abort(e *wire.Event) {
	s.work(e.Delay, true)
	if e.Wasted {
		s.setBusy(e.At, s.busy-1)
	} else {
		s.backlog--
	}
}

func (s *server) cancel(e *wire.Event) {
	s.cancelled++
	s.abort(e)
}

func (c *Collector) serverReset(e *wire.Event) {
	c.server.reset++
	c.server.abort(e)
	c.bin(e.At).Refused++
	c.hit(e.Fault)
}

func (c *Collector) serverReturned(e *wire.Event) {
	if e.Untold {
		c.server.returns[wire.ReturnedUntold]++
		return // no moment, and so no wave, was named
	}
	c.server.returns[wire.ReturnAfter(e.Delay)]++
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
		Cancelled:   s.cancelled,
		Swallowed:   s.swallowed,
		WastedShare: s.wastedShare(), BusyShare: s.busyShare(now),
		Replayed:   s.replayed,
		Duplicates: s.duplicates, Repeated: s.repeats.requests,
		Early: s.returns[wire.ReturnedEarly], OnTime: s.returns[wire.ReturnedOnTime],
		Late: s.returns[wire.ReturnedLate], Untold: s.returns[wire.ReturnedUntold],
	}
}
