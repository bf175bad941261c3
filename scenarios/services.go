package scenarios

import (
	"slices"

	"herdscope/engine/knob"
	"herdscope/faultserver/fault"
)

// The fields that are lists, and so no knobs.
const (
	quantilesField = "quantiles"
	routesField    = "routes"
	pathField      = "path"
)

// Where the service time of the server's own service stands in a file.
const (
	ownService   = "server.service"
	ownQuantiles = ownService + "." + quantilesField
	// afterQuantiles is the field before which a file is written with them.
	afterQuantiles = ownService + ".mean"
)

// newBackend is a service as it is where a file says no more: the server of
// Default.
func newBackend() fault.Backend {
	s := defaultServer()
	return fault.Backend{Capacity: fault.Capacity{Service: s.Service}}
}

// quantileSpec is the range of a quantile of a service time.
var quantileSpec = knob.Spec{Name: quantilesField, Kind: knob.Duration, Max: int64(fault.MaxMean)}

func (s *Scenario) checkServices() *Error {
	for i := range s.Server.Services {
		b, field := &s.Server.Services[i], itemPath("services", i)
		if !isName(b.Name) {
			return &Error{Field: field + ".name", Msg: badName(b.Name)}
		}
		if err := s.checkRoutesOf(i, field+"."+routesField); err != nil {
			return err
		}
	}
	var timed []uint8
	for i, t := range s.Server.RouteTimes {
		at := itemPath("routes", i) + "." + pathField
		if err := s.checkRoute(t.Route, at); err != nil {
			return err
		}
		if slices.Contains(timed, t.Route) {
			return &Error{Field: at, Msg: knob.Quote(s.Routes[t.Route]) + " has a time already"}
		}
		timed = append(timed, t.Route)
	}
	return knobError(s.Server.CheckServices())
}

// checkRoutesOf checks the routes of service i, which no other may have.
func (s *Scenario) checkRoutesOf(i int, at string) *Error {
	routes := s.Server.Services[i].Routes
	for j, r := range routes {
		if err := s.checkRoute(r, at); err != nil {
			return err
		}
		if owner := s.Server.ServiceOf(r); int(owner) != i+1 || slices.Contains(routes[:j], r) {
			return &Error{Field: at, Msg: knob.Quote(s.Routes[r]) + " is a route of " +
				s.Server.Services[owner-1].Name + " already"}
		}
	}
	return nil
}

func (s *Scenario) checkRoute(r uint8, field string) *Error {
	if int(r) >= len(s.Routes) {
		return &Error{Field: field, Msg: "refers to a route that does not exist"}
	}
	if msg := badPath(s.Routes[r]); msg != "" {
		return &Error{Field: field, Msg: msg}
	}
	return nil
}

// servicePrefix begins the names of the knobs of services: service.NAME.FIELD.
const servicePrefix = "service."

// ServiceKnobs lists the knobs that the services of the scenario have, such as
// service.pay.workers. They are Fixed: those of the server's own service are not,
// and are called server.workers and so on.
func (s Scenario) ServiceKnobs() []knob.Spec {
	var specs []knob.Spec
	for i := range s.Server.Services {
		for j := range fault.CapacityFields {
			specs = append(specs, s.serviceSetting(i, j).Spec)
		}
	}
	return specs
}

// serviceSetting is the knob for field j of service i.
func (s *Scenario) serviceSetting(i, j int) Setting {
	field := &fault.CapacityFields[j]
	spec := field.Spec
	spec.Name = servicePrefix + s.Server.Services[i].Name + "." + field.Name
	spec.Fixed = true
	return Setting{
		Spec: spec, Owner: OwnerService, Index: uint16(i),
		get: func(s *Scenario) int64 { return field.Get(&s.Server.Services[i].Capacity) },
		set: func(s *Scenario, v int64) {
			s.Server.Services = slices.Clone(s.Server.Services) // others may share them
			field.Set(&s.Server.Services[i].Capacity, v)
		},
	}
}

// serviceKnob finds a knob of one of the services.
func (s Scenario) serviceKnob(name string) (Setting, error) {
	var names []string
	for i := range s.Server.Services {
		for j := range fault.CapacityFields {
			k := s.serviceSetting(i, j)
			if k.Name == name {
				return k, nil
			}
			names = append(names, k.Name)
		}
	}
	msg := "there is no such knob: the scenario has no services"
	if len(names) > 0 {
		msg = unknownKnob(name, names)
	}
	return Setting{}, &Error{Field: shorten(name), Msg: msg}
}

// ServerWorkers is how many workers the services have together that requests can
// reach; 0 if those of one of them are unlimited.
func (s Scenario) ServerWorkers() int {
	total := 0
	var counted [1 + fault.MaxServices]bool
	for r := range s.Routes {
		i := s.Server.ServiceOf(uint8(r))
		if counted[i] {
			continue
		}
		counted[i] = true
		workers := s.Server.Workers
		if i > 0 {
			workers = s.Server.Services[i-1].Workers
		}
		if workers == 0 {
			return 0
		}
		total += workers
	}
	return total
}
