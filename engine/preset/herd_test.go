package preset

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"herdscope/engine/backoff"
	"herdscope/engine/rng"
)

const (
	clients = 40_000
	// tolerance is in points of a hundred.
	tolerance = 1.0
)

func draw(client, retry int) uint64 {
	return rng.At(11, rng.Backoff, uint64(client), uint64(retry), 0)
}

// herd is the share of all clients, in hundredths, in the busiest 100 ms at each
// retry, if all fail together at 0, and at once at each retry.
func herd(c backoff.Config, retries int) []float64 {
	bins := make([][6000]int, retries) // ten minutes
	for client := range clients {
		var w backoff.Wait
		var at time.Duration
		for n := 1; n <= retries; n++ {
			w = c.Delay(n, w.Carry, draw(client, n))
			at += w.Delay
			bins[n-1][at/(100*ms)]++
		}
	}
	shares := make([]float64, retries)
	for i := range bins {
		shares[i] = 100 * float64(slices.Max(bins[i][:])) / clients
	}
	return shares
}

// The herd profile of each preset, from the formulas of the libraries.
func TestHerdProfiles(t *testing.T) {
	for _, tc := range []struct {
		names string
		want  []float64
	}{
		{"axios-retry failsafe-go go-retryablehttp p-retry ky resilience4j polly retry-axios " +
			"axios-interceptor axios-config-replaced failsafehttp urllib3", []float64{100, 100, 100}},
		{"axios-retry-exp", []float64{100, 94, 60}},
		{"got", []float64{100, 50}},
		{"avast-retry", []float64{100, 50, 67, 46}},
		{"tower", []float64{100, 74, 48, 25}},
		{"envoy", []float64{100, 100, 62}},
		{"aws-2026", []float64{100, 75}},
		{"aws-js-standard", []float64{100, 50}},
		{"stripe-go", []float64{100, 40}},
		{"openai-python", []float64{80, 39}},
		{"vue-safe-retry", []float64{100, 54, 28}},
		{"cockatiel-exp", []float64{62, 56, 32, 17}},
		{"axios-interceptor-factory", []float64{40, 20, 10}},
		{"cenkalti", []float64{20, 13, 9, 6}},
		{"request-scheduler", []float64{10, 10, 8}},
		{"botocore-standard", []float64{10, 5}},
		{"gax-go", []float64{10, 5, 3, 1}},
		{"ms-standard-handler", []float64{6, 5, 2}},
		{"aws-go-standard", []float64{5, 3}},
		{"axios-full-jitter", []float64{5, 3, 1, 1}},
	} {
		for _, name := range strings.Fields(tc.names) {
			got := herd(named(t, name).Backoff, len(tc.want))
			for i, want := range tc.want {
				if math.Abs(got[i]-want) > tolerance {
					t.Errorf("%s retry %d: %.1f %% in the busiest 100 ms, want %.0f %%",
						name, i+1, got[i], want)
				}
			}
		}
	}
}

