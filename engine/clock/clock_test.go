package clock

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestInstantSaturates(t *testing.T) {
	tests := []struct {
		at   Instant
		d    time.Duration
		want Instant
	}{
		{0, time.Second, Instant(time.Second)},
		{Never, 1, Never},
		{Never - 1, math.MaxInt64, Never},
		{math.MinInt64 + 1, -2, math.MinInt64},
		{5, -3, 2},
	}
	for _, tt := range tests {
		if got := tt.at.Add(tt.d); got != tt.want {
			t.Errorf("%d.Add(%d) = %d, want %d", tt.at, tt.d, got, tt.want)
		}
	}
	if got := Never.Sub(-1); got != math.MaxInt64 {
		t.Errorf("Never.Sub(-1) = %d, want the longest duration", got)
	}
	if got := Instant(math.MinInt64).Sub(1); got != math.MinInt64 {
		t.Errorf("earliest.Sub(1) = %d, want the shortest duration", got)
	}
}

func TestBinsBeforeTheRunAreNegative(t *testing.T) {
	for at, want := range map[Instant]int64{-1: -1, 0: 0, 99: 0, 100: 1, -100: -1, -101: -2} {
		if got := at.Bin(100); got != want {
			t.Errorf("%d.Bin(100) = %d, want %d", at, got, want)
		}
	}
}

// TestQueueIsAStableSort compares the queue with a stable sort.
func TestQueueIsAStableSort(t *testing.T) {
	type value struct {
		at Instant
		n  int
	}
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOf(rapid.IntRange(0, 5)).Draw(t, "times")
		var q Queue[int]
		var want []value
		for n, at := range times {
			q.Push(Instant(at), n)
			want = append(want, value{Instant(at), n})
		}
		slices.SortStableFunc(want, func(a, b value) int { return int(a.at - b.at) })
		for _, w := range want {
			peek, _ := q.Peek()
			at, n, ok := q.Pop()
			if !ok || at != w.at || n != w.n || peek != at {
				t.Fatalf("Pop = %d, %d, %v after Peek = %d, want %d, %d", at, n, ok, peek, w.at, w.n)
			}
		}
		if _, _, ok := q.Pop(); ok {
			t.Fatal("Pop of an empty queue is ok")
		}
	})
}

// TestIndexIsATable compares the index with a plain table.
func TestIndexIsATable(t *testing.T) {
	type entry struct {
		at    Instant
		order int
	}
	rapid.Check(t, func(t *rapid.T) {
		var x Index
		table := map[int32]entry{}
		for step := range rapid.IntRange(1, 60).Draw(t, "steps") {
			key := rapid.Int32Range(0, 9).Draw(t, "key")
			if rapid.Bool().Draw(t, "clear") {
				x.Clear(key)
				delete(table, key)
			} else {
				at := Instant(rapid.IntRange(0, 4).Draw(t, "at"))
				x.Set(key, at)
				if old, ok := table[key]; !ok || old.at != at {
					table[key] = entry{at, step}
				}
			}
			want, found := int32(-1), false
			for k, e := range table {
				first := table[want]
				if !found || e.at < first.at || e.at == first.at && e.order < first.order {
					want, found = k, true
				}
			}
			if got, at, ok := x.Min(); got != want || ok != found || found && at != table[want].at {
				t.Fatalf("Min = %d at %d, %v; want %d, %v", got, at, ok, want, found)
			}
			if x.Len() != len(table) {
				t.Fatalf("Len = %d, want %d", x.Len(), len(table))
			}
		}
	})
}

func TestQueueAndIndexDoNotAllocate(t *testing.T) {
	var q Queue[[4]int64]
	var x Index
	round := func() {
		for i := range int32(1000) {
			at := Instant(i * 7919 % 1009)
			q.Push(at, [4]int64{int64(i)})
			x.Set(i, at)
		}
		for range 1000 {
			q.Pop()
			key, _, _ := x.Min()
			x.Clear(key)
		}
	}
	round()
	if n := testing.AllocsPerRun(10, round); n != 0 {
		t.Errorf("%v allocations in a round of 1000 pushes and pops", n)
	}
}

func BenchmarkQueue(b *testing.B) {
	var q Queue[[16]int64]
	for i := range 10_000 {
		q.Push(Instant(i*7919%100_003), [16]int64{})
	}
	b.ReportAllocs()
	for b.Loop() {
		at, v, _ := q.Pop()
		q.Push(at+Instant(v[0]%1000+1), v)
	}
}
