package metrics

import "herdscope/engine/wire"

// place is where a waiting request is found.
type place struct {
	index int32
	node  int32 // in lines
	class wire.Class
}

// places is a hash table from requests to places, with linear probing. Unlike a
// map it allocates only to grow, however many requests come and go: what is
// taken out leaves no trace.
type places struct {
	keys   []uint64 // 0 is free
	values []place
	n      int
}

const minPlaces = 64 // a power of two

func newPlaces() places {
	return places{keys: make([]uint64, minPlaces), values: make([]place, minPlaces)}
}

// home is where a key belongs: Fibonacci hashing (Knuth, The Art of Computer
// Programming, volume 3, section 6.4).
func (p *places) home(key uint64) int {
	return int(key*0x9e3779b97f4a7c15>>32) & (len(p.keys) - 1)
}

// find is the slot of a key, or the free slot where it would go.
func (p *places) find(key uint64) int {
	i := p.home(key)
	for p.keys[i] != key && p.keys[i] != 0 {
		i = (i + 1) & (len(p.keys) - 1)
	}
	return i
}

// put adds a key; false if it is there already, or is 0.
func (p *places) put(key uint64, v place) bool {
	if 4*p.n >= 3*len(p.keys) {
		p.grow()
	}
	i := p.find(key)
	if p.keys[i] == key {
		return false
	}
	p.keys[i], p.values[i] = key, v
	p.n++
	return true
}

// move gives a key that is there another index.
func (p *places) move(key uint64, index int32) { p.values[p.find(key)].index = index }

// take removes a key; false if it is not there.
func (p *places) take(key uint64) (place, bool) {
	i := p.find(key)
	if p.keys[i] != key || key == 0 {
		return place{}, false
	}
	v := p.values[i]
	p.n--
	p.close(i)
	return v, true
}

// close frees a slot and moves back those after it that would not be found
// any more.
func (p *places) close(hole int) {
	mask := len(p.keys) - 1
	for i := (hole + 1) & mask; p.keys[i] != 0; i = (i + 1) & mask {
		if (i-p.home(p.keys[i]))&mask >= (i-hole)&mask {
			p.keys[hole], p.values[hole] = p.keys[i], p.values[i]
			hole = i
		}
	}
	p.keys[hole] = 0
}

func (p *places) grow() {
	old := *p
	p.keys = make([]uint64, 2*len(old.keys))
	p.values = make([]place, 2*len(old.keys))
	for i, key := range old.keys {
		if key != 0 {
			j := p.find(key)
			p.keys[j], p.values[j] = key, old.values[i]
		}
	}
}
