package metrics

import "herdscope/engine/wire"

// clients is what is counted of requests and attempts.
type clients struct {
	requests int64
	ended    [wire.NumOutcomes]int64 // without Unfinished
	attempts int64
	retries  int64
	inFlight int64
	missed   int64
	denied   int64
	// reclassed counts changes of class.
	reclassed int64
	statuses  [1000]int64

	latency [wire.NumClasses]times
	recent  recent
}

func newClients() clients {
	c := clients{recent: newRecent()}
	for i := range c.latency {
		c.latency[i] = newTimes(latencyDigits)
	}
	return c
}

// beforeRun says whether an event is about an attempt that was sent, or a
// request that began, before the run. Later tries of such a request were not.
func beforeRun(e *wire.Event) bool { return e.Warm && e.ID.Try <= 1 }

// classOf is an event's class, or the last one if there is no such class.
func classOf(e *wire.Event) wire.Class { return min(e.Class, wire.NumClasses-1) }

func (c *Collector) requestBegan(e *wire.Event) {
	c.client.requests++
	if beforeRun(e) {
		return
	}
	c.bin(e.At).Began++
	c.behind(e.At, e.At.Sub(e.Since))
}

func (c *Collector) attemptSent(e *wire.Event) {
	c.client.attempts++
	c.client.inFlight++
	if e.ID.Try > 1 {
		c.client.retries++
	}
	if !c.sockets.sent(e) {
		c.slotGiven(e)
	}
	if !beforeRun(e) {
		c.bin(e.At).Sent++
	}
}

// slotGiven takes in that an attempt has got its slot.
func (c *Collector) slotGiven(e *wire.Event) {
	atOnce := c.queues.sent(e)
	if beforeRun(e) {
		return
	}
	b := c.bin(e.At)
	b.Started[classOf(e)]++
	if atOnce {
		b.Asked[classOf(e)]++
	}
}

func (c *Collector) requestQueued(e *wire.Event) {
	c.queues.join(e)
	if !e.Warm || e.ID.Try > 0 {
		c.bin(e.At).Asked[classOf(e)]++
	}
}

func (c *clients) attemptEnded(e *wire.Event) {
	c.inFlight--
	c.statuses[min(int(e.Status), len(c.statuses)-1)]++
}

func (c *Collector) requestDone(e *wire.Event) {
	if e.Outcome == wire.Unfinished || int(e.Outcome) >= wire.NumOutcomes {
		return
	}
	c.client.ended[e.Outcome]++
	c.bin(e.At).Ended[e.Outcome]++
	if e.Outcome != wire.Succeeded {
		c.bin(e.At).Bad++
		return
	}
	c.bin(e.At).Good++
	if !e.Warm {
		c.client.latency[classOf(e)].record(e.Delay)
		c.client.recent.record(e.Delay)
	}
}

func (c *Collector) arrivalMissed(e *wire.Event) {
	c.client.missed++
	c.behind(e.At, e.Delay)
}

// outcomes is how many requests are in each outcome, Unfinished included.
func (c *clients) outcomes() [wire.NumOutcomes]int64 {
	all := c.ended
	all[wire.Unfinished] = c.requests
	for _, n := range c.ended {
		all[wire.Unfinished] -= n
	}
	return all
}
