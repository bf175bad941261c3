package scenarios

import (
	"strings"

	"herdscope/faultserver/fault"
)

// services writes the services behind the server.
func (w *writer) services(s *Scenario) {
	if len(s.Server.Services) == 0 {
		return
	}
	w.heading(0, "services")
	standard := newBackend()
	for i := range s.Server.Services {
		b := &s.Server.Services[i]
		var paths []string
		for _, r := range b.Routes {
			paths = append(paths, scalarText(s.Routes[r]))
		}
		w.item("name", scalarText(b.Name))
		w.field(2, routesField, "["+strings.Join(paths, ", ")+"]")
		timed := false
		for j := range fault.CapacityFields {
			f := &fault.CapacityFields[j]
			if f.Get(&b.Capacity) == f.Get(&standard.Capacity) {
				continue
			}
			name, below := strings.CutPrefix(f.Name, "service.")
			if below {
				w.serviceHeading(&timed)
				w.field(3, name, scalarText(f.Format(f.Get(&b.Capacity))))
				continue
			}
			w.field(2, name, scalarText(f.Format(f.Get(&b.Capacity))))
		}
		if len(b.Service.Quantiles) > 0 {
			w.serviceHeading(&timed)
			w.quantiles(3, &b.Service)
		}
	}
}

func (w *writer) serviceHeading(written *bool) {
	if !*written {
		w.heading(2, "service")
	}
	*written = true
}

// routeTimes writes the routes that take a time of their own.
func (w *writer) routeTimes(s *Scenario) {
	if len(s.Server.RouteTimes) == 0 {
		return
	}
	w.heading(0, "routes")
	standard := newBackend().Service
	for i := range s.Server.RouteTimes {
		t := &s.Server.RouteTimes[i]
		w.item(pathField, scalarText(s.Routes[t.Route]))
		for j := range fault.ServiceFields {
			if f := &fault.ServiceFields[j]; f.Get(&t.Service) != f.Get(&standard) {
				w.field(2, f.Name, scalarText(f.Format(f.Get(&t.Service))))
			}
		}
		w.quantiles(2, &t.Service)
	}
}

// quantiles writes the times of an empirical service time, if there are any.
func (w *writer) quantiles(depth int, c *fault.Service) {
	if len(c.Quantiles) == 0 {
		return
	}
	var times []string
	for _, q := range c.Quantiles {
		times = append(times, quantileSpec.Format(int64(q)))
	}
	w.field(depth, quantilesField, "["+strings.Join(times, ", ")+"]")
}
