package faultserver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

// stuck are the ways in which requests hang.
var stuck = map[string]func() fault.Fault{
	"latency": func() fault.Fault {
		f := fault.NewFault(fault.Latency)
		f.Added = time.Hour
		return f
	},
	"black hole": func() fault.Fault {
		f := fault.NewFault(fault.Outage)
		f.How = fault.ByBlackHole
		return f
	},
}

// hanging is a server on which n requests hang in one of the ways, with its admin
// API.
func hanging(t *testing.T, way string, n int) (*bench, <-chan result) {
	t.Helper()
	f := stuck[way]()
	f.Name, f.Length = "stuck", time.Hour
	b := newBench(t, fault.Config{Faults: []fault.Fault{f}}, func(c *Config) { c.Admin = DefaultAddr })
	results := b.start(n)
	within(t, "all hang", func() bool { return b.stats().Open == n })
	return b, results
}

// steer is what a hand does while requests hang: each call by itself must not
// wait for any of them. It returns how long each took.
func steer(t *testing.T, b *bench) []time.Duration {
	t.Helper()
	var took []time.Duration
	for _, step := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/_fault/stats", "", 200},
		{"PATCH", "/_fault/faults/stuck", `{"length": "30m"}`, 200},
		{"DELETE", "/_fault/faults/stuck", "", 200},
		{"PATCH", "/_fault/knobs", `{"server.limit.rate": 100, "server.limit.burst": 5}`, 200},
		{"POST", "/_fault/faults", `{"name": "quota", "kind": "quota", "rate": 10, "length": "1h"}`, 201},
		{"PATCH", "/_fault/faults/quota", `{"rate": 20}`, 200},
		{"POST", "/_fault/faults/quota/off", "", 200},
		{"GET", "/_fault/faults", "", 200},
		{"GET", "/_fault/schedule", "", 200},
	} {
		began := time.Now()
		if r := b.admin(step.method, step.path, step.body); r.status != step.want {
			t.Fatalf("%s %s: %+v, want %d", step.method, step.path, r, step.want)
		}
		took = append(took, time.Since(began))
	}
	return took
}

// P-F1: with a thousand requests stuck, faults and rates are changed while every
// one of them still hangs, what comes next meets the change, and closing ends all.
func TestPF1ControlOvertakesStuckTraffic(t *testing.T) {
	const n = 1000
	for way := range stuck {
		t.Run(way, func(t *testing.T) {
			b, results := hanging(t, way, n)
			steer(t, b)
			if stats := b.stats(); stats.Open != n {
				t.Errorf("%d open after the changes, want all %d", stats.Open, n)
			}
			if r := b.get("/", attemptField(n+1, 1, 1)); r.status != 200 {
				t.Errorf("a request after the fault was removed: %+v, want 200", r)
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			for range n {
				if r := wait(t, results); r.err == nil {
					t.Errorf("reply %+v, want a reset connection", r)
				}
			}
		})
	}
}

// P-F1: a thousand changes drawn at random under load are all carried out or
// refused, and no attempt is lost or counted twice.
func TestPF1ThousandChangesUnderLoad(t *testing.T) {
	b := newBench(t, fault.Config{}, func(c *Config) { c.Admin = DefaultAddr })
	changeUnderLoad(t, b, 1000)
	within(t, "nothing is open", func() bool { return b.stats().Open == 0 })
	stats := b.stats()
	ended := stats.Reset + stats.Left
	for _, n := range stats.Statuses {
		ended += n
	}
	if ended != stats.Arrivals || stats.Arrivals != int64(b.count(wire.ServerArrived)) {
		t.Errorf("%d ended of %d arrivals, %d observed", ended, stats.Arrivals, b.count(wire.ServerArrived))
	}
	if stats.Panics != 0 || b.Err() != nil {
		t.Errorf("%d panics, %v", stats.Panics, b.Err())
	}
}

// changeUnderLoad makes n random changes while clients call without a pause, and
// returns how long each took.
func changeUnderLoad(t *testing.T, b *bench, n int) []time.Duration {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var callers sync.WaitGroup
	for client := range 8 {
		callers.Go(func() {
			for request := 1; ctx.Err() == nil; request++ {
				b.call(ctx, http.MethodGet, "/", attemptField(client, request, 1))
			}
		})
	}
	draw := rand.New(rand.NewPCG(1, 2))
	took := make([]time.Duration, 0, n)
	for range n {
		method, path, body := randomChange(draw)
		began := time.Now()
		r := b.admin(method, path, body)
		took = append(took, time.Since(began))
		if !slices.Contains([]int{200, 201, 404, 409}, r.status) {
			t.Errorf("%s %s %s: %+v", method, path, body, r)
		}
	}
	stop()
	callers.Wait()
	return took
}

// randomChange is a request of the admin API that is in order, although its fault
// may be there already, or not be there.
func randomChange(draw *rand.Rand) (method, path, body string) {
	const faults = "/_fault/faults"
	name := string(rune('a' + draw.IntN(6)))
	switch draw.IntN(7) {
	case 0, 1:
		kind := []string{
			`"kind": "outage"`, `"kind": "errors", "share": 0.5`, `"kind": "latency", "added": "1ms"`,
			`"kind": "quota", "rate": 50`, `"kind": "close", "first": 3`, `"kind": "garbage", "nth": 2`,
			`"kind": "drip", "over": "2ms"`, `"kind": "outage", "how": "freeze"`, `"kind": "reset", "clients": 0.5`,
			`"kind": "errors", "methods": ["GET"], "path": "/"`,
		}[draw.IntN(10)]
		return "POST", faults, fmt.Sprintf(`{"name": %q, %s, "length": "1h"}`, name, kind)
	case 2:
		return "PATCH", faults + "/" + name, fmt.Sprintf(`{"length": "%ds"}`, 1+draw.IntN(100))
	case 3:
		return "DELETE", faults + "/" + name, ""
	case 4:
		return "POST", faults + "/" + name + "/" + wire.FaultDoNames()[draw.IntN(4)], ""
	case 5:
		return "PATCH", "/_fault/knobs", fmt.Sprintf(`{"server.workers": %d, "server.backlog": %d}`,
			1+draw.IntN(20), 1+draw.IntN(20))
	}
	return "GET", faults, ""
}
