package budget

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"herdscope/engine/clock"
)

// life is random requests at one budget, with a log of its own of what should
// be counted in which slot.
type life struct {
	b     Budget
	c     Config
	now   clock.Instant
	holds []*Hold
	log   []happening
}

type happening struct {
	slot             int64
	requests, marked int64
}

func (l *life) note(requests, marked int64) {
	if w := l.c.Effective().Window; w > 0 {
		l.log = append(l.log, happening{l.now.Bin(w / slots), requests, marked})
	}
}

func (l *life) pick(t *rapid.T) *Hold {
	if len(l.holds) == 0 {
		t.Skip("no request")
	}
	return rapid.SampledFrom(l.holds).Draw(t, "request")
}

func (l *life) begin(*rapid.T) {
	h := new(Hold)
	l.b.Begin(l.now, &l.c, h)
	l.holds = append(l.holds, h)
	if l.c.Kind == Ratio || l.c.Kind == FailureShare {
		l.note(1, 0)
	}
}

func (l *life) wake(t *rapid.T) {
	if h := l.pick(t); h.phase != idle {
		l.b.Begin(l.now, &l.c, h)
	}
}

func (l *life) report(t *rapid.T) {
	h := l.pick(t)
	underWay := h.phase == first || h.phase == again
	o := Outcome(rapid.IntRange(0, int(Neutral)).Draw(t, "outcome"))
	l.b.Report(l.now, &l.c, h, o)
	accepted := l.c.Kind == SREThrottle && (o == Success || o == ClientError)
	if underWay && (accepted || l.c.Kind == FailureShare && o.failed()) {
		l.note(0, 1)
	}
}

func (l *life) take(t *rapid.T) {
	h := l.pick(t)
	why := Outcome(rapid.IntRange(0, int(Neutral)).Draw(t, "why"))
	active, retries := l.count()
	if !l.b.Take(l.now, &l.c, h, why) {
		return
	}
	if l.c.Kind == Ratio {
		l.note(0, 1)
	}
	e := l.c.Effective()
	if most := max(e.Floor/1000, e.Share*active/1000); l.c.Kind == ActiveShare && retries+1 > most {
		t.Fatalf("%d active retries, at most %d beside %d active", retries+1, most, active)
	}
}

func (l *life) admit(t *rapid.T) {
	l.b.Admit(l.now, &l.c, rapid.Uint64().Draw(t, "draw"))
	if l.c.Kind == SREThrottle {
		l.note(1, 0)
	}
}

func (l *life) drop(t *rapid.T) {
	h := l.pick(t)
	l.b.Drop(h)
	l.holds = slices.DeleteFunc(l.holds, func(other *Hold) bool { return other == h })
	l.b.Drop(h)
}

func (l *life) pass(t *rapid.T) {
	l.now = l.now.Add(time.Duration(rapid.Int64Range(0, int64(20*time.Second)).Draw(t, "pass")))
}

func (l *life) configure(t *rapid.T) {
	window := l.c.Effective().Window
	l.c = drawConfig(t, l.c.Kind)
	if l.c.Effective().Window != window {
		l.log = nil
	}
	l.b.settle(l.now, &l.c)
}

func drawConfig(t *rapid.T, kind Kind) Config {
	figure := func(name string, most int64) int64 {
		return rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(-1, most)).Draw(t, name)
	}
	return Config{
		Kind: kind, Tokens: figure("tokens", 1_000_000), Deposit: figure("deposit", 5000),
		Cost: figure("cost", 20_000), CostThrottled: figure("throttled", 20_000),
		CostTimeout: figure("timeout", 20_000), Share: figure("share", 1000),
		Floor: figure("floor", 20_000), K: figure("k", 5000),
		Window: time.Second * time.Duration(rapid.SampledFrom([]int{0, 1, 10, 60}).Draw(t, "window")),
	}
}

// count is what is active, and how many of that are retries or wait to be one.
func (l *life) count() (active, retries int64) {
	for _, h := range l.holds {
		if h.phase == first || h.phase == again {
			active++
		}
		if h.phase == sleeping || h.phase == again {
			retries++
		}
	}
	return active, retries
}

// check recounts everything by brute force.
func (l *life) check(t *rapid.T) {
	active, retries := l.count()
	if int64(l.b.active) != active || int64(l.b.retries) != retries {
		t.Fatalf("%d active, %d retries; recounted %d, %d", l.b.active, l.b.retries, active, retries)
	}
	e := l.c.Effective()
	left, full := l.b.Tokens(l.now, &l.c)
	if left < 0 || left > full || e.Tokens > 0 && full != e.Tokens {
		t.Fatalf("%v has %d of %d", l.c.Kind, left, full)
	}
	if e.Window <= 0 {
		return
	}
	var want counts
	for _, h := range l.log {
		if h.slot > l.now.Bin(e.Window/slots)-slots {
			want.requests += h.requests
			want.marked += h.marked
		}
	}
	l.b.settle(l.now, &l.c)
	if got := l.b.recent.sum(); got != want {
		t.Fatalf("%v counts %+v, recounted %+v", l.c.Kind, got, want)
	}
}

// Whatever happens, a budget lies between empty and full, its window is the sum
// of what happened in it, and nothing that requests hold is lost or given back
// twice. For active-share, no retry is granted beyond its share.
func TestBudgetsHoldTheirBounds(t *testing.T) {
	for kind := range Kind(NumKinds) {
		t.Run(kind.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				l := &life{c: drawConfig(t, kind)}
				l.b.settle(0, &l.c)
				t.Repeat(map[string]func(*rapid.T){
					"": l.check, "begin": l.begin, "begin more": l.begin, "wake": l.wake,
					"report": l.report, "report more": l.report, "take": l.take,
					"take more": l.take, "admit": l.admit, "drop": l.drop, "pass": l.pass,
					"configure": l.configure,
				})
				for _, h := range l.holds {
					l.b.Drop(h)
				}
				if l.b.active != 0 || l.b.retries != 0 {
					t.Fatalf("%d active and %d retries of no request", l.b.active, l.b.retries)
				}
			})
		})
	}
}

// cycle is a request that fails and is retried.
func cycle(b *Budget, c *Config, now clock.Instant, h *Hold) {
	b.Begin(now, c, h)
	if b.Admit(now, c, uint64(now)) {
		b.Report(now, c, h, Transient)
		if b.Take(now, c, h, Transient) {
			b.Begin(now, c, h)
			b.Report(now, c, h, Success)
		}
	}
	b.Drop(h)
}

func TestDoesNotAllocate(t *testing.T) {
	for kind := range Kind(NumKinds) {
		var b Budget
		var h Hold
		c := Config{Kind: kind}
		now := clock.Instant(0)
		if n := testing.AllocsPerRun(100, func() {
			now = now.Add(time.Second)
			cycle(&b, &c, now, &h)
			b.Tokens(now, &c)
		}); n != 0 {
			t.Errorf("%v: %v allocations per request", kind, n)
		}
	}
}

func BenchmarkRequest(b *testing.B) {
	for kind := range Kind(NumKinds) {
		b.Run(kind.String(), func(b *testing.B) {
			b.ReportAllocs()
			var budget Budget
			var h Hold
			c := Config{Kind: kind}
			for i := range b.N {
				cycle(&budget, &c, clock.Instant(i)*clock.Instant(time.Millisecond), &h)
			}
		})
	}
}
