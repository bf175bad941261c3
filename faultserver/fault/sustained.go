package fault

import "herdscope/engine/wire"

// Load is a part of all attempts: those of one class on one route.
type Load struct {
	Route  uint8
	Class  wire.Class
	Weight int // relative to the other parts; one of 0 or less counts for nothing
}

// Sustained is how many attempts per second come when the first of the services
// has all its workers busy all the time, if the attempts are of these parts; 0
// if that never happens, as all workers are unlimited or no work takes any time.
// Faults, cold starts and the work of rejections are left out.
func (c *Config) Sustained(parts []Load) float64 {
	work := make([]float64, 1+len(c.Services)) // seconds for the weight of all parts
	whole := 0
	for _, p := range parts {
		if p.Weight > 0 {
			whole += p.Weight
			work[c.ServiceOf(p.Route)] += float64(p.Weight) * c.meanOf(p)
		}
	}
	least := 0.0
	for i, seconds := range work {
		workers := c.capacity(i).Workers
		if workers <= 0 || seconds <= 0 {
			continue
		}
		if rate := float64(whole) * float64(workers) / seconds; least == 0 || rate < least {
			least = rate
		}
	}
	return least
}

// meanOf is the mean service time of a part, in seconds, with all workers busy.
func (c *Config) meanOf(p Load) float64 {
	own := c.capacity(int(c.ServiceOf(p.Route)))
	service := &own.Service
	for i := range c.RouteTimes {
		if c.RouteTimes[i].Route == p.Route {
			service = &c.RouteTimes[i].Service
		}
	}
	mean := service.mean().Seconds() + float64(max(own.Workers, 0))*service.PerInFlight.Seconds()
	return mean * float64(c.factor(p.Class)) / 1000
}
