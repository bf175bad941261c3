package engine

import "herdscope/engine/wire"

// untangle breaks the deadlocks of nested requests that have arisen in this Step,
// until there are none.
func (m *Machine) untangle() {
	for m.counts.Nesting > 0 && m.touched != 0 {
		h, ok := m.knot()
		if !ok {
			return
		}
		m.sever(h)
		m.dispatchAll(m.touched)
	}
}

// sever ends a nested request that waits in a deadlock.
func (m *Machine) sever(h int32) {
	r := &m.requests[h]
	m.report(m.event(wire.NestedDeadlock, r))
	if r.place == inQueue {
		m.leaveQueue(h)
	}
	r.cause, r.status = wire.CauseNestedDeadlock, 0
	m.finish(h, wire.Failed)
}

// knot is the nested request that came last of those that wait in a deadlock with
// their parents; false if there is no deadlock. It finds out who can go on if all
// others do in the end what they can: first nobody who waits for a slot, for the
// token or for nested requests of its own, and then, over and over, everybody who
// needs only what those can give that are known to go on. What is left cannot,
// whatever comes, save a change from outside (the reduction of a resource graph:
// Holt, Some Deadlock Properties of Computer Systems, 1972, section 4).
func (m *Machine) knot() (youngest int32, found bool) {
	some := false
	for h := range m.requests {
		r := &m.requests[h]
		r.stuck = m.ids[h] != 0 && (r.place == inQueue || r.place == nested || r.place == renewing)
		some = some || m.holdsUp(r)
	}
	if !some {
		return 0, false
	}
	for m.loosen() {
	}
	for h := range m.requests {
		r := &m.requests[h]
		if !m.holdsUp(r) {
			continue
		}
		if !found || r.number > m.requests[youngest].number {
			youngest, found = int32(h), true
		}
	}
	return youngest, found
}

// holdsUp says whether a request that may be stuck is one that waits for something
// other than nested requests, while its parent waits for it.
func (m *Machine) holdsUp(r *request) bool {
	return r.stuck && r.place != nested && r.parent != 0 && m.requests[r.parent-1].place == nested
}

// tally is what those hold that are stuck.
type tally struct {
	slots    [wire.MaxScopes][wire.NumClasses]int32
	critical [wire.MaxScopes]bool // a critical request is among them
	refresh  bool                 // the refresh of the token is
}

// loosen looks once at all who are stuck, and says whether some of them are not.
func (m *Machine) loosen() (some bool) {
	t := m.tally()
	for h := range m.requests {
		if r := &m.requests[h]; r.stuck && m.goesOn(r, &t) {
			r.stuck, some = false, true
		}
	}
	return some
}

func (m *Machine) tally() (t tally) {
	for i := range m.lanes {
		m.lanes[i].stuck = 0
	}
	for h := range m.requests {
		m.requests[h].stuckKids = 0
	}
	for h := range m.requests {
		r := &m.requests[h]
		if !r.stuck {
			continue
		}
		switch {
		case r.place != nested:
		case r.lane > 0:
			m.lanes[r.lane-1].stuck++
		default:
			t.slots[r.Scope][r.Class]++
		}
		if r.parent > 0 {
			m.requests[r.parent-1].stuckKids++
		}
		t.critical[r.Scope] = t.critical[r.Scope] || r.Class == wire.Critical
		t.refresh = t.refresh || r.Refresh
	}
	return t
}

// goesOn says whether a request that waits can go on in the end, if only those
// hold on to what they have that the tally is of.
func (m *Machine) goesOn(r *request, t *tally) bool {
	switch r.place {
	case nested:
		return r.stuckKids == 0
	case renewing:
		return !t.refresh
	}
	q := &m.policy.Queue
	if r.lane > 0 {
		return q.NestedLimit == 0 || int(m.lanes[r.lane-1].stuck) < q.NestedLimit
	}
	sc := &m.scopes[r.Scope]
	if r.Class == wire.Background && q.ProtectHold == 0 && t.critical[r.Scope] && m.protects(sc) {
		return false
	}
	var none [wire.NumClasses]int32
	return m.sharesOf(sc, &t.slots[r.Scope])[r.Class] || !m.sharesOf(sc, &none)[r.Class]
}
