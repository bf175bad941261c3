package limiter

import (
	"math"
	"math/big"
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"
)

const ms = time.Millisecond

// feed observes one sample while the whole limit is in use, and returns the
// limit after it.
func feed(l *Limiter, c *Config, rtt time.Duration) int {
	l.Observe(c, Sample{RTT: rtt, InFlight: l.Limit(c)})
	return l.Limit(c)
}

func drop(l *Limiter, c *Config) int {
	l.Observe(c, Sample{RTT: ms, InFlight: l.Limit(c), Dropped: true})
	return l.Limit(c)
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9*math.Abs(want)) {
		t.Fatalf("%s: %.15g, want %.15g", what, got, want)
	}
}

func TestFixed(t *testing.T) {
	for _, want := range []int{0, 1, 6, 1 << 20} {
		var l Limiter
		c := Config{Limit: want, Min: 30, Max: 50}
		for range 3 {
			feed(&l, &c, ms)
			drop(&l, &c)
		}
		if got := l.Limit(&c); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
	if got := new(Limiter).Limit(&Config{Limit: -3}); got != 0 {
		t.Errorf("a negative limit is %d", got)
	}
}

func TestAIMDSteps(t *testing.T) {
	var l Limiter
	c := Config{Kind: AIMD, Limit: 40}
	for i, tc := range []struct {
		s    Sample
		want int
	}{
		{Sample{RTT: ms, InFlight: 20}, 41},
		{Sample{RTT: ms, InFlight: 20}, 41}, // less than half in use
		{Sample{RTT: ms, InFlight: 21}, 42},
		{Sample{RTT: ms, Dropped: true}, 37},
		{Sample{RTT: 5 * time.Second, InFlight: 37}, 38},
		{Sample{RTT: 5*time.Second + 1, InFlight: 37}, 34},
		{Sample{RTT: ms, Dropped: true}, 30},
		{Sample{RTT: ms, Dropped: true}, 27},
		{Sample{RTT: ms, Dropped: true}, 24},
		{Sample{RTT: ms, Dropped: true}, 21},
		{Sample{RTT: ms, Dropped: true}, 20}, // 18, and the least
	} {
		l.Observe(&c, tc.s)
		if got := l.Limit(&c); got != tc.want {
			t.Fatalf("step %d: %d, want %d", i+1, got, tc.want)
		}
	}
}

// A server that drops what is beyond 100 sees a sawtooth: 101 falls to 90, and
// climbs by one.
func TestAIMDSawtooth(t *testing.T) {
	var l Limiter
	c := Config{Kind: AIMD}
	want := 20
	for i := range 1000 {
		if l.Limit(&c) != want {
			t.Fatalf("step %d: %d, want %d", i, l.Limit(&c), want)
		}
		if want > 100 {
			want = drop(&l, &c)
			if want != 90 {
				t.Fatalf("101 falls to %d", want)
			}
			continue
		}
		feed(&l, &c, ms)
		want++
	}
}

// With times that do not change, gradient2 climbs by 0.8 a step to its most.
func TestGradient2ConstantTimes(t *testing.T) {
	var l Limiter
	c := Config{Kind: Gradient2}
	want := 20.0
	for i := range 300 {
		want = min(200, 0.8*want+0.2*(want+4))
		feed(&l, &c, 30*ms)
		near(t, "limit", l.limit, want)
		if i >= 225 && l.Limit(&c) != 200 {
			t.Fatalf("step %d: %d", i+1, l.Limit(&c))
		}
	}
}

// Where every time is three times the long average, the gradient is at its
// least, and the limit falls by 10 % a step, plus 0.8, to its least.
func TestGradient2FallsToItsLeast(t *testing.T) {
	c := Config{Kind: Gradient2}
	l := Limiter{kind: Gradient2, limit: 200, samples: warmUp, long: float64(ms), jitter: 0.5}
	want := 200.0
	weight := 2.0 / 601
	for l.Limit(&c) > 20 {
		// The time that is three times the average which it has part in.
		rtt := 3 * l.long * (1 - weight) / (1 - 3*weight)
		feed(&l, &c, time.Duration(math.Ceil(rtt)))
		want = max(20, 0.9*want+0.8)
		near(t, "limit", l.limit, want)
	}
	near(t, "fixed point of the fall", 0.9*8+0.8, 8)
	feed(&l, &c, time.Hour)
	near(t, "least", l.limit, 20)
}

func TestGradient2LongTimeComesDown(t *testing.T) {
	c := Config{Kind: Gradient2}
	l := Limiter{kind: Gradient2, limit: 50, samples: warmUp, long: float64(100 * ms), jitter: 0.5}
	l.Observe(&c, Sample{RTT: 10 * ms})
	added := float64(100*ms)*(1-2.0/601) + float64(10*ms)*2/601
	near(t, "long", l.long, added*0.95)
	near(t, "limit", l.limit, 50) // nothing was in use
	l.long = float64(15 * ms)
	l.Observe(&c, Sample{RTT: 10 * ms})
	near(t, "long", l.long, float64(15*ms)*(1-2.0/601)+float64(10*ms)*2/601)
}

func TestGradient2WarmsUpPlainly(t *testing.T) {
	var l Limiter
	c := Config{Kind: Gradient2}
	for n := 1; n <= 10; n++ {
		feed(&l, &c, time.Duration(100+n)*ms)
		near(t, "long", l.long, float64(100*ms)+float64(n+1)/2*float64(ms))
	}
	feed(&l, &c, 200*ms)
	near(t, "long", l.long, 105.5e6*(1-2.0/601)+200e6*2/601)
}

// exact is gradient2 in 200 bits.
type exact struct{ limit, long, sum *big.Float }

func num(x float64) *big.Float       { return new(big.Float).SetPrec(200).SetFloat64(x) }
func ratio(a, b int64) *big.Float    { return quo(num(float64(a)), num(float64(b))) }
func add(a, b *big.Float) *big.Float { return num(0).Add(a, b) }
func mul(a, b *big.Float) *big.Float { return num(0).Mul(a, b) }
func quo(a, b *big.Float) *big.Float { return num(0).Quo(a, b) }

func clampBig(x *big.Float, lo, hi float64) *big.Float {
	if x.Cmp(num(lo)) < 0 {
		return num(lo)
	}
	if x.Cmp(num(hi)) > 0 {
		return num(hi)
	}
	return x
}

// step is the law as the reference has it, for sample n (from 1).
func (x *exact) step(e Config, n int, rtt time.Duration, inFlight int) {
	short := num(float64(rtt))
	if n <= 10 {
		x.sum = add(x.sum, short)
		x.long = quo(x.sum, num(float64(n)))
	} else {
		w := ratio(2, int64(e.LongWindow)+1)
		x.long = add(mul(x.long, add(num(1), mul(num(-1), w))), mul(short, w))
	}
	long := x.long
	if quo(long, short).Cmp(num(2)) > 0 {
		x.long = mul(x.long, ratio(95, 100))
	}
	if mul(num(2), num(float64(inFlight))).Cmp(x.limit) < 0 {
		return
	}
	g := clampBig(quo(mul(ratio(e.Tolerance, 1000), long), short), 0.5, 1)
	next := add(mul(x.limit, g), num(float64(e.Queue)))
	next = add(mul(ratio(1000-e.Smoothing, 1000), x.limit), mul(ratio(e.Smoothing, 1000), next))
	x.limit = clampBig(next, float64(e.Min), float64(e.Max))
}

func TestGradient2AgainstExactArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Config{
			Kind: Gradient2, Min: rapid.IntRange(0, 30).Draw(t, "min"),
			Smoothing: rapid.Int64Range(0, 1000).Draw(t, "smoothing"),
			Queue:     rapid.IntRange(0, 20).Draw(t, "queue"),
			Tolerance: rapid.Int64Range(0, 3000).Draw(t, "tolerance"),
		}
		var l Limiter
		twin := exact{num(float64(l.Limit(&c))), num(0), num(0)}
		rtts := rapid.SliceOfN(rapid.Int64Range(1, int64(10*time.Second)), 1, 60).Draw(t, "times")
		for i, rtt := range rtts {
			inFlight := rapid.IntRange(0, 250).Draw(t, "in flight")
			if i > 0 && math.Abs(float64(2*inFlight)-l.limit) < 1e-6 {
				inFlight++ // or an error in the last bit would decide
			}
			l.Observe(&c, Sample{RTT: time.Duration(rtt), InFlight: inFlight})
			twin.step(c.Effective(), i+1, time.Duration(rtt), inFlight)
			want, _ := twin.limit.Float64()
			if math.Abs(l.limit-want) > 1e-9*want {
				t.Fatalf("sample %d: %.15g, exactly %.15g", i+1, l.limit, want)
			}
		}
	})
}

