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
	// tally is the requests of each group by outcome, open ones as unfinished.
	tally map[groupKey]*[wire.NumOutcomes]int
	ended map[groupKey]bool // those that were pages and have ended
	// dead is the groups of each client that were cancelled, the latest last.
	dead map[wire.ClientID][]uint32
}

func newGroups() groups {
	return groups{
		tally: map[groupKey]*[wire.NumOutcomes]int{}, ended: map[groupKey]bool{},
		dead: map[wire.ClientID][]uint32{},
	}
}

// GroupCancelled tells the Checker, right after the Step, that a client was told
// to give up a group. Nobody of the group may be left then, and no later one may
// be sent.
func (c *Checker) GroupCancelled(client wire.ClientID, group uint32) {
	if group == 0 || c.isDead(client, group) {
		return
	}
	n := c.tally(client, group)[wire.Unfinished]
	c.must(n == 0, "client %d: %d requests of the cancelled group %d are left", client, n, group)
	dead := append(c.groups.dead[client], group)
	c.groups.dead[client] = dead[max(0, len(dead)-engine.DeadGroups):]
}

// pageEnded checks that a page is over in all its parts, and good only if they
// all are.
func (c *Checker) pageEnded(e wire.Event) {
	k := groupKey{e.ID.Client, e.Group}
	n := c.tally(e.ID.Client, e.Group)
	all := 0
	for _, some := range n {
		all += some
	}
	c.must(!c.groups.ended[k], "page %v ended twice", e.ID)
	c.must(n[wire.Unfinished] == 0, "page %v ended before %d of its requests", e.ID, n[wire.Unfinished])
	c.must(all > 0 && e.Good == (n[wire.Succeeded] == all), "page %v ended, good=%v: %v", e.ID, e.Good, *n)
	c.must(all-n[wire.Succeeded] <= 1, "page %v went on after a failure: %v", e.ID, *n)
	c.must(e.Delay == e.At.Sub(e.Since), "page %v took %v", e.ID, e.Delay)
	c.groups.ended[k] = true
}

func (c *Checker) tally(client wire.ClientID, group uint32) *[wire.NumOutcomes]int {
	k := groupKey{client, group}
	if c.groups.tally[k] == nil {
		c.groups.tally[k] = new([wire.NumOutcomes]int)
	}
	return c.groups.tally[k]
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
	c.tally(e.ID.Client, e.Group)[wire.Unfinished]++
	c.must(!c.groups.ended[groupKey{e.ID.Client, e.Group}], "%v: its page had ended", e.ID)
	return c.isDead(e.ID.Client, e.Group)
}

// leave takes a request that has ended out of its group.
func (c *Checker) leave(e wire.Event, r *track) {
	c.must(!r.refused || e.Outcome == wire.Cancelled && r.tries == 0,
		"%v came after the end of its group, %d, or of its parent, %d, and ended as %v after %d tries",
		e.ID, e.Group, e.Parent, e.Outcome, r.tries)
	if e.Group != 0 {
		n := c.tally(e.ID.Client, e.Group)
		n[wire.Unfinished]--
		if e.Parent == 0 && e.Repeats == 0 { // what is nested is in its parent's outcome
			n[e.Outcome]++
		}
	}
}
