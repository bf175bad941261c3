package fleet

import (
	"herdscope/engine"
	"herdscope/engine/clock"
)

// breakers is what clients share where the policy's Breaker.Shared says so, and
// the line of those whose requests wait for it.
type breakers struct {
	*engine.Breakers
	// lines has the clients that wait for each scope's breaker, in the order in
	// which they came to, all at the same instant.
	lines []clock.Index
	// waking says that those in line are being fed Wake.
	waking bool
}

func newBreakers(seed uint64, scopes int) breakers {
	return breakers{
		Breakers: engine.NewBreakers(seed, scopes), lines: make([]clock.Index, scopes),
	}
}

// queues says whether requests wait for a breaker that is shared.
func (f *Fleet) queues() bool {
	return f.breakers.Queues(&f.config.Policy)
}

// line puts client i into the lines in which it has to wait, and takes it out of
// those where nothing of it waits. Where the breaker lets one through already, it
// keeps its place until it is woken: a step of it for another scope must not.
func (f *Fleet) line(i int32) {
	queues := f.queues()
	m := &f.clients[i].machine
	for s := range f.breakers.lines {
		switch {
		case !queues || !m.Waits(uint8(s)):
			f.breakers.lines[s].Clear(i)
		case m.AwaitsBreaker(uint8(s)):
			f.breakers.lines[s].Set(i, 0)
		}
	}
}

// wake feeds Wake to those in line for a breaker while it lets one through, the
// first in line first: so no more of them get up than there are probes to send.
func (f *Fleet) wake(now clock.Instant, out []engine.Effect) []engine.Effect {
	if f.breakers.waking || !f.queues() {
		return out
	}
	f.breakers.waking = true
	for s := range uint8(len(f.breakers.lines)) {
		for f.breakers.lines[s].Len() > 0 && !f.breakers.Refuses(s, &f.config.Policy) {
			i, _, _ := f.breakers.lines[s].Min()
			f.breakers.lines[s].Clear(i)
			out = f.step(now, i, engine.Input{Kind: engine.Wake, Scope: s}, out)
		}
	}
	f.breakers.waking = false
	return out
}

// tickBreakers brings the shared breakers up to now.
func (f *Fleet) tickBreakers(now clock.Instant, out []engine.Effect) []engine.Effect {
	out = f.breakers.Tick(now, &f.config.Policy, out)
	return f.wake(now, out)
}