func TestVegasSteps(t *testing.T) {
	c := Config{Kind: Vegas}
	for name, tc := range map[string]struct {
		limit float64
		s     Sample
		want  float64
	}{
		"no queue":             {20, Sample{RTT: 100 * ms, InFlight: 20}, 26},
		"queue of 1":           {20, Sample{RTT: 105 * ms, InFlight: 20}, 26},
		"queue of 2":           {20, Sample{RTT: 110 * ms, InFlight: 20}, 21},
		"queue of 3":           {20, Sample{RTT: 115 * ms, InFlight: 20}, 20},
		"queue of 6":           {20, Sample{RTT: 140 * ms, InFlight: 20}, 20},
		"queue of 7":           {20, Sample{RTT: 150 * ms, InFlight: 20}, 19},
		"dropped":              {20, Sample{RTT: 100 * ms, Dropped: true}, 19},
		"not in use":           {20, Sample{RTT: 100 * ms, InFlight: 9}, 20},
		"half in use":          {20, Sample{RTT: 100 * ms, InFlight: 10}, 26},
		"three digits":         {500, Sample{RTT: 100 * ms, InFlight: 500}, 512},
		"three digits, slower": {500, Sample{RTT: 200 * ms, InFlight: 500}, 498},
		"most":                 {999, Sample{RTT: 100 * ms, InFlight: 999}, 1000},
		"four digits":          {1000, Sample{RTT: 200 * ms, InFlight: 1000}, 997},
		"least":                {1, Sample{RTT: 100 * ms, Dropped: true}, 1},
		"a better time":        {20, Sample{RTT: 99 * ms, Dropped: true}, 20},
	} {
		l := Limiter{kind: Vegas, limit: tc.limit, best: float64(100 * ms), jitter: 1}
		l.Observe(&c, tc.s)
		if l.limit != tc.want {
			t.Errorf("%s: %v, want %v", name, l.limit, tc.want)
		}
		if want := min(float64(tc.s.RTT), float64(100*ms)); l.best != want {
			t.Errorf("%s: best %v, want %v", name, l.best, want)
		}
	}
}

