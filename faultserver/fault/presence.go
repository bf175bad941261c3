package fault

import "herdscope/engine/wire"

// presence is how many attempts are at the server, waiting or in service, as
// those see it who share a cap. It knows only who is there, so that its room
// does not grow with the number of clients that have ever come.
type presence struct {
	total   int
	classes [wire.NumClasses]int
	clients tally
}

func (p *presence) add(a *wire.Attempt, n int) {
	p.total += n
	p.classes[a.Class] += n
	p.clients.add(uint64(a.ID.Client), n)
}

// of is how many of those are present that share a cap with an attempt.
func (p *presence) of(a *wire.Attempt, per LimitPer) int {
	switch per {
	case PerClient:
		return p.clients.of(uint64(a.ID.Client))
	case PerClass:
		return p.classes[a.Class]
	}
	return p.total
}

// tally is a count for each key that has one above 0.
type tally struct {
	table []tallied
	heads []int32 // by hash, index into table plus one
	free  int32   // the first free place, index plus one, chained
}

type tallied struct {
	key   uint64
	count int
	chain int32 // the next of the same hash, or of the free ones; index plus one
}

// minTally is the least number of heads; it is a power of two.
const minTally = 64

// of is the count of a key.
func (t *tally) of(key uint64) int {
	if len(t.heads) == 0 {
		return 0
	}
	if at := *t.find(key); at != 0 {
		return t.table[at-1].count
	}
	return 0
}

// add changes the count of a key by n, which does not lead below 0.
func (t *tally) add(key uint64, n int) {
	if len(t.heads) == 0 {
		t.heads = make([]int32, minTally)
	}
	link := t.find(key)
	if *link == 0 {
		at := t.room()
		head := t.head(key)
		t.table[at-1] = tallied{key: key, count: n, chain: *head}
		*head = at
		return
	}
	it := &t.table[*link-1]
	if it.count += n; it.count == 0 {
		at := *link
		*link = it.chain
		it.chain, t.free = t.free, at
	}
}

// room is a free place.
func (t *tally) room() int32 {
	if at := t.free; at != 0 {
		t.free = t.table[at-1].chain
		return at
	}
	if len(t.table) == len(t.heads) {
		t.rehash(2 * len(t.heads))
	}
	t.table = append(t.table, tallied{})
	return int32(len(t.table))
}

// rehash spreads the keys over n heads, n a power of two. No place is free when
// it is called.
func (t *tally) rehash(n int) {
	t.heads = make([]int32, n)
	for i := range t.table {
		head := t.head(t.table[i].key)
		t.table[i].chain = *head
		*head = int32(i) + 1
	}
}

// find is the link that leads to the key, or to nothing.
func (t *tally) find(key uint64) *int32 {
	link := t.head(key)
	for *link != 0 && t.table[*link-1].key != key {
		link = &t.table[*link-1].chain
	}
	return link
}

func (t *tally) head(key uint64) *int32 { return &t.heads[spread(key, len(t.heads))] }
