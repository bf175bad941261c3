package engine

import "herdscope/engine/wire"

// handles finds the handle of a request by its ID: a hash table with linear
// probing, whose keys stand in Machine.ids. Unlike a map it allocates only to
// grow, however many requests come and go, and what is taken out leaves no trace.
// The zero handles are empty.
type handles struct {
	slots []int32 // a handle plus one; 0 is free
	n     int
}

const minHandles = 8 // a power of two

// home is where an ID belongs: Fibonacci hashing (Knuth, The Art of Computer
// Programming, volume 3, section 6.4).
func (t *handles) home(id wire.RequestID) int {
	return int(uint64(id)*0x9e3779b97f4a7c15>>32) & (len(t.slots) - 1)
}

// slot is where an ID stands, or the free slot where it would go.
func (t *handles) slot(ids []wire.RequestID, id wire.RequestID) int {
	i := t.home(id)
	for t.slots[i] != 0 && ids[t.slots[i]-1] != id {
		i = (i + 1) & (len(t.slots) - 1)
	}
	return i
}

func (t *handles) find(ids []wire.RequestID, id wire.RequestID) (int32, bool) {
	if t.n == 0 {
		return 0, false
	}
	h := t.slots[t.slot(ids, id)]
	return h - 1, h != 0
}

// put adds the handle h, whose ID stands in ids already. Of two requests with one
// ID, which nobody may submit, the first is found.
func (t *handles) put(ids []wire.RequestID, h int32) {
	if 2*t.n >= len(t.slots) {
		t.grow(ids)
	}
	if i := t.slot(ids, ids[h]); t.slots[i] == 0 {
		t.slots[i] = h + 1
		t.n++
	}
}

// take removes the handle h, and moves back those after it that would not be
// found any more.
func (t *handles) take(ids []wire.RequestID, h int32) {
	hole := t.slot(ids, ids[h])
	if t.slots[hole] != h+1 {
		return
	}
	t.n--
	mask := len(t.slots) - 1
	for i := (hole + 1) & mask; t.slots[i] != 0; i = (i + 1) & mask {
		if (i-t.home(ids[t.slots[i]-1]))&mask >= (i-hole)&mask {
			t.slots[hole] = t.slots[i]
			hole = i
		}
	}
	t.slots[hole] = 0
}

func (t *handles) grow(ids []wire.RequestID) {
	old := t.slots
	t.slots = make([]int32, max(minHandles, 2*len(old)))
	for _, h := range old {
		if h != 0 {
			t.slots[t.slot(ids, ids[h-1])] = h
		}
	}
}
