package fault

import (
	"math"
	"testing"
	"time"

	"herdscope/engine/rng"
	"herdscope/engine/wire"
)

// latencyAt is how long the last of n attempts takes that are in flight at once.
func latencyAt(t *testing.T, service Service, n int) time.Duration {
	server := mustNew(t, Config{Service: service})
	for i := range n {
		server.Step(0, arrival(get(i, 1, 1)), nil)
	}
	at, _ := server.due.At(int32(n - 1))
	return at.Duration()
}

// The two points are those of a page that loads everything at once.
func TestSlowDownTakes600msAt6And1200msAt20(t *testing.T) {
	service := Service{Mean: 342_857_142, PerInFlight: 42_857_143}
	for n, want := range map[int]time.Duration{6: 600 * ms, 20: 1200 * ms} {
		if got := latencyAt(t, service, n).Round(time.Microsecond); got != want {
			t.Errorf("at %d in flight: %v, want %v", n, got, want)
		}
	}
}

// A closed loop keeps as many in flight as it has callers.
func TestSlowDownOfAClosedLoop(t *testing.T) {
	service := Service{Mean: 342_857_142, PerInFlight: 42_857_143}
	for n, want := range map[int]time.Duration{6: 600 * ms, 20: 1200 * ms} {
		x := newScript(t, Config{Service: service})
		for i := range n {
			x.arrive(time.Duration(i)*ms, get(i, 1, 1))
		}
		for request := 2; request < 5; request++ {
			for range n {
				next, _ := x.s.Deadline()
				x.step(next.Duration(), wire.ServerInput{})
				x.arrive(next.Duration(), get(int(x.buf[0].ID.Client), request, 1))
			}
		}
		for _, e := range x.events[len(x.events)-n:] {
			if e.Kind == wire.ServerDone && e.Delay.Round(time.Microsecond) != want {
				t.Errorf("%d callers: %v took %v, want %v", n, e.ID, e.Delay, want)
			}
		}
	}
}

// shapes are service times with a mean of 1 s, and the mean of what is left of
// one that is met at a random moment: E[X^2] / (2 E[X]).
var shapes = []struct {
	name    string
	service Service
	rest    float64
}{
	{"fixed", Service{Mean: s}, 0.5},
	{"exponential", Service{Shape: ExponentialShape, Mean: s}, 1},
	{"lognormal", Service{Shape: LognormalShape, Mean: s, Sigma: 500}, math.Exp(0.25) / 2},
	// Least time (a-1)/a, E[X^2] = least^2 a/(a-2).
	{"pareto", Service{Shape: ParetoShape, Mean: s, Alpha: 6000}, 25. / 36 * 6 / 4 / 2},
	{"uniform", Service{Shape: UniformShape, Mean: s, Spread: 800}, (1 + 0.64/3) / 2},
	// Two pieces as likely: [0, 0.5] and [0.5, 2.5], with E[X^2] 1/12 and 31/12.
	{"empirical", Service{Shape: EmpiricalShape, Quantiles: []time.Duration{0, 500 * ms, 2500 * ms}},
		(1./12 + 31./12) / 2 / (2 * 0.875)},
	// X and 1 s more: E[X^2] = 1 + 2 + 2.
	{"with others in flight", Service{Shape: ExponentialShape, Mean: s, PerInFlight: s}, 5. / 4},
}

func TestWarmAttemptsHaveTheRestOfEveryShape(t *testing.T) {
	const n = 200_000
	for _, c := range shapes {
		t.Run(c.name, func(t *testing.T) {
			server := mustNew(t, Config{Service: c.service})
			server.pools[0].serving = 1 // so that PerInFlight counts once for each
			rests := make([]float64, n)
			for i := range rests {
				j := job{attempt: get(i, 1, 1)}
				j.attempt.Warm = true
				rests[i] = server.serviceTime(&j).Seconds()
			}
			agree(t, "mean rest", rests, c.rest)
		})
	}
}

func TestShapesHaveTheirMean(t *testing.T) {
	const n = 300_000
	for _, c := range shapes {
		t.Run(c.name, func(t *testing.T) {
			times := make([]float64, n)
			for i := range times {
				times[i] = c.service.whole(rng.At(closedFormSeed, rng.ServiceTime, uint64(i), 1, 1)).Seconds()
			}
			agree(t, "mean", times, c.service.mean().Seconds())
		})
	}
}