func named(t *testing.T, name string) Preset {
	t.Helper()
	p, err := Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// waits is the longest delay of a herd half as large, and the share of it, in
// hundredths, that waits for exactly the cap before each retry.
func waits(c backoff.Config, retries int) (longest time.Duration, atCap []float64) {
	const clients = clients / 2
	atCap = make([]float64, retries+1)
	for client := range clients {
		var w backoff.Wait
		for n := 1; n <= retries; n++ {
			w = c.Delay(n, w.Carry, draw(client, n))
			longest = max(longest, w.Delay)
			if w.Delay == c.Cap {
				atCap[n] += 100.0 / clients
			}
		}
	}
	return longest, atCap
}

// Class 1 of cap and jitter: the cap first, then jitter downwards. Nothing is
// ever above the cap, or piles up there (N-E3, N-E4).
func TestClass1NeverPilesUpAtTheCap(t *testing.T) {
	for _, name := range []string{
		"axios-full-jitter", "aws-js-standard", "aws-2026", "botocore-standard", "gax-go", "envoy",
		"stripe-go", "openai-python",
	} {
		c := named(t, name).Backoff
		longest, atCap := waits(c, 15)
		if longest > c.Cap || longest < c.Cap/100*99 {
			t.Errorf("%s: the longest wait is %v, and the cap %v", name, longest, c.Cap)
		}
		for n, share := range atCap {
			if share >= 0.1 {
				t.Errorf("%s retry %d: %.2f %% at the cap", name, n, share)
			}
		}
	}
}

// Class 2: the cap first, then jitter around it. It is passed, by no more than
// the preset says.
func TestClass2PassesTheCap(t *testing.T) {
	failsafe := doubling(time.Second, 30*time.Second, backoff.Spread)
	failsafe.CapRule, failsafe.Amount = backoff.CapOvershoot, 500
	for _, tc := range []struct {
		name string
		c    backoff.Config
		most time.Duration
	}{
		{"failsafe-go with backoff and jitter 0.5", failsafe, 45 * time.Second},
		{"cenkalti", named(t, "cenkalti").Backoff, 90 * time.Second},
		{"grpc-go", named(t, "grpc-go").Backoff, 1200 * ms},
		{"request-scheduler", named(t, "request-scheduler").Backoff, 4 * time.Second},
		{"vue-safe-retry", named(t, "vue-safe-retry").Backoff, 3900 * ms},
	} {
		if longest, _ := waits(tc.c, 15); longest > tc.most || longest < tc.most/1000*999 {
			t.Errorf("%s: the longest wait is %v, want just below %v", tc.name, longest, tc.most)
		}
	}
}

// with is a preset's wait with a cap, and one of its library's options.
func with(t *testing.T, name string, limit time.Duration, option func(*backoff.Config)) backoff.Config {
	t.Helper()
	c := named(t, name).Backoff
	c.Cap, c.CapRule = limit, backoff.CapAfter
	option(&c)
	return c
}

// Class 3: jitter first, then the cap. Late retries all wait for exactly the
// cap (N-E4). The options are those of the libraries, with a cap of 30 s; that
// of aws-go-standard is 20 s.
func TestClass3CollapsesOntoTheCap(t *testing.T) {
	as := func(jitter backoff.Jitter, amount int64) func(*backoff.Config) {
		return func(c *backoff.Config) { c.Jitter, c.Amount = jitter, amount }
	}
	asIs := func(*backoff.Config) {}
	const limit = 30 * time.Second
	for _, tc := range []struct {
		name string
		c    backoff.Config
		want [5]float64 // at retries 5, 8, 10, 12 and 15
	}{
		{"p-retry, randomize", with(t, "p-retry", limit, as(backoff.Proportional, 1000)),
			[5]float64{13, 100, 100, 100, 100}},
		{"ky, jitter", with(t, "ky", limit, as(backoff.Full, 0)), [5]float64{0, 22, 80, 95, 99}},
		{"polly, exponential with jitter, 1 s", with(t, "polly", limit, func(c *backoff.Config) {
			c.Base, c.Jitter = time.Second, backoff.V2
		}), [5]float64{0, 89, 99, 100, 100}},
		{"cockatiel-exp, 1 s", with(t, "cockatiel-exp", limit, func(c *backoff.Config) {
			c.Base = time.Second
		}), [5]float64{0, 89, 99, 100, 100}},
		{"resilience4j, exponential random", with(t, "resilience4j", limit, func(c *backoff.Config) {
			c.Curve, c.Multiplier, c.Jitter, c.Amount = backoff.Exponential, sesqui, backoff.Spread, 500
		}), [5]float64{0, 0, 0, 80, 100}},
		{"avast-retry, MaxDelay", with(t, "avast-retry", limit, asIs), [5]float64{0, 0, 100, 100, 100}},
		{"tower", with(t, "tower", limit, asIs), [5]float64{0, 0, 82, 100, 100}},
		{"aws-go-standard", named(t, "aws-go-standard").Backoff, [5]float64{100, 100, 100, 100, 100}},
	} {
		longest, atCap := waits(tc.c, 15)
		if longest != tc.c.Cap {
			t.Errorf("%s: the longest wait is %v", tc.name, longest)
		}
		for i, n := range []int{5, 8, 10, 12, 15} {
			if math.Abs(atCap[n]-tc.want[i]) > tolerance {
				t.Errorf("%s retry %d: %.1f %% at the cap, want %.0f %%", tc.name, n, atCap[n], tc.want[i])
			}
		}
	}
}

// The waits themselves, without luck: U of 0, and the largest.
func TestWaits(t *testing.T) {
	for _, tc := range []struct {
		name        string
		least, most []time.Duration // in milliseconds
	}{
		{"axios-interceptor", []time.Duration{200, 400, 800}, []time.Duration{200, 400, 800}},
		{"axios-interceptor-factory", []time.Duration{250, 500, 1000}, []time.Duration{500, 1000, 2000}},
		{"axios-config-replaced", []time.Duration{200, 200, 200}, []time.Duration{200, 200, 200}},
		{"request-scheduler", []time.Duration{300, 600, 1200, 2400, 3000},
			[]time.Duration{1300, 1600, 2200, 3400, 4000}},
		{"axios-full-jitter", []time.Duration{0, 0, 0, 0, 0}, []time.Duration{2000, 4000, 8000, 16_000, 16_000}},
		{"vue-safe-retry", []time.Duration{300, 600, 1200, 2400, 3000},
			[]time.Duration{390, 780, 1560, 3120, 3900}},
		{"axios-retry", []time.Duration{0, 0, 0}, []time.Duration{0, 0, 0}},
		{"axios-retry-exp", []time.Duration{200, 400, 800}, []time.Duration{240, 480, 960}},
		{"retry-axios", []time.Duration{50, 150, 350}, []time.Duration{50, 150, 350}},
		{"p-retry", []time.Duration{1000, 2000, 4000}, []time.Duration{1000, 2000, 4000}},
		{"ky", []time.Duration{300, 600}, []time.Duration{300, 600}},
		{"got", []time.Duration{1000, 2000}, []time.Duration{1100, 2100}},
		{"aws-js-standard", []time.Duration{0, 0}, []time.Duration{100, 200}},
		{"go-retryablehttp", []time.Duration{1000, 2000, 4000, 8000, 16_000, 30_000},
			[]time.Duration{1000, 2000, 4000, 8000, 16_000, 30_000}},
		{"go-retryablehttp-linear", []time.Duration{1000, 2000, 3000}, []time.Duration{30_000, 60_000, 90_000}},
		{"cenkalti", []time.Duration{250, 375}, []time.Duration{750, 1125}},
		{"avast-retry", []time.Duration{100, 200, 400}, []time.Duration{200, 300, 500}},
		{"goresilience", []time.Duration{0, 0, 0}, []time.Duration{40, 80, 160}},
		{"gax-go", []time.Duration{0, 0}, []time.Duration{1000, 2000}},
		{"grpc-go", []time.Duration{80, 160, 320, 640, 800}, []time.Duration{120, 240, 480, 960, 1200}},
		{"aws-go-standard", []time.Duration{0, 0, 0, 0, 20_000},
			[]time.Duration{2000, 4000, 8000, 16_000, 20_000}},
		{"aws-2026", []time.Duration{0, 0}, []time.Duration{50, 100}},
		{"stripe-go", []time.Duration{500, 750, 1875, 3750}, []time.Duration{500, 1000, 2500, 5000}},
		{"resilience4j", []time.Duration{500, 500}, []time.Duration{500, 500}},
		{"polly", []time.Duration{2000, 2000}, []time.Duration{2000, 2000}},
		{"cockatiel-exp", []time.Duration{0}, []time.Duration{176}},
		{"ms-standard-handler", []time.Duration{0}, []time.Duration{2754}},
		{"botocore-standard", []time.Duration{0, 0}, []time.Duration{1000, 2000}},
		{"openai-python", []time.Duration{375, 750}, []time.Duration{500, 1000}},
		{"tower", []time.Duration{50, 100}, []time.Duration{99, 199}},
		{"envoy", []time.Duration{0, 0, 0, 0, 0}, []time.Duration{25, 50, 100, 200, 250}},
	} {
		c := named(t, tc.name).Backoff
		for i := range tc.least {
			least := c.Delay(i+1, 0, 0).Delay
			most := c.Delay(i+1, 0, math.MaxUint64).Delay + 1
			if least != tc.least[i]*ms || most.Truncate(ms) != tc.most[i]*ms {
				t.Errorf("%s retry %d: %v to %v, want %v to %v", tc.name, i+1, least, most,
					tc.least[i]*ms, tc.most[i]*ms)
			}
		}
	}
}
