package run

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/wire"
)

// surveyEvery is how often a fleet is looked at for what no event tells.
const surveyEvery = 100 * time.Millisecond

// survey looks at the fleet for those who watch what no event tells. Nobody
// watches in a run without a screen, and then it costs nothing; it changes
// nothing in either.
func (s *Session) survey() {
	if s.hub.wants(s.runner.now()) {
		s.runner.look(s.hub.survey)
	}
}

// wants says whether a survey is due.
func (h *hub) wants(now clock.Instant) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.watched.Lines && h.watched.BreakerRows == 0 || now.Bin(surveyEvery) == h.surveyed {
		return false
	}
	h.surveyed = now.Bin(surveyEvery)
	return true
}

// survey tells the metrics what is to be seen of a fleet.
func (h *hub) survey(now clock.Instant, f *fleet.Fleet) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watched.Lines {
		h.collector.SetHeads(now, f.Heads())
	}
	if h.watched.BreakerRows > 0 {
		h.collector.Look(func(client wire.ClientID, scope uint8) wire.BreakerDetail {
			return f.Machine(client).BreakerDetail(now, scope)
		})
	}
}
