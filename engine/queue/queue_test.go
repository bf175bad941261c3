package queue

import (
	"testing"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
	"pgregory.net/rapid"
)

var everybody = Allowed{true, true, true}

func TestStrictServesTheMostImportantFirst(t *testing.T) {
	var q Queue
	q.Push(1, wire.Background, 10, 1)
	q.Push(2, wire.Critical, 30, 2)
	q.Push(3, wire.Interactive, 20, 3)
	q.Push(4, wire.Critical, 40, 4)
	for _, want := range []int32{2, 4, 3, 1} {
		h, c, ok := q.Next(Strict, everybody)
		if !ok || h != want {
			t.Fatalf("Next = %d of %v, %v; want %d", h, c, ok, want)
		}
		q.Remove(h, c)
	}
}

func TestFIFOServesTheOldestFirst(t *testing.T) {
	var q Queue
	q.Push(1, wire.Background, 10, 1)
	q.Push(2, wire.Critical, 30, 2)
	q.Push(3, wire.Interactive, 20, 3)
	for _, want := range []int32{1, 3, 2} {
		h, c, _ := q.Next(FIFO, everybody)
		if h != want {
			t.Fatalf("Next = %d, want %d", h, want)
		}
		q.Remove(h, c)
	}
}

func TestAClassThatMayNotStartIsPassedOver(t *testing.T) {
	var q Queue
	q.Push(1, wire.Critical, 10, 1)
	q.Push(2, wire.Background, 20, 2)
	if h, _, ok := q.Next(Strict, Allowed{false, true, true}); !ok || h != 2 {
		t.Errorf("Next = %d, %v; want 2", h, ok)
	}
	if _, _, ok := q.Next(Strict, Allowed{false, true, false}); ok {
		t.Error("Next gives a turn to a class that may not start")
	}
}

// TestOneClassIsFirstInFirstOut holds for any order of coming and going.
func TestOneClassIsFirstInFirstOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Queue
		var want []int32
		handle := int32(0)
		for range rapid.IntRange(0, 50).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "verb") {
			case 0, 1:
				q.Push(handle, wire.Interactive, clock.Instant(handle/3), uint64(handle))
				want = append(want, handle)
				handle++
			case 2:
				if len(want) == 0 {
					continue
				}
				i := rapid.IntRange(0, len(want)-1).Draw(t, "i")
				q.Remove(want[i], wire.Interactive)
				want = append(want[:i:i], want[i+1:]...)
			}
			h, _, ok := q.Next(Strict, everybody)
			if ok != (len(want) > 0) || ok && h != want[0] {
				t.Fatalf("Next = %d, %v; want %v", h, ok, want)
			}
			if q.Len() != len(want) || q.LenOf(wire.Interactive) != len(want) {
				t.Fatalf("Len = %d, want %d", q.Len(), len(want))
			}
		}
	})
}
