package breaker

import (
	"math"
	"slices"
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// remains checks how much longer the breaker stays open.
func (s *script) remains(want time.Duration) *script {
	s.t.Helper()
	if got := s.state(wire.Open).b.Remaining(s.now); got != want {
		s.t.Fatalf("at %v: open for %v more, want %v", s.now.Duration(), got, want)
	}
	return s
}

// wait passes the open time.
func (s *script) wait() *script {
	s.now = s.now.Add(s.b.Remaining(s.now))
	return s.tick().state(wire.Eligible)
}

// B17: the open time grows with each failed probe, up to its bound, and begins
// anew after every closing if nothing is asked of that.
func TestB17OpenTimeGrows(t *testing.T) {
	s := newRules(t, Config{Failures: 1, OpenFor: time.Second, OpenGrowth: 2000, OpenMax: 7 * time.Second})
	s.times(1, Failure)
	for _, want := range []time.Duration{1, 2, 4, 7, 7, 7} {
		s.remains(want*time.Second).wait().times(1, Failure)
	}
	s.wait().times(1, Success).state(wire.Closed)
	s.times(1, Failure).remains(time.Second)
}

// B17: growth lasts until the breaker has been closed for a while, and what
// opens sooner is counted as flapping.
func TestB17GrowthEndsAfterStability(t *testing.T) {
	s := newRules(t, Config{Failures: 1, OpenFor: time.Second, OpenGrowth: 3000, Stable: 10 * time.Second})
	flaps := func(want uint32) {
		t.Helper()
		if got := s.b.Flaps(); got != want {
			t.Fatalf("%d flaps, want %d", got, want)
		}
	}
	s.times(1, Failure).remains(time.Second).wait().times(1, Success)
	flaps(0)
	s.now = s.now.Add(9 * time.Second)
	s.times(1, Failure).remains(3 * time.Second)
	flaps(1)
	s.wait().times(1, Failure).remains(9 * time.Second) // a failed probe is no flap
	flaps(1)
	s.wait().times(1, Success)
	s.now = s.now.Add(10 * time.Second)
	s.times(1, Failure).remains(time.Second)
	flaps(1)
	if s.b.Trips() != 4 {
		t.Errorf("%d trips", s.b.Trips())
	}
}

func TestGrowthSaturates(t *testing.T) {
	s := newRules(t, Config{
		Failures: 1, OpenFor: time.Hour, OpenGrowth: 10_000, OpenJitter: 1000, Stable: 1,
	})
	s.b.streak = math.MaxUint8
	s.times(1, Failure).state(wire.Open)
	if at, ok := s.b.Deadline(); ok {
		t.Fatalf("deadline %v", at)
	}
}

// B17: clients that open together do not probe together, if there is a jitter:
// their moments are spread evenly above the open time, and one client's moments
// differ from trip to trip. Without one they are the same.
func TestB17ClientsDoNotProbeTogether(t *testing.T) {
	const clients = 1000
	probes := func(c Config) []time.Duration {
		var all []time.Duration
		for key := range uint64(clients) {
			s := newRules(t, c)
			s.b = New(key)
			s.times(1, Failure)
			all = append(all, s.b.Remaining(0))
		}
		slices.Sort(all)
		return all
	}
	fixed := probes(Config{Failures: 1, OpenFor: 10 * time.Second})
	if fixed[0] != 10*time.Second || fixed[clients-1] != 10*time.Second {
		t.Errorf("%v to %v without jitter", fixed[0], fixed[clients-1])
	}
	spread := probes(Config{Failures: 1, OpenFor: 10 * time.Second, OpenJitter: 500})
	for i, d := range spread { // Kolmogorov and Smirnov at 1 %: 1.63/sqrt(n)
		share := float64(d-10*time.Second) / float64(5*time.Second)
		if off := math.Abs(share - float64(i)/clients); share < 0 || share >= 1 || off > 0.052 {
			t.Fatalf("client %d of %d probes after %v", i, clients, d)
		}
	}
}

func TestB17EachTripIsDrawnAnew(t *testing.T) {
	s := newRules(t, Config{Failures: 1, OpenFor: time.Second, OpenJitter: 1000})
	seen := map[time.Duration]bool{}
	s.times(1, Failure)
	for range 50 {
		d := s.b.Remaining(s.now)
		s.tick().remains(d) // looking draws nothing
		seen[d] = true
		s.wait().times(1, Failure)
	}
	if len(seen) != 50 {
		t.Errorf("%d open times in 50 trips", len(seen))
	}
}

// B17: a Retry-After of the result that opens it keeps it open, up to the bound
// and below no open time of its own.
func TestB17OpenTimeHinted(t *testing.T) {
	for _, tc := range []struct {
		name      string
		c         Config
		notBefore clock.Instant
		want      time.Duration
	}{
		{"later", Config{OpenHint: true}, at(130), 30 * time.Second},
		{"sooner", Config{OpenHint: true}, at(103), 10 * time.Second},
		{"passed", Config{OpenHint: true}, at(1), 10 * time.Second},
		{"none", Config{OpenHint: true}, 0, 10 * time.Second},
		{"bounded", Config{OpenHint: true, OpenMax: 20 * time.Second}, at(1e6), 20 * time.Second},
		{"not honoured", Config{}, at(130), 10 * time.Second},
	} {
		tc.c.Failures = 1
		s := newRules(t, tc.c).at(100)
		s.reportCall(s.allow(), Call{Result: Failure, NotBefore: tc.notBefore})
		if got := s.b.Remaining(s.now); got != tc.want {
			t.Errorf("%s: open for %v, want %v", tc.name, got, tc.want)
		}
		hinted := s.wait().now.Add(time.Minute)
		s.reportCall(s.allow(), Call{Result: Failure, NotBefore: hinted})
		if tc.name == "later" {
			s.remains(time.Minute) // by a probe too
		}
	}
}

// The jitter is spread above a hint, too: all clients were told the same moment.
func TestB17HintIsSpread(t *testing.T) {
	s := newRules(t, Config{Failures: 1, OpenHint: true, OpenJitter: 1000}).at(0)
	s.reportCall(s.allow(), Call{Result: Failure, NotBefore: at(100)})
	if d := s.b.Remaining(0); d <= 100*time.Second || d >= 200*time.Second {
		t.Errorf("open for %v", d)
	}
}

func at(seconds float64) clock.Instant { return clock.Instant(seconds * float64(time.Second)) }
