package fault

import "herdscope/engine/wire"

// setLost has each service lose the workers that the cuts of capacity take from
// it. Cuts multiply; they do nothing where workers are unlimited.
func (s *Server) setLost() {
	for p := range s.pools {
		pool := &s.pools[p]
		left := pool.Workers
		for i := range s.windows {
			if f := &s.config.Faults[i]; s.windows[i].on && f.Kind == CapacityCut && s.serves(i, uint8(p)) {
				left = int(int64(left) * f.Left / 1000)
			}
		}
		pool.lost = pool.Workers - left
	}
}

// held counts a hit for the outages that have stopped the service of a job which
// has just been let in, or else for the cuts of capacity, if it has to wait for a
// worker that they have taken away.
func (s *Server) held(slot int32, out []wire.ServerEffect) []wire.ServerEffect {
	j := &s.jobs.table[slot]
	p := &s.pools[j.service]
	if j.stage != inBacklog || !p.frozen && p.serving >= p.Workers {
		return out
	}
	for i := range s.windows {
		f := &s.config.Faults[i]
		stops := f.Kind == Outage && f.How == ByFreezing
		if s.windows[i].on && (stops || f.Kind == CapacityCut && !p.frozen) && s.serves(i, j.service) {
			out = s.strike(&j.attempt, i, out)
		}
	}
	return out
}
