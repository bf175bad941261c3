package scenarios

import (
	"slices"
	"strings"
	"testing"
	"time"

	"herdscope/engine/fleet"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

func TestLibraryIsInOrder(t *testing.T) {
	var names []string
	for _, s := range Library() {
		names = append(names, s.Name)
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if s.Title == "" || strings.Count(s.Story, ".") < 2 {
			t.Errorf("%s: title %q, story %q: a stranger learns nothing", s.Name, s.Title, s.Story)
		}
	}
	want := []string{"restart", "rate-limit", "gateway-down", "starvation"}
	if !slices.Equal(names, want) {
		t.Errorf("Library() = %v, want %v", names, want)
	}
}

// TestLibraryFilesAreAllOffered guards against a file that nobody can reach.
func TestLibraryFilesAreAllOffered(t *testing.T) {
	entries, err := libraryFiles.ReadDir("library")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), ".yaml"); !slices.Contains(libraryNames, name) {
			t.Errorf("library/%s is not in libraryNames", e.Name())
		}
	}
}

// TestTroubleStartsSoonAndRepeats: a stranger who opens the dashboard sees
// something happen, again and again.
func TestTroubleStartsSoonAndRepeats(t *testing.T) {
	for _, s := range Library() {
		f := s.Server.Faults[0]
		if f.Start > 6*time.Second || f.Every == 0 || f.Manual {
			t.Errorf("%s: fault starts at %v, every %v", s.Name, f.Start, f.Every)
		}
		if rest := f.Every - f.Length; rest < 8*time.Second {
			t.Errorf("%s: only %v of calm between two faults", s.Name, rest)
		}
		if s.Duration < f.Start+f.Length+8*time.Second {
			t.Errorf("%s: a headless run ends at %v, before it has recovered", s.Name, s.Duration)
		}
	}
}

// TestRestartWavesKeepAwayFromEdges follows a request that is reset at an edge,
// with any number of tries behind it, through its retries: a wave that came close
// to an edge of an outage would be cut in two by a live run's jitter.
func TestRestartWavesKeepAwayFromEdges(t *testing.T) {
	s := builtin(t, "restart")
	f := s.Server.Faults[0]
	for tries := 1; tries < s.Fleet.Policy.Retry.Attempts; tries++ {
		at := f.Start
		for try := tries; try < s.Fleet.Policy.Retry.Attempts; try++ {
			at += plainDelay(s, try)
			since := (at - f.Start) % f.Every
			for _, edge := range []time.Duration{0, f.Length, f.Every} {
				if d := (since - edge).Abs(); d <= 200*time.Millisecond {
					t.Errorf("reset on try %d: retry %d at %v is %v from an edge", tries, try, at, d)
				}
			}
			if since > f.Length {
				break // accepted
			}
		}
	}
}

// plainDelay is the wait after the given try without jitter, written out from
// the definition of the exponential curve.
func plainDelay(s Scenario, try int) time.Duration {
	b := s.Fleet.Policy.Retry.Backoff
	delay := b.Base
	for range try - 1 {
		delay = delay * time.Duration(b.Multiplier) / 1000
	}
	return min(delay, b.Cap)
}

func TestRestartIsAsSpecified(t *testing.T) {
	s := builtin(t, "restart")
	checkValues(t, s, map[string]string{
		"fleet.clients": "1000", "arrival.kind": "closed", "arrival.think": "0s",
		"arrival.held": "1", "server.service.shape": "exponential",
		"server.service.mean": "5s", "server.workers": "unlimited", "retry.attempts": "6",
		"retry.curve": "exponential", "retry.base": "1.2s", "retry.multiplier": "2",
		"retry.cap": "10s", "retry.jitter": "none", "breaker.failures": "off",
	})
	want := fault.Fault{
		Name: "restart", Kind: fault.Outage,
		Start: 5 * time.Second, Length: 3 * time.Second, Every: 25 * time.Second,
	}
	if s.Server.Faults[0] != want {
		t.Errorf("fault = %+v, want %+v", s.Server.Faults[0], want)
	}
}

