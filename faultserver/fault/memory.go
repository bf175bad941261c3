package fault

import (
	"math/bits"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// memory keeps an instant for each of the latest requests, and forgets the
// oldest when it is full. It takes its room at the first use and none after.
type memory struct {
	size  int // a power of two
	memos []memo
	heads []int32 // by hash, index into memos plus one
	next  int     // where the next memo goes, over the oldest
}

type memo struct {
	request uint64
	at      clock.Instant
	chain   int32 // the next of the same hash, index plus one
	used    bool
}

// requestKey is a request of a client as one number.
func requestKey(id wire.AttemptID) uint64 {
	return uint64(id.Client)<<32 | uint64(id.Request)
}

// put keeps at for a request, in place of what was kept for it.
func (m *memory) put(request uint64, at clock.Instant) {
	if m.memos == nil {
		m.memos, m.heads = make([]memo, m.size), make([]int32, m.size)
	}
	if i := *m.find(request); i != 0 {
		m.memos[i-1].at = at
		return
	}
	if old := &m.memos[m.next]; old.used {
		m.drop(m.find(old.request))
	}
	head := m.head(request)
	m.memos[m.next] = memo{request: request, at: at, chain: *head, used: true}
	*head = int32(m.next) + 1
	m.next = (m.next + 1) % m.size
}

// has says whether something is kept for a request.
func (m *memory) has(request uint64) bool {
	return m.memos != nil && *m.find(request) != 0
}

// take removes and returns what is kept for a request; false if nothing is.
func (m *memory) take(request uint64) (clock.Instant, bool) {
	if !m.has(request) {
		return 0, false
	}
	link := m.find(request)
	at := m.memos[*link-1].at
	m.drop(link)
	return at, true
}

// find is the link that leads to the request's memo, or to nothing.
func (m *memory) find(request uint64) *int32 {
	link := m.head(request)
	for *link != 0 && m.memos[*link-1].request != request {
		link = &m.memos[*link-1].chain
	}
	return link
}

func (m *memory) drop(link *int32) {
	old := &m.memos[*link-1]
	*link = old.chain
	old.used = false
}

func (m *memory) head(request uint64) *int32 {
	return &m.heads[spread(request, len(m.heads))]
}

// spread is a place among n, a power of two, for a key: Fibonacci hashing
// (Knuth, The Art of Computer Programming, volume 3, section 6.4).
func spread(key uint64, n int) int {
	return int(key * 0x9e3779b97f4a7c15 >> (64 - bits.TrailingZeros(uint(n))))
}
