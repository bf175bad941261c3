package scenarios

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"herdscope/engine/knob"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

// servicePlaces is the paths of services and routes, as far as a file says; they
// get numbers when all of it is read.
type servicePlaces struct {
	services [][]string
	routes   []string
}

// settleServices numbers the routes of services, after those of the classes.
func (d *decoder) settleServices() {
	for i, paths := range d.beyond.services {
		for _, path := range paths {
			b := &d.s.Server.Services[i]
			b.Routes = append(b.Routes, d.routeNumber(path))
		}
	}
	for i, path := range d.beyond.routes {
		d.s.Server.RouteTimes[i].Route = d.routeNumber(path)
	}
}

// routeNumber is the number of a path. There may come to be more than there can
// be, which checkPlaces says.
func (d *decoder) routeNumber(path string) uint8 {
	i := slices.Index(d.s.Routes, path)
	if i < 0 {
		i = len(d.s.Routes)
		d.s.Routes = append(d.s.Routes, path)
	}
	return uint8(min(i, 255))
}

// services reads the services behind the server.
func (d *decoder) services(p *pair) *Error {
	items, err := p.value.list("services")
	if err != nil {
		return err
	}
	if len(items) > fault.MaxServices {
		return p.fail("services", "there are more than "+strconv.Itoa(fault.MaxServices))
	}
	for i, item := range items {
		if err := d.backend(item, itemPath("services", i)); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) backend(n *node, field string) *Error {
	d.where[field] = n.position
	pairs, err := n.mapping(field)
	if err != nil {
		return err
	}
	b := newBackend()
	var paths []string
	for i := range pairs {
		p := &pairs[i]
		at := join(field, p.key)
		d.where[at] = p.position
		switch p.key {
		case "name":
			b.Name, err = p.value.scalar(at)
		case routesField:
			paths, err = p.value.paths(at)
		default:
			err = d.capacity(p, &b.Capacity, field, "")
		}
		if err != nil {
			return err
		}
	}
	for _, required := range []string{"name", routesField} {
		if n.get(required) == nil {
			return n.fail(field+"."+required, "is missing from a service")
		}
	}
	d.s.Server.Services = append(d.s.Server.Services, b)
	d.beyond.services = append(d.beyond.services, paths)
	return nil
}

// capacity reads a field of a capacity, or those below it; parent is the path of
// the capacity and prefix that of the field in it.
func (d *decoder) capacity(p *pair, c *fault.Capacity, parent, prefix string) *Error {
	name := prefix + p.key
	field := parent + "." + prefix + shorten(p.key)
	d.where[field] = p.position
	if name == "service" {
		pairs, err := p.value.mapping(field)
		for i := range pairs {
			if err == nil {
				err = d.capacity(&pairs[i], c, parent, "service.")
			}
		}
		return err
	}
	if name == "service."+quantilesField {
		return p.value.quantiles(field, &c.Service)
	}
	known, found, err := setField(p, fault.CapacityFields, c, name, field)
	if found {
		return err
	}
	return p.fail(field, unknown("there is no such field", p.key, belowOf(known, prefix)))
}

// setField reads the field of the given name; if it is not found, it returns the
// names that there are.
func setField[C any](
	p *pair, fields []knob.Field[C], c *C, name, field string,
) (known []string, found bool, err *Error) {
	for i := range fields {
		if fields[i].Name == name {
			v, err := p.value.parse(fields[i].Spec, field)
			if err == nil {
				fields[i].Set(c, v)
			}
			return nil, true, err
		}
		known = append(known, fields[i].Name)
	}
	return known, false, nil
}

// belowOf is the fields below a prefix, of a service or of its service time.
func belowOf(names []string, prefix string) (below []string) {
	if prefix == "" {
		below = append(below, "name", routesField)
	}
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, prefix)
		first, _, _ := strings.Cut(rest, ".")
		if ok && !slices.Contains(below, first) {
			below = append(below, first)
		}
	}
	if prefix != "" {
		below = append(below, quantilesField)
	}
	return below
}

// routeTimes reads the routes that take a time of their own.
func (d *decoder) routeTimes(p *pair) *Error {
	items, err := p.value.list("routes")
	if err != nil {
		return err
	}
	if len(items) > wire.MaxRoutes {
		return p.fail("routes", "there are more than "+strconv.Itoa(wire.MaxRoutes))
	}
	for i, item := range items {
		if err := d.routeTime(item, itemPath("routes", i)); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) routeTime(n *node, field string) *Error {
	d.where[field] = n.position
	pairs, err := n.mapping(field)
	if err != nil {
		return err
	}
	t := fault.RouteTime{Service: newBackend().Service}
	var path string
	for i := range pairs {
		p := &pairs[i]
		at := join(field, p.key)
		d.where[at] = p.position
		switch p.key {
		case pathField:
			path, err = p.value.scalar(at)
		case quantilesField:
			err = p.value.quantiles(at, &t.Service)
		default:
			known, found, failed := setField(p, fault.ServiceFields, &t.Service, p.key, at)
			err = failed
			if !found {
				known = append([]string{pathField}, append(known, quantilesField)...)
				return p.unknownField(field, known)
			}
		}
		if err != nil {
			return err
		}
	}
	if path == "" {
		return n.fail(field+"."+pathField, "is missing; write path: and the route that takes a time of its own")
	}
	d.s.Server.RouteTimes = append(d.s.Server.RouteTimes, t)
	d.beyond.routes = append(d.beyond.routes, path)
	return nil
}

// paths reads a list of routes.
func (n *node) paths(field string) ([]string, *Error) {
	items, err := n.list(field)
	if err != nil {
		return nil, err
	}
	if len(items) > wire.MaxRoutes {
		return nil, n.fail(field, "there are more than "+strconv.Itoa(wire.MaxRoutes))
	}
	var paths []string
	for _, item := range items {
		path, err := item.scalar(field)
		if err != nil {
			return nil, err
		}
		if msg := badPath(path); msg != "" {
			return nil, item.fail(field, msg)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// quantiles reads the list of times of an empirical service time.
func (n *node) quantiles(field string, c *fault.Service) *Error {
	items, err := n.list(field)
	if err != nil {
		return err
	}
	c.Quantiles = nil
	for _, item := range items {
		v, err := item.parse(quantileSpec, field)
		if err != nil {
			return err
		}
		c.Quantiles = append(c.Quantiles, time.Duration(v))
	}
	return nil
}
