package scenarios

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"herdscope/engine/knob"
	"herdscope/faultserver/fault"
)

// drawQuantiles draws the times of an empirical service time.
func drawQuantiles(t *rapid.T) []time.Duration {
	times := rapid.SliceOfN(rapid.Int64Range(0, int64(fault.MaxMean)), 1, 5).Draw(t, "quantiles")
	slices.Sort(times)
	var quantiles []time.Duration
	for _, q := range times {
		quantiles = append(quantiles, time.Duration(q))
	}
	return quantiles
}

// drawServices draws services and times of routes, whose routes are still to be
// numbered.
func drawServices(t *rapid.T, d *decoder) {
	paths := []string{"/a", "/b", "/c", "/d"}
	for i := range rapid.IntRange(0, 2).Draw(t, "services") {
		b := newBackend()
		b.Name = "s" + string(rune('a'+i))
		drawFields(t, fault.CapacityFields, &b.Capacity)
		b.Service.Quantiles = drawQuantiles(t)
		d.s.Server.Services = append(d.s.Server.Services, b)
		d.beyond.services = append(d.beyond.services, paths[2*i:2*i+rapid.IntRange(1, 2).Draw(t, "routes")])
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "times") {
		r := fault.RouteTime{Service: newBackend().Service}
		drawFields(t, fault.ServiceFields, &r.Service)
		if r.Service.Shape == fault.EmpiricalShape {
			r.Service.Quantiles = drawQuantiles(t)
		}
		d.s.Server.RouteTimes = append(d.s.Server.RouteTimes, r)
		d.beyond.routes = append(d.beyond.routes, []string{"/b", "/z"}[i])
	}
}

func drawFields[C any](t *rapid.T, fields []knob.Field[C], c *C) {
	for i := range fields {
		if f := &fields[i]; rapid.IntRange(0, 2).Draw(t, "given") == 0 {
			f.Set(c, drawValue(t, f.Spec))
		}
	}
}

const twoServices = `version: 1
name: shop
classes:
  critical: {path: /pay}
  interactive: {path: /search}
server:
  workers: 8
  backlog: 0
  when_full: block
  service: {shape: empirical, quantiles: [5ms, 20ms, 300ms], factor: {background: 4}}
services:
  - name: payments
    routes: [/pay, /refund]
    workers: 2
    backlog: 20
    when_full: drop-oldest
    order: codel
    service: {shape: pareto, mean: 80ms, alpha: 1.5}
routes:
  - {path: /report, shape: uniform, mean: 2s, spread: 0.5}
  - {path: /refund, mean: 1s}
`

func TestServicesAreRead(t *testing.T) {
	s, err := Parse("f.yaml", []byte(twoServices))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/pay", "/search", "/refund", "/report"}; !slices.Equal(s.Routes, want) {
		t.Fatalf("routes %v, want %v", s.Routes, want)
	}
	standard := newBackend().Service
	payments := fault.Backend{Name: "payments", Routes: []uint8{0, 2}, Capacity: fault.Capacity{
		Workers: 2, Backlog: 20, WhenFull: fault.DropOldest, Order: fault.Codel, Service: standard,
	}}
	payments.Service.Shape, payments.Service.Mean = fault.ParetoShape, 80*time.Millisecond
	payments.Service.Alpha = 1500
	if diff := cmp.Diff([]fault.Backend{payments}, s.Server.Services); diff != "" {
		t.Errorf("services (-want +got):\n%s", diff)
	}
	report := fault.RouteTime{Route: 3, Service: standard}
	report.Service.Shape, report.Service.Mean = fault.UniformShape, 2*time.Second
	report.Service.Spread = 500
	refund := fault.RouteTime{Route: 2, Service: standard}
	refund.Service.Mean = time.Second
	if diff := cmp.Diff([]fault.RouteTime{report, refund}, s.Server.RouteTimes); diff != "" {
		t.Errorf("times of routes (-want +got):\n%s", diff)
	}
	if s.Server.Backlog != fault.NoBacklog || len(s.Server.Service.Quantiles) != 3 {
		t.Errorf("the server's own service: %+v", s.Server)
	}
	if got := s.ServerWorkers(); got != 10 {
		t.Errorf("%d workers, want 10", got)
	}
}

