package scenarios

import (
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

// Sustained is how many attempts per second the server can serve if they are
// mixed as the requests are, retries and all: beyond it, the first of the
// services has more work than its workers can do. It is 0 if nothing limits it.
// Where no class has a weight, each counts as much as the others.
// What is said of fault.Config.Sustained goes for it too.
func (s *Scenario) Sustained() float64 {
	parts := make([]fault.Load, 0, wire.NumClasses)
	known := false
	for _, m := range s.Fleet.Mix {
		known = known || m.Weight > 0
	}
	for class, m := range s.Fleet.Mix {
		if !known {
			m.Weight = 1
		}
		parts = append(parts, fault.Load{Route: m.Route, Class: wire.Class(class), Weight: m.Weight})
	}
	return s.Server.Sustained(parts)
}