// TestRateLimitHasTriesEnough: who is turned away at the start of the window is
// sent back once a second, and must have a try left when it ends.
func TestRateLimitHasTriesEnough(t *testing.T) {
	s := builtin(t, "rate-limit")
	f := s.Server.Faults[0]
	rejections := int(f.Length/time.Second) + 2
	if s.Fleet.Policy.Retry.Attempts <= rejections {
		t.Errorf("%d attempts, %d rejections possible", s.Fleet.Policy.Retry.Attempts, rejections)
	}
	if f.Limit.Form != wire.HintIMFDate || f.Limit.Rate >= s.Fleet.Arrival.Rate {
		t.Errorf("limit %+v against %d: no herd", f.Limit, s.Fleet.Arrival.Rate)
	}
	checkValues(t, s, map[string]string{
		"arrival.kind": "poisson", "retry.retry_after": "on", "retry.retry_after_jitter": "0",
	})
}

func TestGatewayDownCloses(t *testing.T) {
	s := builtin(t, "gateway-down")
	checkValues(t, s, map[string]string{
		"breaker.failures": "5", "breaker.open_for": "10s", "breaker.probes": "1",
	})
	f := s.Server.Faults[0]
	closed := f.Start + f.Length + s.Fleet.Policy.Breaker.OpenFor + 5*s.Fleet.Arrival.Think
	if f.Length != 30*time.Second || s.Duration < closed || f.Start+f.Every < closed {
		t.Errorf("outage of %v, closed by %v, run of %v", f.Length, closed, s.Duration)
	}
}

// TestStarvationLoads: with the fault, critical alone fits and all together do
// not; without it, the backlog is gone before the next one.
func TestStarvationLoads(t *testing.T) {
	s := builtin(t, "starvation")
	f := s.Server.Faults[0]
	slots := float64(s.Fleet.Clients * s.Fleet.Policy.Queue.Limit)
	slow := slots / (s.Server.Service.Mean + f.Added).Seconds()
	fast := slots / s.Server.Service.Mean.Seconds()
	all := float64(s.Fleet.Arrival.Rate) / 1000
	mix := s.Fleet.Mix
	critical := all * float64(mix[wire.Critical].Weight) /
		float64(mix[wire.Critical].Weight+mix[wire.Background].Weight)
	if critical < 0.75*slow || critical > 0.9*slow || all < 1.2*slow {
		t.Errorf("critical %.0f/s of all %.0f/s against %.0f/s", critical, all, slow)
	}
	drained := (all - slow) * f.Length.Seconds() / (fast - all)
	if drained > (f.Every-f.Length).Seconds()/2 {
		t.Errorf("the backlog takes %.1f s to drain", drained)
	}
	if s.Fleet.Arrival.Kind != fleet.Poisson || mix[wire.Critical].Scope != mix[wire.Background].Scope {
		t.Error("the classes do not share slots in an open loop")
	}
}

func TestBuiltinSuggestsTheNearest(t *testing.T) {
	_, err := Builtin("restrat")
	want := `"restrat" is not a built-in scenario; allowed: restart, rate-limit, ` +
		`gateway-down, starvation; did you mean "restart"?`
	if err == nil || err.Error() != want {
		t.Errorf("error = %v\nwant    %s", err, want)
	}
}

func TestLibraryMayBeChanged(t *testing.T) {
	Library()[0].Server.Faults[0].Name = "changed"
	if got := Library()[0].Server.Faults[0].Name; got == "changed" {
		t.Error("a change of one copy is seen in another")
	}
}

func builtin(t *testing.T, name string) Scenario {
	t.Helper()
	s, err := Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func checkValues(t *testing.T, s Scenario, want map[string]string) {
	t.Helper()
	for name, text := range want {
		k, err := KnobNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := k.Format(k.get(&s)); got != text {
			t.Errorf("%s: %s = %s, want %s", s.Name, name, got, text)
		}
	}
}
