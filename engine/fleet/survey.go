package fleet

import "herdscope/engine/wire"

// Heads counts what the heads of all queues wait for now. It changes nothing,
// and takes a look at every queue of every client.
func (f *Fleet) Heads() (heads wire.Heads) {
	scopes := f.scopes()
	for i := range f.clients {
		m := &f.clients[i].machine
		if m.Counts().Queued == 0 {
			continue
		}
		for s := range scopes {
			for c := range wire.Class(wire.NumClasses) {
				heads[c][m.Why(uint8(s), c)]++
			}
		}
	}
	for c := range heads {
		heads[c][wire.WaitNone] = 0
	}
	return heads
}
