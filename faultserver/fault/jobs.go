package fault

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// job is an attempt between its arrival and its end.
type job struct {
	attempt wire.Attempt
	arrived clock.Instant
	// began is when a worker took it up.
	began clock.Instant
	// end is when its service ends, and rest what is left of it while the server
	// is frozen.
	end  clock.Instant
	rest time.Duration
	marks
	// left says that the caller has stopped waiting.
	left    bool
	stage   stage
	service uint8
	// refusal is what a worker has to see to for a job that is turned away.
	refusal refusal
	// number is its place in the order of arrival.
	number uint64

	prev, next int32 // in order of arrival; none at the ends
	chain      int32 // the next of the same hash, or of the free ones
}

const none int32 = -1

// jobs is a table of all jobs, in one list by order of arrival.
type jobs struct {
	table       []job
	heads       []int32 // by hash of the attempt's ID
	free        int32
	first, last int32
	added       uint64
}

// minJobs is the least size of the table; it is a power of two.
const minJobs = 64

func newJobs() jobs {
	q := jobs{free: none, first: none, last: none}
	q.grow(minJobs)
	return q
}

// add puts an attempt at the end of the list, and returns its slot.
func (q *jobs) add(a wire.Attempt, now clock.Instant, m marks, service uint8) int32 {
	if q.free == none {
		q.grow(2 * len(q.table))
	}
	slot := q.free
	j := &q.table[slot]
	q.free = j.chain
	head := q.head(a.ID)
	q.added++
	*j = job{
		attempt: a, arrived: now, marks: m, service: service, number: q.added,
		prev: q.last, next: none, chain: *head,
	}
	*head = slot
	*q.link(q.last, &q.first) = slot
	q.last = slot
	return slot
}

// remove takes a job out of the table.
func (q *jobs) remove(slot int32) job {
	j := q.table[slot]
	*q.link(j.prev, &q.first) = j.next
	if j.next == none {
		q.last = j.prev
	} else {
		q.table[j.next].prev = j.prev
	}
	*q.find(j.attempt.ID, slot) = j.chain
	q.table[slot].chain = q.free
	q.free = slot
	return j
}

// present is the job of an attempt whose caller still waits; none if there is
// none.
func (q *jobs) present(id wire.AttemptID) int32 {
	for slot := *q.head(id); slot != none; slot = q.table[slot].chain {
		if j := &q.table[slot]; j.attempt.ID == id && !j.left {
			return slot
		}
	}
	return none
}

// has says whether an attempt waits or is in service.
func (q *jobs) has(id wire.AttemptID) bool {
	slot := *q.head(id)
	for slot != none && q.table[slot].attempt.ID != id {
		slot = q.table[slot].chain
	}
	return slot != none
}

// link is the pointer that leads on from slot, or first if there is no slot.
func (q *jobs) link(slot int32, first *int32) *int32 {
	if slot == none {
		return first
	}
	return &q.table[slot].next
}

// find is the pointer in the chain of an ID that leads to slot.
func (q *jobs) find(id wire.AttemptID, slot int32) *int32 {
	link := q.head(id)
	for *link != slot {
		link = &q.table[*link].chain
	}
	return link
}

func (q *jobs) head(id wire.AttemptID) *int32 {
	return &q.heads[spread(requestKey(id)^uint64(id.Try)<<48, len(q.heads))]
}

// grow makes room for n jobs, n a power of two, and hashes anew. All slots are
// taken when it is called.
func (q *jobs) grow(n int) {
	old := len(q.table)
	q.table = append(q.table, make([]job, n-old)...)
	for slot := n - 1; slot >= old; slot-- {
		q.table[slot].chain = q.free
		q.free = int32(slot)
	}
	q.heads = make([]int32, n)
	for i := range q.heads {
		q.heads[i] = none
	}
	for slot := q.first; slot != none; slot = q.table[slot].next {
		head := q.head(q.table[slot].attempt.ID)
		q.table[slot].chain = *head
		*head = slot
	}
}
