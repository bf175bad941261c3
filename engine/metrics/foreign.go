package metrics

// SetClients says how many clients there are from now on. A Collector of a fleet
// is told once, by its Config; one of clients that nobody here has made learns
// of them as they come, numbered from 0 without gaps.
func (c *Collector) SetClients(n int) { c.config.Clients = n }

// SetFaultPlan says which fault the server has at an index from now on: another
// one, the same with another plan, or, if the plan has no name, none. The hits of
// a fault that stays are kept.
func (c *Collector) SetFaultPlan(fault uint8, plan FaultPlan) {
	for int(fault) >= len(c.faults) {
		c.faults = append(c.faults, newFaults([]FaultPlan{{}})...)
	}
	f := &c.faults[fault]
	if f.plan.Name != plan.Name {
		*f = newFaults([]FaultPlan{plan})[0]
		return
	}
	f.plan = plan
}

// FaultIndex is the index of the fault of the given name; false if there is none.
func (c *Collector) FaultIndex(name string) (uint8, bool) {
	for i := range c.faults {
		if name != "" && c.faults[i].plan.Name == name {
			return uint8(i), true
		}
	}
	return 0, false
}

// nowhere is the plan of an index without a fault.
func (p *FaultPlan) nowhere() bool { return p.Name == "" && p.Next == nil }

// FaultViews is the faults that there are now, in the order of their indices.
func (c *Collector) FaultViews() []FaultView {
	views := make([]FaultView, 0, len(c.faults))
	for i := range c.faults {
		if f := &c.faults[i]; !f.plan.nowhere() {
			views = append(views, f.view(c.now))
		}
	}
	return views
}
