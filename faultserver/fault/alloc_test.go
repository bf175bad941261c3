package fault

import (
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// busyConfig has a bit of everything: waiting, rejections, hints, outages.
func busyConfig() Config {
	return Config{
		Workers: 8,
		Backlog: 50,
		Service: Service{Shape: ExponentialShape, Mean: 8 * ms},
		Limit:   RateLimit{Rate: 1_200_000, Burst: 20, Form: wire.HintIMFDate, Fields: true, Jitter: 100},
		Effects: Effects{Idempotency: true, TTL: 100 * ms},
		Faults: []Fault{
			{Name: "down", Kind: Outage, Start: s, Length: 200 * ms, Every: 5 * s},
			{Name: "burst", Kind: Errors, Start: 2 * s, Length: s, Every: 5 * s, Status: 503, Share: 300_000},
			{Name: "newcomers", Kind: Errors, Start: 1 * s, Length: s, Every: 6 * s, Status: 500, Share: Always,
				Count: Count{First: 1, PerClient: true}},
			{Name: "drip", Kind: Drip, Start: 0, Length: 0, Share: 50_000, Unit: PerConnection, Over: ms},
			{Name: "idle", Kind: IdleClose, After: 500 * ms, Race: ms},
			{Name: "cut", Kind: CapacityCut, Start: 3 * s, Length: s, Every: 8 * s, Left: 300},
			{Name: "frozen", Kind: Outage, How: ByFreezing, Start: 5 * s, Length: 50 * ms, Every: 6 * s},
			{Name: "slow", Kind: Latency, Share: Always, Start: 3 * s, Length: s, Every: 7 * s, Added: 10 * ms},
			{Name: "quota", Kind: Quota, Start: 4 * s, Length: 4 * s, Every: 9 * s,
				Limit: RateLimit{Rate: 500, Law: SlidingWindow, Per: PerClient, Window: 2 * s,
					Concurrent: 3, Form: wire.HintGarbage}},
		},
	}
}

// load is a driver without an allocation of its own: 1,000 clients that send
// 1,000 attempts a second, and leave some.
type load struct {
	s   *Server
	now clock.Instant
	i   int
	out []wire.ServerEffect
}

func (l *load) step() {
	l.i++
	in := arrival(get(l.i%1000, l.i/3000+1, l.i/1000%3+1))
	in.Attempt.Route, in.Attempt.Class = uint8(l.i%3), wire.Class(l.i%wire.NumClasses)
	if l.i%2 == 0 {
		in.Attempt.Method = wire.Post
		in.Attempt.Key = uint64(l.i % 800)
	}
	if l.i%10 == 9 {
		in.Kind = wire.ServerLeave
		in.Attempt.ID.Client--
	}
	l.now = l.now.Add(time.Millisecond)
	l.out = l.s.Step(l.now, in, l.out[:0])
}

func TestStepDoesNotAllocate(t *testing.T) {
	l := load{s: mustNew(t, busyConfig()), out: make([]wire.ServerEffect, 0, 1024)}
	for range 100_000 {
		l.step()
	}
	allocs := testing.AllocsPerRun(5, func() {
		for range 10_000 {
			l.step()
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations in 10,000 steps, want 0", allocs)
	}
	for i := range busyConfig().Faults {
		if l.s.Hits(i) == 0 {
			t.Errorf("fault %d hit nothing: the load does not reach it", i)
		}
	}
}

func TestSameSeedSameEffects(t *testing.T) {
	a, b := load{s: mustNew(t, busyConfig())}, load{s: mustNew(t, busyConfig())}
	for range 20_000 {
		a.step()
		b.step()
		if len(a.out) != len(b.out) {
			t.Fatalf("at %v: %d effects and %d", a.now, len(a.out), len(b.out))
		}
		for i := range a.out {
			if a.out[i] != b.out[i] {
				t.Fatalf("at %v: %+v and %+v", a.now, a.out[i], b.out[i])
			}
		}
	}
}

func BenchmarkStep(b *testing.B) {
	l := load{s: mustNew(b, busyConfig()), out: make([]wire.ServerEffect, 0, 1024)}
	b.ReportAllocs()
	for b.Loop() {
		l.step()
	}
}
