package engine

import (
	"herdscope/engine/breaker"
	"herdscope/engine/clock"
	"herdscope/engine/rng"
	"herdscope/engine/wire"
)

// Breakers is the breakers that several machines have in common where the
// policy's Breaker.Shared says so, one for each scope. It belongs to whoever has
// the machines, who passes time to it with Tick, and feeds Wake to machines that
// wait when it may let one through. No machine's Deadline has anything of it.
type Breakers struct {
	scopes  []breaker.Breaker
	changes []breaker.Change
}

// allClients stands in the draws for the clients as a whole; no ClientID is so
// large.
const allClients = 1 << 32

// NewBreakers makes closed breakers for the given number of scopes.
func NewBreakers(seed uint64, scopes int) *Breakers {
	b := &Breakers{scopes: make([]breaker.Breaker, scopes)}
	for s := range b.scopes {
		b.scopes[s] = breaker.New(rng.At(seed, rng.BreakerOpen, allClients, uint64(s), 0))
	}
	return b
}

// Deadline is when a Tick next matters; false if never. Any Step of a machine
// that uses the breakers may change it.
func (b *Breakers) Deadline() (clock.Instant, bool) {
	first := clock.Never
	for s := range b.scopes {
		if at, ok := b.scopes[s].Deadline(); ok {
			first = min(first, at)
		}
	}
	return first, first != clock.Never
}

// Refuses says whether a scope's breaker lets nothing through at the time of its
// last call.
func (b *Breakers) Refuses(scope uint8, p *Policy) bool {
	return b.scopes[scope].Refuses(&p.Breaker)
}

// Queues says whether requests wait for these breakers where they refuse.
func (b *Breakers) Queues(p *Policy) bool {
	return p.Breaker.Shared && p.Breaker.WhenOpen == breaker.Wait
}

// State is the state of a scope's breaker.
func (b *Breakers) State(scope uint8) wire.BreakerState { return b.scopes[scope].State() }

// Tick brings the breakers up to now and to the present policy, and appends what
// there is to report. Where the policy has them out of use, they are closed, and
// all permits that are out are taken back.
func (b *Breakers) Tick(now clock.Instant, p *Policy, out []Effect) []Effect {
	for s := range b.scopes {
		if p.Breaker.Shared {
			b.changes = b.scopes[s].Tick(now, &p.Breaker, b.changes[:0])
		} else {
			b.changes = b.scopes[s].Retire(now, b.changes[:0])
		}
		for _, c := range b.changes {
			e := changeEvent(c, uint8(s))
			e.Shared = true
			out = append(out, Effect{Kind: Report, Event: e})
		}
	}
	return out
}

// ShareBreakers gives the machine breakers that others use too, for as long as
// the policy says so. They must have as many scopes. Call it before the first
// Step.
func (m *Machine) ShareBreakers(b *Breakers) { m.common = b }

// sharesBreakers says whether the machine uses breakers of others at present. Without any
// to use, it goes on with its own.
func (m *Machine) sharesBreakers() bool { return m.policy.Breaker.Shared && m.common != nil }

// breaker is the breaker of a scope that is in use.
func (m *Machine) breaker(scope uint8) *breaker.Breaker {
	if m.sharesBreakers() {
		return &m.common.scopes[scope]
	}
	return &m.scopes[scope].breaker
}

// AwaitsBreaker says whether a request of the scope waits in its queue for the
// breaker, which is then to be followed by Wake if the breaker is shared.
func (m *Machine) AwaitsBreaker(scope uint8) bool {
	return m.Waits(scope) && m.heldBack(scope)
}

// Waits says whether a request of the scope waits in a queue, for whatever reason.
func (m *Machine) Waits(scope uint8) bool {
	waits := m.scopes[scope].queue.Len() > 0
	for i := int(scope); i < len(m.lanes); i += len(m.scopes) {
		waits = waits || m.lanes[i].queue.Len() > 0
	}
	return waits
}

// changeEvent is a transition of a scope's breaker as observers see it.
func changeEvent(c breaker.Change, scope uint8) wire.Event {
	return wire.Event{
		Kind: wire.BreakerChanged, At: c.At, Scope: scope, From: c.From, To: c.To, Cause: c.Cause,
	}
}
