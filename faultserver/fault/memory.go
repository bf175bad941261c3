package fault

import (
	"math/bits"

	"herdscope/engine/wire"
)

// memory keeps a value for each of the latest requests, and forgets the oldest
// when it is full. It takes its room at the first use and none after.
type memory[V any] struct {
	size  int // a power of two
	memos []memo[V]
	heads []int32 // by hash, index into memos plus one
	next  int     // where the next memo goes, over the oldest
}

type memo[V any] struct {
	request uint64
	value   V
	chain   int32 // the next of the same hash, index plus one
	used    bool
}

// requestKey is a request of a client as one number.
func requestKey(id wire.AttemptID) uint64 {
	return uint64(id.Client)<<32 | uint64(id.Request)
}

// intentKey is what the user of a client wants by an attempt, as one number: a
// request that repeats another one wants no more than that.
func intentKey(a *wire.Attempt) uint64 {
	id := a.ID
	if a.Repeats != 0 {
		id.Request = a.Repeats
	}
	return requestKey(id)
}

// put keeps a value for a request, in place of what was kept for it.
func (m *memory[V]) put(request uint64, value V) {
	if m.memos == nil {
		m.memos, m.heads = make([]memo[V], m.size), make([]int32, m.size)
	}
	if i := *m.find(request); i != 0 {
		m.memos[i-1].value = value
		return
	}
	if old := &m.memos[m.next]; old.used {
		m.drop(m.find(old.request))
	}
	head := m.head(request)
	m.memos[m.next] = memo[V]{request: request, value: value, chain: *head, used: true}
	*head = int32(m.next) + 1
	m.next = (m.next + 1) % m.size
}

// clear forgets everything, and keeps its room.
func (m *memory[V]) clear() {
	clear(m.memos)
	clear(m.heads)
	m.next = 0
}

// has says whether something is kept for a request.
func (m *memory[V]) has(request uint64) bool {
	return m.memos != nil && *m.find(request) != 0
}

// get is what is kept for a request; false if nothing is.
func (m *memory[V]) get(request uint64) (value V, ok bool) {
	if !m.has(request) {
		return value, false
	}
	return m.memos[*m.find(request)-1].value, true
}

// take removes and returns what is kept for a request; false if nothing is.
func (m *memory[V]) take(request uint64) (value V, ok bool) {
	if !m.has(request) {
		return value, false
	}
	link := m.find(request)
	value = m.memos[*link-1].value
	m.drop(link)
	return value, true
}

// find is the link that leads to the request's memo, or to nothing.
func (m *memory[V]) find(request uint64) *int32 {
	link := m.head(request)
	for *link != 0 && m.memos[*link-1].request != request {
		link = &m.memos[*link-1].chain
	}
	return link
}

func (m *memory[V]) drop(link *int32) {
	old := &m.memos[*link-1]
	*link = old.chain
	old.used = false
}

func (m *memory[V]) head(request uint64) *int32 {
	return &m.heads[spread(request, len(m.heads))]
}

// spread is a place among n, a power of two, for a key: Fibonacci hashing
// (Knuth, The Art of Computer Programming, volume 3, section 6.4).
func spread(key uint64, n int) int {
	return int(key * 0x9e3779b97f4a7c15 >> (64 - bits.TrailingZeros(uint(n))))
}
