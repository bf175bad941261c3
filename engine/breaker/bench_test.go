package breaker

import (
	"testing"
	"time"

	"herdscope/engine/clock"
)

// kinds is a breaker of each kind, none of which opens while one call in ten
// fails.
var kinds = []struct {
	name string
	c    Config
}{
	{"off", Config{}},
	{"consecutive", Config{Failures: 5}},
	{"n of m", Config{WindowCalls: 20, WindowFailures: 10}},
	{"count window 100", Config{WindowCalls: 100, FailureRate: 500}},
	{"count window 10000", Config{WindowCalls: 10_000, FailureRate: 500}},
	{"time window", Config{Window: TimeWindow, FailureRate: 500}},
	{"time window slow", Config{
		Window: TimeWindow, FailureRate: 500, SlowRate: 500, SlowAfter: time.Second, SlowInFlight: true,
	}},
	{"metrics only", Config{Mode: MetricsOnly, WindowCalls: 100, FailureRate: 500}},
}

// call is a call that begins at now and lasts 10 ms; one in ten fails.
func call(b *Breaker, c *Config, now clock.Instant, out []Change) []Change {
	p, _, out := b.Allow(now, c, out)
	result := Success
	if int64(now)/int64(time.Millisecond)%10 == 0 {
		result = Failure
	}
	const took = 10 * time.Millisecond
	return b.Report(now.Add(took), c, &p, Call{Result: result, Took: took}, out)
}

// cycle opens a breaker, waits, and closes it by a probe.
func cycle(b *Breaker, c *Config, now clock.Instant, out []Change) (clock.Instant, []Change) {
	for len(out) == 0 {
		var p Permit
		p, _, out = b.Allow(now, c, out)
		out = b.Report(now, c, &p, Call{Result: Failure}, out)
	}
	at, _ := b.Deadline()
	p, _, out := b.Allow(at, c, out)
	return at, b.Report(at, c, &p, Call{Result: Success}, out)
}

func TestDoesNotAllocate(t *testing.T) {
	for _, kind := range kinds {
		var b Breaker
		now, out := clock.Instant(0), make([]Change, 0, 8)
		round := func() {
			for range 1000 {
				now = now.Add(37 * time.Millisecond)
				call(&b, &kind.c, now, out[:0])
			}
			if kind.c.On() {
				now, _ = cycle(&b, &kind.c, now, out[:0])
			}
		}
		round()
		if n := testing.AllocsPerRun(100, round); n != 0 {
			t.Errorf("%s: %v allocations in 1000 calls and a cycle", kind.name, n)
		}
	}
}

// BenchmarkCall is Allow and Report of one call through a closed breaker.
func BenchmarkCall(b *testing.B) {
	for _, kind := range kinds {
		b.Run(kind.name, func(b *testing.B) {
			b.ReportAllocs()
			var br Breaker
			out := make([]Change, 0, 8)
			now := clock.Instant(0)
			for b.Loop() {
				now = now.Add(time.Millisecond)
				call(&br, &kind.c, now, out[:0])
			}
		})
	}
}

// BenchmarkCycle is a whole way through open, eligible, half-open and closed.
func BenchmarkCycle(b *testing.B) {
	b.ReportAllocs()
	var br Breaker
	c := Config{Failures: 3, OpenFor: time.Second, OpenGrowth: 2000, OpenMax: time.Hour, OpenJitter: 200}
	out := make([]Change, 0, 8)
	now := clock.Instant(0)
	for b.Loop() {
		now, _ = cycle(&br, &c, now, out[:0])
	}
}
