package fault

import (
	"fmt"
	"strconv"

	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// CheckServices checks what Fields do not: quantiles, services and the times of
// routes. The error is as that of Validate.
func (c *Config) CheckServices() error {
	if err := c.Service.checkQuantiles("server.service."); err != nil {
		return err
	}
	if n := len(c.Services); n > MaxServices {
		return refuse("services", strconv.Itoa(n)+" services", fmt.Sprintf("at most %d", MaxServices))
	}
	var taken [wire.MaxRoutes]bool
	for i := range c.Services {
		if err := c.checkBackend(i, &taken); err != nil {
			return err
		}
	}
	return c.checkRouteTimes()
}

func (c *Config) checkBackend(i int, taken *[wire.MaxRoutes]bool) error {
	b, at := &c.Services[i], fmt.Sprintf("services[%d].", i)
	if b.Name == "" || b.Name == OwnService {
		return refuse(at+"name", b.Name, "any name but "+OwnService)
	}
	for j := range i {
		if c.Services[j].Name == b.Name {
			return refuse(at+"name", b.Name, fmt.Sprintf("a name that services[%d] does not have", j))
		}
	}
	if len(b.Routes) == 0 {
		return refuse(at+"routes", "", "at least one route")
	}
	for _, r := range b.Routes {
		if err := checkRoute(at+"routes", r, taken); err != nil {
			return err
		}
	}
	if err := checkFields(CapacityFields, at, &b.Capacity); err != nil {
		return err
	}
	return b.Service.checkQuantiles(at + "service.")
}

// checkRoute checks a route and takes it.
func checkRoute(at string, route uint8, taken *[wire.MaxRoutes]bool) error {
	if int(route) >= len(taken) {
		return refuse(at, strconv.Itoa(int(route)), fmt.Sprintf("0 to %d", len(taken)-1))
	}
	if taken[route] {
		return refuse(at, strconv.Itoa(int(route)), "a route that no other has")
	}
	taken[route] = true
	return nil
}

func (c *Config) checkRouteTimes() error {
	var taken [wire.MaxRoutes]bool
	for i := range c.RouteTimes {
		t, at := &c.RouteTimes[i], fmt.Sprintf("routes[%d].", i)
		if err := checkRoute(at+"path", t.Route, &taken); err != nil {
			return err
		}
		if err := checkFields(ServiceFields, at, &t.Service); err != nil {
			return err
		}
		if err := t.Service.checkQuantiles(at); err != nil {
			return err
		}
	}
	return nil
}

// checkFields is knob.CheckAll for fields of which there are several.
func checkFields[P any](fields []knob.Field[P], at string, p *P) error {
	return knob.CheckAll(lift(fields, at, func(p *P) *P { return p }), p)
}

// checkQuantiles checks that an empirical service time has quantiles, and that
// they never fall.
func (c *Service) checkQuantiles(at string) error {
	n := len(c.Quantiles)
	switch {
	case c.Shape == EmpiricalShape && n == 0:
		return &knob.Error{
			Knob: at + "quantiles", Value: "none", Problem: "is not enough",
			Allowed: "one time or more, for the shape empirical",
		}
	case n > MaxQuantiles:
		return refuse(at+"quantiles", strconv.Itoa(n)+" times", fmt.Sprintf("at most %d", MaxQuantiles))
	}
	spec := knob.Spec{Name: at + "quantiles", Kind: knob.Duration, Max: int64(MaxMean)}
	for i, q := range c.Quantiles {
		if err := spec.Check(int64(q)); err != nil {
			return err
		}
		if i > 0 && q < c.Quantiles[i-1] {
			return refuse(at+"quantiles", q.String(), "times that never fall")
		}
	}
	return nil
}
