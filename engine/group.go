package engine

// DeadGroups is how many cancelled groups a Machine remembers, the latest ones.
// A request that comes later than that for a group which was cancelled is taken
// in like any other: whoever submits for a group must have stopped by then.
const DeadGroups = 16

// deadGroups is the groups that were cancelled last, in a ring; 0 is a free
// place.
type deadGroups struct {
	groups [DeadGroups]uint32
	next   uint8
}

// has says whether the group was cancelled lately; no group never was.
func (d *deadGroups) has(group uint32) bool {
	if group == 0 {
		return false
	}
	for _, other := range d.groups {
		if other == group {
			return true
		}
	}
	return false
}

// add remembers one more and forgets the oldest.
func (d *deadGroups) add(group uint32) {
	d.groups[d.next] = group
	d.next = (d.next + 1) % DeadGroups
}

// cancelGroup gives up every request of a group. No slot that this frees is
// given away before all of them are gone, so that none starts in the middle of
// its own end. Group 0 is no group, and one that is dead has nobody left.
func (m *Machine) cancelGroup(group uint32) {
	if group == 0 || m.dead.has(group) {
		return
	}
	m.dead.add(group)
	for h := range m.requests {
		if r := &m.requests[h]; m.ids[h] != 0 && r.Group == group && !r.carrier {
			m.giveUp(int32(h))
		}
	}
}