func TestQuantilesAreMet(t *testing.T) {
	c := Service{Shape: EmpiricalShape, Quantiles: []time.Duration{10 * ms, 20 * ms, 20 * ms, 100 * ms, s}}
	for share, want := range map[float64]time.Duration{
		0: 10 * ms, 0.25: 20 * ms, 0.375: 20 * ms, 0.5: 20 * ms, 0.625: 60 * ms, 0.75: 100 * ms,
	} {
		if got := c.whole(uint64(share * (1 << 64))); got != want {
			t.Errorf("the quantile of %g is %v, want %v", share, got, want)
		}
	}
	if got := c.whole(math.MaxUint64); got != s-1 {
		t.Errorf("the greatest draw gives %v", got)
	}
	one := Service{Shape: EmpiricalShape, Quantiles: []time.Duration{30 * ms}}
	if one.whole(7) != 30*ms || one.mean() != 30*ms || one.rest(0, 1<<63) != 15*ms {
		t.Error("one quantile is not the fixed time")
	}
	if none := (Service{Shape: EmpiricalShape, Mean: s}); none.whole(7) != s {
		t.Error("without quantiles it is not the mean")
	}
}

func TestColdStartRampsAfterAnOutage(t *testing.T) {
	for _, how := range []Manner{ByReset, ByRefusing, ByFreezing} {
		t.Run(how.String(), func(t *testing.T) {
			x := newScript(t, Config{
				Service:   Service{Mean: 100 * ms},
				ColdStart: ColdStart{Share: 200, Time: 8 * s},
				Faults: []Fault{
					{Name: "down", Kind: Outage, Start: s, Length: s, How: how, Share: Always},
				},
			})
			for _, c := range []struct{ at, want time.Duration }{
				{500 * ms, 100 * ms}, // it starts warm
				{2 * s, 500 * ms},    // a fifth of the capacity
				{5 * s, 200 * ms},    // 0.2 + 0.8 * 3/8 = 0.5
				{10*s - 1, 100 * ms}, {11 * s, 100 * ms},
			} {
				x.to(c.at)
				x.arrive(c.at, get(1, int(c.at/ms), 1))
				end, _ := x.s.Deadline()
				if got := (end.Duration() - c.at).Round(time.Microsecond); got != c.want {
					t.Errorf("at %v: %v, want %v", c.at, got, c.want)
				}
				x.to(end.Duration())
			}
		})
	}
}

func TestColdStartIsThatOfTheServiceThatWasAway(t *testing.T) {
	c := twoBackends()
	c.ColdStart = ColdStart{Share: 100, Time: 10 * s}
	c.Faults = []Fault{{
		Name: "down", Kind: Outage, Start: 0, Length: s, Share: Always, Match: Match{Service: "pay"},
	}}
	x := newScript(t, c)
	x.to(s)
	for route := range uint8(2) {
		x.arrive(2*s, on(route, get(int(route), 1, 1)))
	}
	x.log.Reset()
	x.to(10 * s)
	x.want( // 0.1 + 0.9/10 = 0.19 of the capacity after one second
		"2.1s   reply c0000/1#1 200",
		"2.1s   server_done c0000/1#1 delay=100ms status=200",
		"2.157894736s reply c0001/1#1 200",
		"2.157894736s server_done c0001/1#1 delay=157.894736ms status=200",
	)
}

// With one worker that serves 10 a second and turns one away in 10 ms, of 50
// arrivals a second x are served with x/10 + (50-x)/100 = 1.
func TestRejectionsTakeFromTheGoodput(t *testing.T) {
	config := Config{
		Workers: 1, Backlog: 10, RejectionCost: 100,
		Service: Service{Shape: ExponentialShape, Mean: s},
	}
	served := make([]float64, 0, 200_000)
	queueRun(t, config, 5, cap(served), 0, func(e *wire.Event) {
		switch {
		case e.Kind == wire.ServerDone:
			served = append(served, 1)
		case e.Kind == wire.ServerRejected:
			served = append(served, 0)
		}
	})
	want := (1/1. - 5*0.1) / (1 - 0.1) / 5
	agree(t, "share served", served, want)
}
