package enginetest

import (
	"herdscope/engine"
	"herdscope/engine/wire"
)

type groupKey struct {
	client wire.ClientID
	group  uint32
}

// groups is what a Checker knows of the groups of requests.
type groups struct {
	open map[groupKey]int // requests that have begun and not ended
	// dead is the groups of each client that were cancelled, the latest last.
	dead map[wire.ClientID][]uint32
}

func newGroups() groups {
	return groups{open: map[groupKey]int{}, dead: map[wire.ClientID][]uint32{}}
}

// GroupCancelled tells the Checker, right after the Step, that a client was told
// to give up a group. Nobody of the group may be left then, and no later one may
// be sent.
func (c *Checker) GroupCancelled(client wire.ClientID, group uint32) {
	if group == 0 || c.isDead(client, group) {
		return
	}
	n := c.groups.open[groupKey{client, group}]
	c.must(n == 0, "client %d: %d requests of the cancelled group %d are left", client, n, group)
	dead := append(c.groups.dead[client], group)
	c.groups.dead[client] = dead[max(0, len(dead)-engine.DeadGroups):]
}

func (c *Checker) isDead(client wire.ClientID, group uint32) bool {
	for _, other := range c.groups.dead[client] {
		if other == group {
			return true
		}
	}
	return false
}

// join takes a request into its group; refused says that it comes too late.
func (c *Checker) join(e wire.Event) (refused bool) {
	if e.Group == 0 {
		return false
	}
	c.groups.open[groupKey{e.ID.Client, e.Group}]++
	return c.isDead(e.ID.Client, e.Group)
}

// leave takes a request that has ended out of its group.
func (c *Checker) leave(e wire.Event, r *track) {
	c.must(!r.refused || e.Outcome == wire.Cancelled && r.tries == 0,
		"%v came after the end of group %d, and ended as %v after %d tries", e.ID, e.Group, e.Outcome, r.tries)
	if e.Group != 0 {
		c.groups.open[groupKey{e.ID.Client, e.Group}]--
	}
}
