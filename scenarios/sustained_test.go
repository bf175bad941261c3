package scenarios

import "testing"

// What the server can serve is what the first of its services can that has too
// much to do, for the requests as they are mixed.
func TestSustained(t *testing.T) {
	const head = "version: 1\nname: x\ntitle: x\n" +
		"classes: {critical: {weight: 1, path: /pay}, interactive: {weight: 3, path: /search}}\n"
	for _, c := range []struct {
		name, text string
		want       float64
	}{
		{"unlimited", "server: {service: {mean: 100ms}}\n", 0},
		{"one service", "server: {workers: 40, service: {mean: 80ms}}\n", 500},
		{"more in flight", "server: {workers: 4, service: {mean: 60ms, per_in_flight: 10ms}}\n", 40},
		{"quantiles", "server: {workers: 1, service: {shape: empirical, quantiles: [0s, 20ms]}}\n", 100},
		{"a class that takes longer",
			"server: {workers: 2, service: {mean: 100ms, factor: {critical: 5}}}\n", 10},
		{"a service with too much to do", "server: {workers: 40, service: {mean: 80ms}}\n" +
			"services: [{name: p, routes: [/pay], workers: 2, service: {mean: 100ms}}]\n", 80},
		{"services that have no limit", "server: {workers: 30, service: {mean: 100ms}}\n" +
			"services: [{name: p, routes: [/pay], service: {mean: 100ms}}]\n", 400},
		{"a route with a time of its own", "server: {workers: 4, service: {mean: 100ms}}\n" +
			"routes: [{path: /pay, mean: 500ms}]\n", 20},
	} {
		s, err := Parse("f.yaml", []byte(head+c.text))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := s.Sustained(); got < c.want*0.999 || got > c.want*1.001 {
			t.Errorf("%s: %.2f/s, want %.2f", c.name, got, c.want)
		}
	}
}
