//go:build check

package run

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/metrics"
	"herdscope/scenarios"
)

// TestMemoryIsFlat is field bug P-L7: half an hour of 2,000 requests a second,
// with outages, retries, queues and breakers, and no more memory at its end than
// after its first tenth. The counts are exact all the same.
func TestMemoryIsFlat(t *testing.T) {
	s := builtin(t, "gateway-down", "fleet.clients", "400", "arrival.kind", "poisson",
		"arrival.rate", "2000", "queue.limit", "8", "queue.interactive.deadline", "5s")
	v, err := startVirtual(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	v.hub.watch(metrics.Watch{RasterRows: 40, RasterCols: 100})
	const length = 30 * time.Minute
	early := heapAfter(t, v, length/10)
	late := heapAfter(t, v, length)
	t.Logf("heap %d KiB after a tenth, %d KiB at the end", early>>10, late>>10)
	if late > early+early/4+1<<20 {
		t.Errorf("the heap grew from %d to %d KiB", early>>10, late>>10)
	}
	last := v.hub.snapshot(v.now())
	if err := last.Check(); err != nil {
		t.Error(err)
	}
	if want := int64(length.Seconds() * 2000); last.Requests < want*98/100 || last.Requests > want*102/100 {
		t.Errorf("%d requests, want about %d", last.Requests, want)
	}
}

// heapAfter runs until an instant, with a snapshot every second as a screen
// takes it, and says how much memory is then in use.
func heapAfter(t *testing.T, v *virtual, until time.Duration) uint64 {
	t.Helper()
	for v.now() < clock.Instant(until) {
		if err := v.sim.RunUntil(v.now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		v.hub.snapshot(v.now())
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestSwarm runs every scenario of the library with many of its settings drawn at
// random, seed by seed, and holds each run against the identities. A failure
// names the seed; soakFrom is where to begin to see it again.
func TestSwarm(t *testing.T) {
	const soakFrom, runs = 1, 600
	for seed := uint64(soakFrom); seed < soakFrom+runs; seed++ {
		draw := rand.New(rand.NewPCG(seed, 0))
		library := scenarios.Library()
		s := library[draw.IntN(len(library))]
		s.Seed, s.Duration, s.Drain = seed, 20*time.Second, 5*time.Second
		changed := scramble(&s, draw)
		if s.Validate() != nil {
			continue // the draws do not agree with each other
		}
		t.Run(fmt.Sprintf("%s seed %d with %v", s.Name, seed, changed), func(t *testing.T) { checked(t, s) })
	}
}

// scramble gives about a quarter of the policy's knobs another value near the one
// they have.
func scramble(s *scenarios.Scenario, draw *rand.Rand) map[string]string {
	changed := map[string]string{}
	for _, k := range scenarios.Settings() {
		if k.Owner != scenarios.OwnerPolicy || draw.IntN(4) > 0 {
			continue
		}
		v, err := s.Value(k.Name)
		if err != nil {
			continue
		}
		v = k.Stepped(v, draw.IntN(9)-4)
		if s.SetValue(k.Name, v) == nil {
			changed[k.Name] = k.Format(v)
		}
	}
	return changed
}
