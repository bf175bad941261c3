package fleet

import (
	"math/bits"
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/rng"
	"herdscope/engine/wire"
)

const (
	// MaxLag is how far behind its intended start a request of an open loop may
	// begin. A sender that was stalled longer leaves the arrival out and counts
	// it as missed, so that a stall is never followed by a catch-up burst.
	MaxLag = 100 * time.Millisecond

	// ShortestTurn is the least time between the beginnings of two requests of a
	// closed-loop client whose first one ended in no time, as it does at an open
	// breaker. Without it a client that does not think would spin.
	ShortestTurn = 10 * time.Millisecond

	thousand = 1000
)

// plan sets the moment of a client's first request.
func (f *Fleet) plan(i int32) {
	if f.config.Arrival.Kind != ClosedLoop {
		f.arrivals.Set(i, f.firstArrival(i))
		return
	}
	c := &f.clients[i]
	held := rng.At(f.seed, rng.ArrivalHeld, uint64(i), 0, 0)
	if c.warm = rng.Hit(held, f.config.Arrival.Held); c.warm {
		f.arrivals.Set(i, 0)
		return
	}
	f.arrivals.Set(i, clock.Instant(f.restOfThink(i)))
}

// firstArrival is when an open-loop client first asks. The clients of a constant
// stream take turns.
func (f *Fleet) firstArrival(i int32) clock.Instant {
	if f.config.Arrival.Kind == Constant {
		return clock.Instant(spacing(f.config.Arrival.Rate, uint64(i)))
	}
	return clock.Instant(0).Add(f.gap(i))
}

// restOfThink is how long a client still thinks that was thinking when the run
// began: the equilibrium residual life of the think time.
func (f *Fleet) restOfThink(i int32) time.Duration {
	u := rng.At(f.seed, rng.Think, uint64(i), 0, 0)
	if f.config.Arrival.ThinkFixed {
		return rng.Scale(u, f.config.Arrival.Think)
	}
	return rng.Exponential(u, f.config.Arrival.Think)
}

// gap is the time from one arrival of an open-loop client to its next.
func (f *Fleet) gap(i int32) time.Duration {
	c := &f.clients[i]
	c.gaps++
	mean := spacing(f.config.Arrival.Rate, uint64(len(f.clients)))
	if f.config.Arrival.Kind == Constant {
		return mean
	}
	return rng.Exponential(rng.At(f.seed, rng.ArrivalGap, uint64(i), c.gaps, 0), mean)
}

// spacing is the time in which n requests begin at a rate in thousandths per
// second. It saturates.
func spacing(rate int64, n uint64) time.Duration {
	hi, lo := bits.Mul64(n, uint64(time.Second)*thousand)
	if hi >= uint64(rate) {
		return time.Duration(clock.Never)
	}
	quotient, _ := bits.Div64(hi, lo, uint64(rate))
	return time.Duration(min(quotient, uint64(clock.Never)))
}

// arrive begins a client's request that was to begin at intended.
func (f *Fleet) arrive(
	now clock.Instant, i int32, intended clock.Instant, out []engine.Effect,
) []engine.Effect {
	c := &f.clients[i]
	if f.config.Arrival.Kind == ClosedLoop {
		f.arrivals.Clear(i)
		return f.begin(now, i, intended, out)
	}
	f.arrivals.Set(i, intended.Add(f.gap(i)))
	if lag := now.Sub(intended); lag > MaxLag {
		return append(out, engine.Effect{Kind: engine.Report, Event: wire.Event{
			Kind: wire.ArrivalsMissed, At: now, Since: intended, Delay: lag,
			ID: wire.AttemptID{Client: wire.ClientID(i), Request: c.next},
		}})
	}
	return f.begin(now, i, intended, out)
}

// begin submits a client's next request, the first of its page if it is one.
func (f *Fleet) begin(
	now clock.Instant, i int32, intended clock.Instant, out []engine.Effect,
) []engine.Effect {
	f.clients[i].next++
	f.clients[i].asked++
	return f.submit(now, i, intended, f.open(i, intended), out)
}

// submit hands the request that a client has just numbered to its machine.
func (f *Fleet) submit(
	now clock.Instant, i int32, intended clock.Instant, group uint32, out []engine.Effect,
) []engine.Effect {
	c := &f.clients[i]
	c.began = now
	class := f.class(i)
	in := f.request(i, class)
	in.Since, in.Warm, in.Group, in.Same = intended, c.warm, group, f.same(i)
	if !c.warm {
		f.mayDouble(i, class, in.Key, intended)
	}
	c.warm = false
	return f.step(now, i, in, out)
}

// key is the Idempotency-Key of the request that client i begins with that
// method; 0 if it carries none.
func (f *Fleet) key(i int32, method wire.Method) uint64 {
	if !f.config.Arrival.Keys || method.Idempotent() {
		return 0
	}
	return max(rng.At(f.seed, rng.IdempotencyKey, uint64(i), uint64(f.clients[i].next), 0), 1)
}

// rest lets a closed-loop client think after a request, or its page, has ended.
func (f *Fleet) rest(i int32, now clock.Instant, outcome wire.Outcome) {
	if f.config.Arrival.Kind != ClosedLoop || f.stopped {
		return
	}
	c := &f.clients[i]
	at := now.Add(f.think(i))
	if outcome != wire.Succeeded && outcome != wire.Degraded {
		at = max(at, now.Add(f.config.Arrival.Rest))
	}
	if c.began == now {
		at = max(at, now.Add(ShortestTurn))
	}
	f.arrivals.Set(i, at)
}

// think is how long a client thinks before its next request.
func (f *Fleet) think(i int32) time.Duration {
	if f.config.Arrival.ThinkFixed {
		return f.config.Arrival.Think
	}
	u := rng.At(f.seed, rng.Think, uint64(i), f.clients[i].asked, 0)
	return rng.Exponential(u, f.config.Arrival.Think)
}

// reschedule stretches or shrinks the gaps under way when the rate has changed.
func (f *Fleet) reschedule(now clock.Instant, before Arrival) {
	rate := f.config.Arrival.Rate
	if f.config.Arrival.Kind == ClosedLoop || rate == before.Rate {
		return
	}
	for i := range f.clients {
		at, ok := f.arrivals.At(int32(i))
		if !ok || at <= now {
			continue
		}
		hi, lo := bits.Mul64(uint64(at-now), uint64(before.Rate))
		rest := uint64(clock.Never)
		if hi < uint64(rate) {
			rest, _ = bits.Div64(hi, lo, uint64(rate))
		}
		f.arrivals.Set(int32(i), now.Add(time.Duration(min(rest, uint64(clock.Never)))))
	}
}

// weigh works out the running sums of the class weights.
func (f *Fleet) weigh() {
	sum := uint64(0)
	for c, m := range f.config.Mix {
		sum += uint64(m.Weight)
		f.weights[c] = sum
	}
}

// class draws the class of a client's present request.
func (f *Fleet) class(i int32) wire.Class {
	return f.classAt(rng.At(f.seed, rng.Class, uint64(i), f.clients[i].asked, 0))
}

// classAt is the class that a draw falls on, by the weights of the mix.
func (f *Fleet) classAt(u uint64) wire.Class {
	ticket := rng.Below(u, f.weights[wire.NumClasses-1])
	for c := range wire.Class(wire.NumClasses) {
		if ticket < f.weights[c] {
			return c
		}
	}
	return wire.NumClasses - 1
}
