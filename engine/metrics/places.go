package metrics

import "herdscope/engine/wire"

// place is where a waiting request is found.
type place struct {
	index int32
	node  int32 // in lines
	class wire.Class
}

// table is a hash table from requests, or what else has a key that is not 0,
// with linear probing. Unlike a map it allocates only to grow, however many come
// and go: what is taken out leaves no trace.
type table[V any] struct {
	keys   []uint64 // 0 is free
	values []V
	n      int
}

const minPlaces = 64 // a power of two

func newTable[V any]() table[V] {
	return table[V]{keys: make([]uint64, minPlaces), values: make([]V, minPlaces)}
}

// home is where a key belongs: Fibonacci hashing (Knuth, The Art of Computer
// Programming, volume 3, section 6.4).
func (t *table[V]) home(key uint64) int {
	return int(key*0x9e3779b97f4a7c15>>32) & (len(t.keys) - 1)
}

// find is the slot of a key, or the free slot where it would go.
func (t *table[V]) find(key uint64) int {
	i := t.home(key)
	for t.keys[i] != key && t.keys[i] != 0 {
		i = (i + 1) & (len(t.keys) - 1)
	}
	return i
}

// put adds a key; false if it is there already, or is 0.
func (t *table[V]) put(key uint64, v V) bool {
	if 4*t.n >= 3*len(t.keys) {
		t.grow()
	}
	i := t.find(key)
	if t.keys[i] == key {
		return false
	}
	t.keys[i], t.values[i] = key, v
	t.n++
	return true
}

// at is the value of a key; nil if it is not there. It is good until the next
// put or take.
func (t *table[V]) at(key uint64) *V {
	i := t.find(key)
	if key == 0 || t.keys[i] != key {
		return nil
	}
	return &t.values[i]
}

// take removes a key; false if it is not there.
func (t *table[V]) take(key uint64) (v V, ok bool) {
	i := t.find(key)
	if t.keys[i] != key || key == 0 {
		return v, false
	}
	v = t.values[i]
	t.n--
	t.close(i)
	return v, true
}

// close frees a slot and moves back those after it that would not be found
// any more.
func (t *table[V]) close(hole int) {
	mask := len(t.keys) - 1
	for i := (hole + 1) & mask; t.keys[i] != 0; i = (i + 1) & mask {
		if (i-t.home(t.keys[i]))&mask >= (i-hole)&mask {
			t.keys[hole], t.values[hole] = t.keys[i], t.values[i]
			hole = i
		}
	}
	t.keys[hole] = 0
}

func (t *table[V]) grow() {
	old := *t
	t.keys = make([]uint64, 2*len(old.keys))
	t.values = make([]V, 2*len(old.keys))
	for i, key := range old.keys {
		if key != 0 {
			j := t.find(key)
			t.keys[j], t.values[j] = key, old.values[i]
		}
	}
}
