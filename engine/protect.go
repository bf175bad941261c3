package engine

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// protection is what window protection has to know of a scope: while critical
// work is unfinished there, be it queued, in flight or in backoff, no background
// attempt starts, so that what the user waits for has the server to itself.
type protection struct {
	critical int32 // unfinished critical requests
	// background has when each background request joined the queue.
	background clock.Index
}

// oldest is when the background request that waits longest joined the queue;
// clock.Never if none waits.
func (p *protection) oldest() clock.Instant {
	_, at, ok := p.background.Min()
	if !ok {
		return clock.Never
	}
	return at
}

// protects says whether no background attempt of the scope may start now. After
// the hold it may, since otherwise steady critical work would starve it.
func (m *Machine) protects(sc *scope) bool {
	q := &m.policy.Queue
	return q.Protect && sc.protection.critical > 0 && m.now < sc.protection.until(q.ProtectHold)
}

// until is when the hold is over of the background request that waits longest;
// clock.Never if there is no hold.
func (p *protection) until(hold time.Duration) clock.Instant {
	if at := p.oldest(); hold > 0 && at != clock.Never {
		return at.Add(hold)
	}
	return clock.Never
}

// guard counts a critical request that came.
func (m *Machine) guard(r *request) {
	if r.Class == wire.Critical {
		m.scopes[r.Scope].protection.critical++
	}
}

// unguard counts a critical request that ended. The last one lets go of the
// background.
func (m *Machine) unguard(r *request) {
	if r.Class != wire.Critical {
		return
	}
	p := &m.scopes[r.Scope].protection
	p.critical--
	if p.critical == 0 {
		m.touch(r.Scope)
		m.released |= 1 << r.Scope
	}
}

// patient notes that the request h began to wait, or ceased to.
func (m *Machine) patient(h int32, waits bool) {
	r := &m.requests[h]
	p := &m.scopes[r.Scope].protection
	switch {
	case r.Class != wire.Background || r.lane > 0:
	case waits:
		p.background.Set(h, r.since)
	default:
		p.background.Clear(h)
	}
}

// watchProtection marks the background request that has just been kept from a
// slot it could have had, and sees to it that the end of the hold is noticed.
func (m *Machine) watchProtection(s uint8) {
	sc := &m.scopes[s]
	key := m.protectionKey(s)
	if !m.protects(sc) {
		m.timers.Clear(key)
		return
	}
	if h, _, waits := sc.queue.Head(wire.Background); waits && m.shares(sc)[wire.Background] {
		m.requests[h].held = true
	}
	if at := sc.protection.until(m.policy.Queue.ProtectHold); at != clock.Never {
		m.timers.Set(key, at)
	} else {
		m.timers.Clear(key)
	}
}

func protectFields() []knob.Field[Policy] {
	return []knob.Field[Policy]{
		promoteField(),
		knob.AtBool(knob.Spec{
			Name: "queue.protect", Kind: knob.Switch,
			Doc: "whether background waits while critical work of its scope is unfinished",
		}, func(p *Policy) *bool { return &p.Queue.Protect }),
		knob.At(knob.Spec{
			Name: "queue.protect_hold", Kind: knob.Duration,
			Min: leastTime, Max: maxWait, Step: int64(time.Second), Zero: "off",
			Doc: "how long queue.protect may keep background waiting; off is without end",
		}, func(p *Policy) *time.Duration { return &p.Queue.ProtectHold }),
	}
}
