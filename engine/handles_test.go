package engine

import (
	"fmt"
	"testing"

	"herdscope/engine/wire"

	"pgregory.net/rapid"
)

// TestHandlesFindWhatAMapFinds lets requests come and go, with IDs that collide.
func TestHandlesFindWhatAMapFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table handles
		ids := make([]wire.RequestID, 64)
		want := map[wire.RequestID]int32{}
		stride := rapid.SampledFrom([]wire.RequestID{1, 8, 1 << 20, 0x9e3779b1}).Draw(t, "stride")
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			h := rapid.Int32Range(0, 63).Draw(t, "handle")
			id := stride * wire.RequestID(rapid.IntRange(1, 80).Draw(t, "id"))
			if _, there := want[id]; ids[h] == 0 && !there {
				ids[h], want[id] = id, h
				table.put(ids, h)
			} else if ids[h] != 0 {
				table.take(ids, h)
				delete(want, ids[h])
				ids[h] = 0
			}
			for id := range want {
				if got, ok := table.find(ids, id); !ok || got != want[id] {
					t.Fatalf("%d is found at %d (%v), not %d", id, got, ok, want[id])
				}
			}
			if got, ok := table.find(ids, 7); ok && want[7] != got {
				t.Fatalf("7 is found at %d", got)
			}
			if table.n != len(want) {
				t.Fatalf("%d handles, not %d", table.n, len(want))
			}
		}
	})
}

// BenchmarkFind looks up each of the requests under way in turn, beside a scan of
// all that there are.
func BenchmarkFind(b *testing.B) {
	for _, n := range []int{4, 16, 100, 1000} {
		m := Machine{ids: make([]wire.RequestID, n)}
		for h := range n {
			m.ids[h] = wire.RequestID(1000 + h)
			m.handles.put(m.ids, int32(h))
		}
		b.Run(fmt.Sprintf("table of %d", n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if _, ok := m.find(wire.RequestID(1000 + i%n)); !ok {
					b.Fatal("not found")
				}
			}
		})
		b.Run(fmt.Sprintf("scan of %d", n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if !scan(m.ids, wire.RequestID(1000+i%n)) {
					b.Fatal("not found")
				}
			}
		})
	}
}

func scan(ids []wire.RequestID, id wire.RequestID) bool {
	for _, other := range ids {
		if other == id {
			return true
		}
	}
	return false
}
