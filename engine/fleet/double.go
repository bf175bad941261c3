package fleet

import (
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/rng"
	"herdscope/engine/wire"
)

// doubleGap is the time between the two clicks of a user, where nothing else is
// set.
const doubleGap = 300 * time.Millisecond

// double is a request that its user is about to submit once more.
type double struct {
	client int32
	first  wire.RequestID
	class  wire.Class
	key    uint64
}

// doubles is all that will be submitted a second time.
type doubles struct {
	doubles []double
	free    []int32
	due     clock.Index // when each is
}

// gap is the time from a request to its second submission.
func (a *Arrival) gap() time.Duration {
	if a.DoubleGap > 0 {
		return a.DoubleGap
	}
	return doubleGap
}

// same is what the present request of client i is identical with: itself, so that
// its second submission can be. It is 0 while nobody submits anything twice.
func (f *Fleet) same(i int32) uint64 {
	if f.config.Arrival.Double == 0 {
		return 0
	}
	return uint64(f.clients[i].next)
}

// mayDouble draws whether the user will submit the present request of client i,
// which was to begin at a moment, once more.
func (f *Fleet) mayDouble(i int32, class wire.Class, key uint64, intended clock.Instant) {
	c := &f.clients[i]
	share := f.config.Arrival.Double
	if share == 0 || !rng.Hit(rng.At(f.seed, rng.Double, uint64(i), c.asked, 0), share) {
		return
	}
	d := int32(len(f.doubles.doubles))
	if n := len(f.doubles.free); n > 0 {
		d = f.doubles.free[n-1]
		f.doubles.free = f.doubles.free[:n-1]
	} else {
		f.doubles.doubles = append(f.doubles.doubles, double{})
	}
	f.doubles.doubles[d] = double{client: i, first: c.next, class: class, key: key}
	f.doubles.due.Set(d, intended.Add(f.config.Arrival.gap()))
}

// again submits a request a second time, by a user who does not care what has
// become of the first. It is of no page, so that it stays if that is left. A key is
// that of the form, and so of both.
func (f *Fleet) again(
	now clock.Instant, d int32, intended clock.Instant, out []engine.Effect,
) []engine.Effect {
	f.doubles.due.Clear(d)
	f.doubles.free = append(f.doubles.free, d)
	of := f.doubles.doubles[d]
	f.clients[of.client].next++
	in := f.request(of.client, of.class)
	in.Since, in.Same, in.Repeats, in.Key = intended, uint64(of.first), of.first, of.key
	return f.step(now, of.client, in, out)
}

// request is the next request of client i, of a class, as the mix has it.
func (f *Fleet) request(i int32, class wire.Class) engine.Input {
	f.begun++
	mix := f.config.Mix[class]
	return engine.Input{
		Kind: engine.Submit, Request: f.clients[i].next,
		Class: class, Method: mix.Method, Route: mix.Route, Scope: mix.Scope, Timeout: mix.Timeout,
		Key: f.key(i, mix.Method), Children: uint8(f.config.Arrival.Nested),
	}
}

// nest submits what is nested in a request that has its reply, a class drawn for
// each, all at once. A fleet that has stopped does so too: they are part of what
// had begun before.
func (f *Fleet) nest(now clock.Instant, parent wire.Event, out []engine.Effect) []engine.Effect {
	i := int32(parent.ID.Client)
	for k := range f.config.Arrival.Nested {
		u := rng.At(f.seed, rng.NestedClass, uint64(i), uint64(parent.ID.Request), uint64(k))
		f.clients[i].next++
		in := f.request(i, f.classAt(u))
		in.Since, in.Parent, in.Group, in.Children = now, parent.ID.Request, parent.Group, 0
		out = f.step(now, i, in, out)
	}
	return out
}