func TestVegasSmoothing(t *testing.T) {
	c := Config{Kind: Vegas, Smoothing: 300}
	l := Limiter{kind: Vegas, limit: 20, best: float64(100 * ms), jitter: 1}
	feed(&l, &c, 100*ms)
	near(t, "limit", l.limit, 20*0.7+26*0.3)
	l.limit = 999
	feed(&l, &c, 100*ms)
	near(t, "limit", l.limit, 999*0.7+1000*0.3) // bounded first, smoothed then
}

// After between 15 and 30 limits of samples, by the draw, the next one becomes
// the best time, however slow.
func TestVegasMeasuresAnew(t *testing.T) {
	for draw, want := range map[uint64]int{0: 300, 1 << 63: 450, math.MaxUint64: 600} {
		var l Limiter
		c := Config{Kind: Vegas, Max: 20}
		for i := 1; ; i++ {
			rtt := 101 * ms
			if i == 1 {
				rtt = 100 * ms
			}
			l.Observe(&c, Sample{RTT: rtt, Draw: draw})
			if l.best == float64(101*ms) {
				if i != want || l.samples != 0 {
					t.Errorf("draw %x: sample %d, want %d", draw, i, want)
				}
				break
			}
			if i > want {
				t.Fatalf("draw %x: nothing measured in %d samples", draw, i)
			}
		}
	}
}

