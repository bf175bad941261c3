package breaker

import (
	"math"
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/rng"
	"herdscope/engine/wire"
)

// luck is a stream of calls of which a share fails.
type luck struct {
	n     uint64
	share uint64 // thousandths
}

func (l *luck) next() Result {
	l.n++
	if rng.Below(rng.At(1, rng.FaultHit, l.n, l.share, 0), 1000) < l.share {
		return Failure
	}
	return Success
}

// feed sends calls one after the other until the breaker is not closed or there
// have been as many as that, and says how many were sent.
func (l *luck) feed(c *Config, most int, gap time.Duration) (int, wire.BreakerState) {
	b, now := Breaker{}, clock.Instant(0)
	for n := range most {
		p, _, _ := b.Allow(now, c, nil)
		b.Report(now, c, &p, Call{Result: l.next()}, nil)
		if b.State() != wire.Closed {
			return n + 1, b.State()
		}
		now = now.Add(gap)
	}
	return most, b.State()
}

// TestMeanCallsToTrip holds the mean number of calls until k consecutive
// failures against (p^-k - 1)/(1-p). Their spread is about as large as the mean,
// so as many breakers put nearly 3 standard errors inside 2 %.
func TestMeanCallsToTrip(t *testing.T) {
	for _, tc := range []struct {
		share uint64 // thousandths
		k     int
		want  float64
	}{{500, 5, 62}, {500, 3, 14}, {300, 3, 51.48}, {300, 5, 586.5}} {
		const breakers = 20_000
		l, calls := luck{share: tc.share}, 0
		c := Config{Failures: tc.k, OpenFor: time.Second, Probes: 1, Successes: 1}
		for range breakers {
			n, _ := l.feed(&c, math.MaxInt, 0)
			calls += n
		}
		if got := float64(calls) / breakers; math.Abs(got/tc.want-1) > 0.02 {
			t.Errorf("p %d, k %d: %.2f calls, want %.2f", tc.share, tc.k, got, tc.want)
		}
	}
}

// TestFirstFullWindowTrips holds the share of breakers that trip as soon as
// there are enough calls against the binomial tail, for the windows of
// resilience4j and of Hystrix. 20,000 breakers put nearly 3 standard errors
// inside one point.
func TestFirstFullWindowTrips(t *testing.T) {
	resilience4j := Config{Window: CountWindow, WindowCalls: 100, MinCalls: 100, FailureRate: 500}
	hystrix := Config{
		Window: TimeWindow, WindowTime: 10 * time.Second, MinCalls: 20, FailureRate: 500,
	}
	for _, tc := range []struct {
		name  string
		c     Config
		calls int
		share uint64
		want  float64
	}{
		{"resilience4j", resilience4j, 100, 400, .0271},
		{"resilience4j", resilience4j, 100, 450, .183},
		{"resilience4j", resilience4j, 100, 500, .540},
		{"resilience4j", resilience4j, 100, 550, .865},
		{"hystrix", hystrix, 20, 300, .0480},
		{"hystrix", hystrix, 20, 400, .245},
		{"hystrix", hystrix, 20, 500, .588},
	} {
		const breakers = 20_000
		l, trips := luck{share: tc.share}, 0
		for range breakers {
			n, state := l.feed(&tc.c, tc.calls, 100*time.Millisecond)
			if n < tc.calls {
				t.Fatalf("%s: trips after %d calls of %d", tc.name, n, tc.calls)
			}
			if state == wire.Open {
				trips++
			}
		}
		if got := float64(trips) / breakers; math.Abs(got-tc.want) > 0.01 {
			t.Errorf("%s, p %d: %.4f trip, want %.4f", tc.name, tc.share, got, tc.want)
		}
	}
}
