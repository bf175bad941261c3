package clock

// Index holds at most one instant for each small integer key and finds the
// earliest: a table of timers without timer objects. Keys with the same instant
// come out in the order in which they were set. The zero Index is empty; it
// allocates only when a key, or the number of keys, is larger than any before.
type Index struct {
	heap []int32 // keys, as a four-wide heap
	slot []entry // by key
	seq  uint64
}

type entry struct {
	at  Instant
	seq uint64
	pos int32 // place in heap plus one; 0 is absent
}

// Len is the number of keys that have an instant.
func (x *Index) Len() int { return len(x.heap) }

// Set gives key the instant at, in place of any it had. Setting the instant
// that a key already has keeps its place among equals.
func (x *Index) Set(key int32, at Instant) {
	if x.has(key) && x.slot[key].at == at {
		return
	}
	x.seq++
	x.SetOrdered(key, at, x.seq)
}

// SetOrdered is Set with a tie-breaker of the caller's: of two keys with the
// same instant, the one with the lower order comes first.
func (x *Index) SetOrdered(key int32, at Instant, order uint64) {
	x.grow(key)
	e := &x.slot[key]
	e.at, e.seq = at, order
	if e.pos == 0 {
		x.heap = append(x.heap, key)
		e.pos = int32(len(x.heap))
	}
	x.down(x.up(int(e.pos) - 1))
}

// Clear removes the key's instant, if it has one.
func (x *Index) Clear(key int32) {
	if !x.has(key) {
		return
	}
	hole := int(x.slot[key].pos) - 1
	x.slot[key].pos = 0
	last := len(x.heap) - 1
	moved := x.heap[last]
	x.heap = x.heap[:last]
	if hole == last {
		return
	}
	x.place(hole, moved)
	x.down(x.up(hole))
}

// At is the key's instant; false if it has none.
func (x *Index) At(key int32) (Instant, bool) {
	if !x.has(key) {
		return Never, false
	}
	return x.slot[key].at, true
}

// Min is the key with the earliest instant; false if there is none.
func (x *Index) Min() (key int32, at Instant, ok bool) {
	if len(x.heap) == 0 {
		return -1, Never, false
	}
	key = x.heap[0]
	return key, x.slot[key].at, true
}

func (x *Index) has(key int32) bool {
	return int(key) < len(x.slot) && x.slot[key].pos > 0
}

func (x *Index) grow(key int32) {
	for int(key) >= len(x.slot) {
		x.slot = append(x.slot, entry{})
	}
}

func (x *Index) before(a, b int32) bool {
	p, q := &x.slot[a], &x.slot[b]
	return p.at < q.at || p.at == q.at && p.seq < q.seq
}

func (x *Index) place(i int, key int32) {
	x.heap[i] = key
	x.slot[key].pos = int32(i) + 1
}

func (x *Index) up(i int) int {
	key := x.heap[i]
	for i > 0 {
		parent := (i - 1) / arity
		if !x.before(key, x.heap[parent]) {
			break
		}
		x.place(i, x.heap[parent])
		i = parent
	}
	x.place(i, key)
	return i
}

func (x *Index) down(i int) {
	key := x.heap[i]
	for {
		child := x.firstChild(i)
		if child < 0 || !x.before(x.heap[child], key) {
			break
		}
		x.place(i, x.heap[child])
		i = child
	}
	x.place(i, key)
}

func (x *Index) firstChild(i int) int {
	from := i*arity + 1
	if from >= len(x.heap) {
		return -1
	}
	best := from
	for c := from + 1; c < len(x.heap) && c < from+arity; c++ {
		if x.before(x.heap[c], x.heap[best]) {
			best = c
		}
	}
	return best
}
