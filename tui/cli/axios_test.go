package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/live"
	"herdscope/engine/preset"
	"herdscope/faultserver"
	"herdscope/faultserver/fault"
)

// axiosCase is a way to use axios-retry, and the preset that says what it does.
type axiosCase struct {
	name, delay, preset, path string
	// hint is the wait that the server asks for; 0 is none.
	hint time.Duration
}

var axiosCases = []axiosCase{
	{"default", "default", "axios-retry", "/status/503", 0},
	{"exponential", "exponential", "axios-retry-exp", "/status/503", 0},
	{"default, sent away", "default", "axios-retry", "/retry-after/seconds/1", time.Second},
	{"exponential, sent away", "exponential", "axios-retry-exp", "/retry-after/seconds/1", time.Second},
}

// axiosTimer is how much too early a timer of Node may go off: it counts in whole
// milliseconds, from the beginning of a turn of its loop.
const axiosTimer = time.Millisecond

// TestAxiosIsNeverEarly holds the presets against the library that they are named
// after: the server never sees a retry of it before the preset says.
func TestAxiosIsNeverEarly(t *testing.T) {
	for _, c := range axiosCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, late := range axiosLateness(t, c, 1) {
				if late < -axiosTimer {
					t.Errorf("a retry came %v before its time", -late)
				}
			}
		})
	}
}

// axiosLateness is how much later than the preset says each retry of some clients
// arrives, one client at a time.
func axiosLateness(t *testing.T, c axiosCase, clients int) []time.Duration {
	t.Helper()
	arrivals := axiosArrivals(t, c, clients)
	p, err := preset.Named(c.preset)
	if err != nil {
		t.Fatal(err)
	}
	var policy engine.Policy
	p.Apply(&policy)
	var late []time.Duration
	for client, at := range arrivals {
		if len(at) != policy.Retry.Attempts {
			t.Fatalf("%s made %d attempts, the preset %s makes %d", client, len(at), c.preset, policy.Retry.Attempts)
		}
		for n := 1; n < len(at); n++ {
			wait := max(policy.Retry.Backoff.Delay(n, 0, 0).Delay, c.hint)
			late = append(late, at[n].Sub(at[n-1])-wait)
		}
	}
	slices.Sort(late)
	return late
}

// axiosArrivals runs the script against a server and returns when the attempts of
// each client arrived.
func axiosArrivals(t *testing.T, c axiosCase, clients int) map[string][]time.Time {
	t.Helper()
	modules := axiosModules(t)
	var mu sync.Mutex
	arrivals := map[string][]time.Time{}
	model, err := fault.New(fault.Config{}, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	clock := live.NewClock()
	clock.Resume()
	server, err := faultserver.Start(faultserver.Config{
		Model: model, Clock: clock, AdHoc: true,
		OnArrival: func(a faultserver.Arrival) {
			mu.Lock()
			defer mu.Unlock()
			arrivals[a.Client] = append(arrivals[a.Client], a.Time)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	cmd := exec.CommandContext(t.Context(), "node", "testdata/axios.js", modules, server.URL()+c.path, c.delay, strconv.Itoa(clients))
	cmd.Env = append(cmd.Environ(), "no_proxy=127.0.0.1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("node: %v\n%s", err, out)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(arrivals) != clients {
		t.Fatalf("%d clients came, want %d", len(arrivals), clients)
	}
	return arrivals
}

// axiosModules is where axios and axios-retry are installed, as .ci/run does it.
func axiosModules(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	modules, err := filepath.Abs(filepath.Join("..", "..", ".ci", "axios"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"axios", "axios-retry"} {
		if _, err := os.Stat(filepath.Join(modules, "node_modules", name)); err != nil {
			t.Skipf("%s is not installed: npm ci --prefix .ci/axios", name)
		}
	}
	return modules
}