// Whatever it is told and however the configuration changes, a limit that moves
// is within its bounds.
func TestLimitsHoldTheirBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l Limiter
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			c := Config{
				Kind: Kind(rapid.IntRange(0, NumKinds-1).Draw(t, "kind")),
				Min:  rapid.IntRange(-1, 50).Draw(t, "min"), Max: rapid.IntRange(-1, 300).Draw(t, "max"),
				Limit:     rapid.IntRange(-1, 100).Draw(t, "limit"),
				Smoothing: rapid.Int64Range(-1, 2000).Draw(t, "smoothing"),
				Backoff:   rapid.Int64Range(-1, 2000).Draw(t, "backoff"),
			}
			for range rapid.IntRange(0, 20).Draw(t, "samples") {
				l.Observe(&c, Sample{
					RTT:      time.Duration(rapid.Int64Range(-1, math.MaxInt64).Draw(t, "rtt")),
					InFlight: rapid.IntRange(0, 1000).Draw(t, "in flight"),
					Dropped:  rapid.Bool().Draw(t, "dropped"), Draw: rapid.Uint64().Draw(t, "draw"),
				})
			}
			e, got := c.Effective(), l.Limit(&c)
			if e.Kind == Fixed && got != e.Limit || e.Kind != Fixed && (got < e.Min || got > e.Max || got < 1) {
				t.Fatalf("%+v gives %d", c, got)
			}
			if math.IsNaN(l.limit) || math.IsNaN(l.long) {
				t.Fatalf("%+v", l)
			}
		}
	})
}

func TestConfigurationChanges(t *testing.T) {
	var l Limiter
	c := Config{Kind: Gradient2}
	for range 300 {
		feed(&l, &c, ms)
	}
	c.Max = 50
	if got := l.Limit(&c); got != 50 {
		t.Errorf("a lower bound gives %d", got)
	}
	c.Max = 0
	if got := l.Limit(&c); got != 200 {
		t.Errorf("bounds that come and go without a sample leave %d", got)
	}
	c.Kind = AIMD
	if got := l.Limit(&c); got != 20 {
		t.Errorf("another kind begins at %d", got)
	}
	if got := feed(&l, &c, ms); got != 21 {
		t.Errorf("and goes on at %d", got)
	}
	if got := new(Limiter).Limit(&Config{Kind: Vegas, Limit: 6, Max: 4}); got != 4 {
		t.Errorf("beyond the most: begins at %d", got)
	}
}

func TestNames(t *testing.T) {
	for k, want := range []string{"fixed", "aimd", "gradient2", "vegas"} {
		if Kind(k).String() != want || KindNames()[k] != want {
			t.Errorf("kind %d is called %q", k, Kind(k))
		}
	}
	if got := Kind(99).String(); got != "unknown(99)" || len(KindNames()) != NumKinds {
		t.Error(got)
	}
	if got := (Config{Kind: 99, Limit: 3, Max: 9}).Effective(); got != (Config{Limit: 3}) {
		t.Errorf("an unknown kind is %+v", got)
	}
}

func TestSize(t *testing.T) {
	if size := unsafe.Sizeof(Limiter{}); size > 48 {
		t.Errorf("a Limiter has %d bytes; a fleet holds thousands", size)
	}
}

func TestDoesNotAllocate(t *testing.T) {
	for kind := range Kind(NumKinds) {
		var l Limiter
		c := Config{Kind: kind}
		if n := testing.AllocsPerRun(100, func() { feed(&l, &c, ms); drop(&l, &c) }); n != 0 {
			t.Errorf("%v: %v allocations per sample", kind, n)
		}
	}
}

func BenchmarkObserve(b *testing.B) {
	for kind := range Kind(NumKinds) {
		b.Run(kind.String(), func(b *testing.B) {
			b.ReportAllocs()
			var l Limiter
			c := Config{Kind: kind}
			for i := range b.N {
				l.Observe(&c, Sample{RTT: ms + time.Duration(i%1000), InFlight: 200})
			}
		})
	}
}
