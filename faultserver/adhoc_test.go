package faultserver

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

func adHocBench(t *testing.T) *bench {
	return newBench(t, fault.Config{Faults: []fault.Fault{
		{Name: "down", Kind: fault.Outage, Length: time.Hour}, // of no concern to these routes
	}}, func(c *Config) { c.AdHoc = true })
}

func TestAdHocRoutes(t *testing.T) {
	b := adHocBench(t)
	for _, c := range []struct {
		path, retryAfter, body string
		status                 int
	}{
		{"/status/418", "", "I'm a teapot\n", 418},
		{"/delay/1ms", "", "OK\n", 200},
		{"/unstable?rate=1", "", "Internal Server Error\n", 500},
		{"/retry-after/seconds/3", "3", "Too Many Requests\n", 429},
		{"/drip?duration=5ms&bytes=4", "", "****", 200},
		{"/drip?duration=5ms&bytes=4&status=204", "", "", 204},
		{"/status/42", "", `{"error":"codes: \"42\" is out of range; allowed: 200 to 599","field":"codes",` +
			`"value":"42","allowed":["200 to 599"]}` + "\n", 400},
	} {
		r := b.get(c.path)
		if r.status != c.status || r.body != c.body || r.header.Get("Retry-After") != c.retryAfter || r.err != nil {
			t.Errorf("%s: %+v, want %d %q", c.path, r, c.status, c.body)
		}
	}
	// net/http would send a GET again by itself.
	if r := b.call(context.Background(), http.MethodPost, "/reset"); !errors.Is(r.err, syscall.ECONNRESET) {
		t.Errorf("/reset: %+v, want a reset connection", r)
	}
	want := map[string]int64{"200": 2, "204": 1, "418": 1, "429": 1, "500": 1}
	stats := b.stats()
	if diff := cmp.Diff(want, stats.Statuses); diff != "" || stats.Reset != 1 || stats.Refused != 1 || stats.Arrivals != 7 {
		t.Errorf("%+v, statuses (-want +got):\n%s", stats, diff)
	}
	if began, ended := b.count(wire.ServerBegan), b.count(wire.ServerDone); began != 6 || ended != 6 {
		t.Errorf("%d began, %d done, want 6 each", began, ended)
	}
}

// The draws of a client are its own, however many others call.
func TestAdHocDrawsDoNotDependOnOthers(t *testing.T) {
	statuses := func(others int) (all []string) {
		b := adHocBench(t)
		for range 30 {
			for i := range others {
				b.get("/unstable", "X-Client-Id: other-"+strconv.Itoa(i))
			}
			all = append(all, strconv.Itoa(b.get("/unstable", "X-Client-Id: shop").status))
		}
		return all
	}
	if diff := cmp.Diff(statuses(0), statuses(2)); diff != "" {
		t.Errorf("alone and among others (-alone +among):\n%s", diff)
	}
}

func TestAdHocWaitsEndWithTheClientAndTheServer(t *testing.T) {
	b := adHocBench(t)
	ctx, leave := context.WithCancel(context.Background())
	gone, stays := make(chan result, 1), make(chan result, 1)
	go func() { gone <- b.call(ctx, http.MethodGet, "/delay/1h", "X-Client-Id: a") }()
	go func() { stays <- b.get("/drip?duration=1h", "X-Client-Id: b") }()
	within(t, "both are in", func() bool { return b.count(wire.ServerBegan) == 2 })
	leave()
	if r := wait(t, gone); !errors.Is(r.err, context.Canceled) {
		t.Errorf("the one that left: %+v", r)
	}
	within(t, "the one that left is missed", func() bool { return b.stats().Left == 1 })
	if !b.last(wire.ServerDone).Wasted {
		t.Error("its work is not wasted")
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if r := wait(t, stays); r.err == nil {
		t.Errorf("the one that stayed: %+v, want an error", r)
	}
}
