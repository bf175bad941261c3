package fault

import "herdscope/engine/clock"

// maxCallers is how many callers a limit tells apart. Of more, the one that has
// not come for the longest time is forgotten, and starts anew when it comes: a
// full bucket, or an empty window.
const maxCallers = 1 << 16

// minCallers is the least size of the table; it is a power of two.
const minCallers = 16

// meter is what a limit knows of a caller: its law uses one of them.
type meter struct {
	bucket bucket
	window windowCount
}

// caller is a meter in the table, which is a list by when they came last.
type caller struct {
	key          uint64
	meter        meter
	newer, older int32 // indices plus one
	chain        int32 // the next of the same hash, index plus one
}

// callers is the meters of a limit by caller. It grows up to its size, and
// takes no more room after that.
type callers struct {
	table          []caller
	heads          []int32 // by hash, index into table plus one
	newest, oldest int32   // indices plus one
	size           int     // 0 is maxCallers
	// forgotten counts those that had to make room.
	forgotten int64
}

// clear forgets all callers, but not how many have been forgotten for want of
// room.
func (c *callers) clear() {
	c.table, c.newest, c.oldest = c.table[:0], 0, 0
	clear(c.heads)
}

// change lets all buckets follow another limit from now on.
func (c *callers) change(l RateLimit, now clock.Instant) {
	for i := range c.table {
		c.table[i].meter.bucket.change(l, now)
	}
}

// of is the meter of a caller. One that is new to the table has used nothing.
func (c *callers) of(key uint64, l RateLimit, now clock.Instant) *meter {
	if len(c.heads) == 0 {
		c.heads = make([]int32, minCallers)
	}
	at := *c.head(key)
	for at != 0 && c.table[at-1].key != key {
		at = c.table[at-1].chain
	}
	if at == 0 {
		at = c.room()
		head := c.head(key)
		c.table[at-1] = caller{
			key: key, chain: *head, meter: meter{bucket: fullBucket(l, now)},
		}
		*head = at
	} else {
		c.unlink(at)
	}
	c.link(at)
	return &c.table[at-1].meter
}

// room is a place for one more caller, that of the oldest if all are taken.
func (c *callers) room() int32 {
	size := c.size
	if size == 0 {
		size = maxCallers
	}
	if len(c.table) < size {
		if len(c.table) == len(c.heads) {
			c.rehash(2 * len(c.heads))
		}
		c.table = append(c.table, caller{})
		return int32(len(c.table))
	}
	c.forgotten++
	at := c.oldest
	c.unlink(at)
	link := c.head(c.table[at-1].key)
	for *link != at {
		link = &c.table[*link-1].chain
	}
	*link = c.table[at-1].chain
	return at
}

// rehash spreads the callers over n heads, n a power of two.
func (c *callers) rehash(n int) {
	c.heads = make([]int32, n)
	for i := range c.table {
		head := c.head(c.table[i].key)
		c.table[i].chain = *head
		*head = int32(i) + 1
	}
}

// link makes a caller the newest.
func (c *callers) link(at int32) {
	c.table[at-1].older, c.table[at-1].newer = c.newest, 0
	if c.newest != 0 {
		c.table[c.newest-1].newer = at
	} else {
		c.oldest = at
	}
	c.newest = at
}

func (c *callers) unlink(at int32) {
	it := &c.table[at-1]
	if it.newer != 0 {
		c.table[it.newer-1].older = it.older
	} else {
		c.newest = it.older
	}
	if it.older != 0 {
		c.table[it.older-1].newer = it.newer
	} else {
		c.oldest = it.newer
	}
}

func (c *callers) head(key uint64) *int32 { return &c.heads[spread(key, len(c.heads))] }
