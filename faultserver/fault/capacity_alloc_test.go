package fault

import (
	"testing"
	"time"

	"herdscope/engine/wire"
)

// crowdedConfig has two services that turn attempts away all the time, each in
// the ways and the order given.
func crowdedConfig(full WhenFull, o Order) Config {
	return Config{
		Workers: 2, Backlog: 10, WhenFull: full, Order: o,
		Service: Service{
			Shape: EmpiricalShape, Quantiles: []time.Duration{ms, 5 * ms, 20 * ms}, PerInFlight: ms,
		},
		Services: []Backend{{Name: "b", Routes: []uint8{1}, Capacity: Capacity{
			Workers: 1, Backlog: 5, WhenFull: full, Order: o,
			Service: Service{Shape: ParetoShape, Mean: 5 * ms},
		}}},
		RejectionCost: 50,
		Abandoned:     Cancel,
		ColdStart:     ColdStart{Time: s},
		Faults: []Fault{
			{Name: "down", Kind: Outage, Start: s, Length: 200 * ms, Every: 5 * s, Share: Always},
		},
	}
}

// rush is 1,000 steps, and then a rest in which those that wait find an end:
// else there would be ever more of them.
func (l *load) rush() {
	for range 1000 {
		l.step()
	}
	l.now = l.now.Add(10 * s)
}

func TestCapacityDoesNotAllocate(t *testing.T) {
	for full := range WhenFull(len(whenFullNames)) {
		for o := range Order(len(orderNames)) {
			l := load{s: mustNew(t, crowdedConfig(full, o)), out: make([]wire.ServerEffect, 0, 1<<14)}
			for range 50 {
				l.rush()
			}
			if allocs := testing.AllocsPerRun(5, l.rush); allocs != 0 {
				t.Errorf("%v, %v: %v allocations in 1,000 steps, want 0", full, o, allocs)
			}
		}
	}
}
