package fault

import "herdscope/engine/wire"

// Backend is a service behind the server: some routes, with workers, a backlog
// and a service time of their own.
type Backend struct {
	Name string
	// Routes are the indices of the routes that it serves.
	Routes []uint8
	Capacity
}

// RouteTime is a route whose attempts take a time of their own, whichever
// service serves it.
type RouteTime struct {
	Route   uint8
	Service Service
}

// OwnService is the name of service 0: the server's own, which serves every
// route that no Backend has.
const OwnService = "default"

// MaxServices limits how many services a server has besides its own: one for
// each route.
const MaxServices = wire.MaxRoutes

// ServiceNames lists the services, the server's own first: in the order of their
// indices.
func (c *Config) ServiceNames() []string {
	names := []string{OwnService}
	for i := range c.Services {
		names = append(names, c.Services[i].Name)
	}
	return names
}

// ServiceOf is the index of the service that serves a route; 0 is the server's
// own.
func (c *Config) ServiceOf(route uint8) uint8 {
	for i := range c.Services {
		for _, r := range c.Services[i].Routes {
			if r == route {
				return uint8(i + 1)
			}
		}
	}
	return 0
}

// places is what each route has of its own.
type places struct {
	service [wire.MaxRoutes]uint8
	// time is 1 more than the index of its RouteTime; 0 if it has none.
	time [wire.MaxRoutes]uint8
}

func (c *Config) places() (p places) {
	for r := range p.service {
		p.service[r] = c.ServiceOf(uint8(r))
	}
	for i, t := range c.RouteTimes {
		p.time[t.Route] = uint8(i + 1)
	}
	return p
}

// service is the index of the service that an attempt is for.
func (s *Server) service(a *wire.Attempt) uint8 {
	if int(a.Route) >= len(s.places.service) {
		return 0
	}
	return s.places.service[a.Route]
}

// time is what says how long the work for an attempt takes.
func (s *Server) time(a *wire.Attempt) *Service {
	if int(a.Route) < len(s.places.time) {
		if i := s.places.time[a.Route]; i > 0 {
			return &s.config.RouteTimes[i-1].Service
		}
	}
	return &s.pools[s.service(a)].Service
}

// ServiceState is a service at one moment.
type ServiceState struct {
	Name string
	// Busy is the attempts in service, Backlog those that wait for a worker, and
	// Outside those that wait for a place in the backlog.
	Busy    int
	Backlog int
	Outside int
}

// Services is the state of each service, the server's own first.
func (s *Server) Services() []ServiceState {
	states := make([]ServiceState, 0, len(s.pools))
	for i, name := range s.config.ServiceNames() {
		p := &s.pools[i]
		inside, outside := p.waiting()
		states = append(states, ServiceState{name, p.serving, inside, outside})
	}
	return states
}