func TestServicesAreWritten(t *testing.T) {
	s, err := Parse("f.yaml", []byte(twoServices))
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	const want = `server:
  workers: 8
  backlog: 0
  when_full: block
  service:
    shape: empirical
    quantiles: [5ms, 20ms, 300ms]
    factor:
      background: 4
services:
  - name: payments
    routes: [/pay, /refund]
    workers: 2
    backlog: 20
    when_full: drop-oldest
    order: codel
    service:
      shape: pareto
      mean: 80ms
      alpha: 1.5
routes:
  - path: /report
    shape: uniform
    mean: 2s
  - path: /refund
    mean: 1s
`
	if got := string(text); !strings.Contains(got, want) {
		t.Errorf("written:\n%s", got)
	}
}

func TestServiceKnobs(t *testing.T) {
	s, err := Parse("f.yaml", []byte(twoServices))
	if err != nil {
		t.Fatal(err)
	}
	shared := s
	if err := s.Set("service.payments.workers", "5"); err != nil {
		t.Fatal(err)
	}
	if s.Server.Services[0].Workers != 5 || shared.Server.Services[0].Workers != 2 {
		t.Errorf("%d workers, and %d in a scenario that shares them",
			s.Server.Services[0].Workers, shared.Server.Services[0].Workers)
	}
	if n := len(s.ServiceKnobs()); n != len(fault.CapacityFields) {
		t.Errorf("%d knobs", n)
	}
	err = s.Set("service.payments.worker", "5")
	if err == nil || !strings.Contains(err.Error(), `did you mean "service.payments.workers"?`) {
		t.Errorf("misspelt: %v", err)
	}
	s = Default()
	if err := s.Set("service.payments.workers", "5"); err == nil {
		t.Error("a knob of no service is taken")
	}
}

func TestServiceErrors(t *testing.T) {
	const head = "version: 1\nname: x\n"
	for _, c := range []struct{ name, text, want string }{
		{"no routes", "services: [{name: a}]\n",
			"f.yaml:3:12: services[0].routes: is missing from a service"},
		{"no name", "services: [{routes: [/a]}]\n", "services[0].name: is missing from a service"},
		{"its own", "services: [{name: default, routes: [/a]}]\n",
			`services[0].name: "default" is out of range; allowed: any name but default`},
		{"twice", "services: [{name: a, routes: [/a]}, {name: b, routes: [/a]}]\n",
			`f.yaml:3:47: services[1].routes: "/a" is a route of a already`},
		{"twice in one", "services: [{name: a, routes: [/a, /a]}]\n",
			`services[0].routes: "/a" is a route of a already`},
		{"a time twice", "routes: [{path: /a, mean: 3s}, {path: /a, mean: 4s}]\n",
			`f.yaml:3:33: routes[1].path: "/a" has a time already`},
		{"bad path", "services: [{name: a, routes: [a]}]\n", `services[0].routes: "a" is not a path`},
		{"misspelt", "services: [{name: a, routes: [/a], worker: 3}]\n",
			`services[0].worker: there is no such field; allowed: name, routes, workers, backlog, ` +
				`when_full, order, service; did you mean "workers"?`},
		{"misspelt below", "services: [{name: a, routes: [/a], service: {men: 3s}}]\n",
			`services[0].service.men: there is no such field; allowed: shape, mean, sigma, spread, alpha, ` +
				`per_in_flight, quantiles; did you mean "mean"?`},
		{"no quantiles", "server: {service: {shape: empirical}}\n",
			`server.service.quantiles: "none" is not enough; allowed: one time or more, for the shape empirical`},
		{"falling quantiles", "server: {service: {shape: empirical, quantiles: [2s, 1s]}}\n",
			`server.service.quantiles: "1s" is out of range; allowed: times that never fall`},
		{"no path", "routes: [{mean: 3s}]\n", "routes[0].path: is missing"},
		{"misspelt in a route", "routes: [{path: /a, men: 3s}]\n", `routes[0].men: there is no such field`},
		{"timeline", "timeline: [{at: 1s, set: {server.service.shape: empirical}}]\n",
			`timeline[0].set.server.service.shape: then server.service.quantiles: "none" is not enough`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("f.yaml", []byte(head+c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("\n got %v\nwant %s", err, c.want)
			}
		})
	}
}
