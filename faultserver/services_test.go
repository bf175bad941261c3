package faultserver

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herdscope/faultserver/fault"
)

// shop is a server with a service for /pay, whose one worker nobody waits for.
func shop(t *testing.T, abandoned fault.Abandoned) *bench {
	config := fault.Config{
		Workers: 1, Backlog: 1, WhenFull: fault.Block, Abandoned: abandoned,
		Service: fault.Service{Mean: 100 * ms},
		Services: []fault.Backend{{Name: "pay", Routes: []uint8{1}, Capacity: fault.Capacity{
			Workers: 1, Backlog: fault.NoBacklog, Service: fault.Service{Mean: 50 * ms},
		}}},
	}
	return newBench(t, config, func(c *Config) { c.Routes = []string{"/", "/pay"} })
}

// send begins a request and waits until the model has seen the n-th.
func (b *bench) send(ctx context.Context, path string, client, n int) <-chan result {
	answer := make(chan result, 1)
	go func() { answer <- b.call(ctx, http.MethodGet, path, attemptField(client, 1, 1)) }()
	within(b.t, "it arrives", func() bool { return b.stats().Arrivals == int64(n) })
	return answer
}

func TestServicesOverSockets(t *testing.T) {
	b, ctx := shop(t, fault.Serve), context.Background()
	var own []<-chan result
	for client := range 3 {
		own = append(own, b.send(ctx, "/search", client, client+1))
	}
	paid := b.send(ctx, "/pay/7", 3, 4)
	want := []ServiceStats{{"default", 1, 1, 1}, {"pay", 1, 0, 0}}
	if diff := cmp.Diff(want, b.stats().Services); diff != "" {
		t.Errorf("services (-want +got):\n%s", diff)
	}
	if r := wait(t, b.send(ctx, "/pay", 4, 5)); r.status != 503 {
		t.Errorf("a second payment: %+v, want 503", r)
	}
	b.clock.set(50 * ms)
	if r := wait(t, paid); r.status != 200 {
		t.Errorf("the first payment: %+v, want 200", r)
	}
	for i, answer := range own { // also the one that waits outside
		b.clock.set(time.Duration(i+1) * 100 * ms)
		if r := wait(t, answer); r.status != 200 {
			t.Errorf("search %d: %+v, want 200", i, r)
		}
	}
}

func TestLeaverFreesItsWorkerOverSockets(t *testing.T) {
	b := shop(t, fault.Cancel)
	ctx, leave := context.WithCancel(context.Background())
	gone := b.send(ctx, "/", 1, 1)
	next := b.send(context.Background(), "/", 2, 2)
	leave()
	if r := wait(t, gone); r.err == nil {
		t.Errorf("reply %+v to one that has left", r)
	}
	within(t, "its worker is free", func() bool {
		own := b.stats().Services[0]
		return own.Busy == 1 && own.Backlog == 0
	})
	b.clock.set(100 * ms)
	if r := wait(t, next); r.status != 200 {
		t.Errorf("the next: %+v, want 200", r)
	}
}
