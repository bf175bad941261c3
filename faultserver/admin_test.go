package faultserver

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

func adminBench(t *testing.T) *bench {
	return newBench(t, fault.Config{
		Faults: []fault.Fault{
			{Name: "outage", Kind: fault.Outage, Start: 5 * sec, Length: sec, Every: 10 * sec},
			{Name: "burst", Kind: fault.Errors, Manual: true, Length: 2 * sec, Status: 503, Share: 1000},
		},
	}, func(c *Config) { c.Routes = []string{"/api"} })
}

func (b *bench) post(path string) result {
	return b.call(context.Background(), http.MethodPost, path)
}

func decode[T any](t *testing.T, r result) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(r.body), &v); err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	if got := r.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("content type %q, want application/json", got)
	}
	return v
}

func TestStateTellsOfEachFault(t *testing.T) {
	b := adminBench(t)
	b.clock.set(5500 * ms)
	until := 6.0
	want := Stats{NowSeconds: 5.5, Faults: []FaultStats{
		{Name: "outage", Kind: "outage", On: true, UntilSeconds: &until},
		{Name: "burst", Kind: "errors"},
	}}
	if diff := cmp.Diff(want, decode[Stats](t, b.get("/_fault/state"))); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

func TestFaultsByRoute(t *testing.T) {
	b := adminBench(t)
	if r := b.get("/api"); r.status != 200 {
		t.Fatalf("before: %+v, want 200", r)
	}
	stats := decode[Stats](t, b.post("/_fault/faults/burst/now"))
	if f := stats.Faults[1]; !f.On || f.UntilSeconds == nil || *f.UntilSeconds != 2 {
		t.Errorf("after now: %+v, want on until 2 s", f)
	}
	if r := b.get("/api"); r.status != 503 {
		t.Errorf("with the fault on: %+v, want 503", r)
	}
	stats = decode[Stats](t, b.post("/_fault/faults/burst/off"))
	if f := stats.Faults[1]; f.On || f.Hits != 1 {
		t.Errorf("after off: %+v, want off, 1 hit", f)
	}
	if r := b.get("/api"); r.status != 200 {
		t.Errorf("with the fault off: %+v, want 200", r)
	}
}

func TestWhatIsNotThereIsNamed(t *testing.T) {
	b := adminBench(t)
	paths := []string{"/api", "/_fault/state", "/_fault/faults/{name}/{do}"}
	for _, c := range []struct {
		method, path string
		status       int
		want         problem
	}{
		{"POST", "/_fault/faults/outagge/on", 404, problem{
			Error: `there is no fault "outagge"`, Value: "outagge",
			Allowed: []string{"outage", "burst"}, Nearest: "outage"}},
		{"POST", "/_fault/faults/outage/onn", 400, problem{
			Error: `there is no action "onn"`, Value: "onn",
			Allowed: wire.FaultDoNames(), Nearest: "on"}},
		{"GET", "/_fault/faults/outage/on", 405, problem{
			Error: `there is no method "GET" for the path "/_fault/faults/outage/on"`,
			Value: "GET", Allowed: []string{"POST"}}},
		{"POST", "/_fault/state", 405, problem{
			Error: `there is no method "POST" for the path "/_fault/state"`,
			Value: "POST", Allowed: []string{"GET"}}},
		{"GET", "/_fault/stat", 404, problem{
			Error: `there is no path "/_fault/stat"`, Value: "/_fault/stat",
			Allowed: paths, Nearest: "/_fault/state"}},
		{"GET", "/_fault/", 404, problem{
			Error: `there is no path "/_fault/"`, Value: "/_fault/",
			Allowed: paths, Nearest: "/_fault/state"}},
		{"GET", "/", 404, problem{Error: `there is no path "/"`, Value: "/", Allowed: paths}},
		{"CONVERT", "/api", 405, problem{
			Error: `there is no method "CONVERT" for the path "/api"`, Value: "CONVERT",
			Allowed: wire.MethodNames()}},
	} {
		r := b.call(context.Background(), c.method, c.path)
		if r.status != c.status {
			t.Errorf("%s %s: status %d, want %d", c.method, c.path, r.status, c.status)
		}
		if diff := cmp.Diff(c.want, decode[problem](t, r)); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.method, c.path, diff)
		}
		if allow := r.header.Get("Allow"); (allow != "") != (c.status == 405) {
			t.Errorf("%s %s: Allow %q with status %d", c.method, c.path, allow, c.status)
		}
	}
	if got := b.count(wire.ServerArrived); got != 0 {
		t.Errorf("%d arrivals, want 0", got)
	}
}

func TestLongerRoutesComeFirst(t *testing.T) {
	got := longestFirst([]string{"/a", "/a/b", "/a/b/c", "/"})
	if diff := cmp.Diff([]int{2, 1, 0, 3}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}
