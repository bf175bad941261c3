package run

import (
	"fmt"
	"time"

	"herdscope/engine/metrics"
)

// lagLimit is how far behind its schedule a sender may be before it is said.
const lagLimit = 100 * time.Millisecond

// notice is what keeps the numbers from being those that were asked for, in one
// line; empty if nothing does. What the environment does comes first, then what
// the policy does.
func notice(s *metrics.Snapshot, c condition) string {
	switch {
	case c.notice != "":
		return c.notice
	case s.Missed > 0 && s.Lag > lagLimit:
		return fmt.Sprintf("sender %v behind schedule, %d arrivals left out: CPU",
			s.Lag.Round(time.Millisecond), s.Missed)
	case c.speed < 0.95:
		return fmt.Sprintf("virtual time runs at %.2f× of real time: CPU", c.speed)
	case held(s):
		return fmt.Sprintf("%d requests wait for a slot: offered %.0f/s, sent %.0f/s; %s",
			s.Waiting, s.Now.Offered, s.Now.Sent, holder(s))
	case s.Deadlocks > 0:
		return fmt.Sprintf("%d deadlocks of nested requests: all slots were held by parents that waited; "+
			"queue.nested=lane avoids them", s.Deadlocks)
	}
	return ""
}

// holder is what holds requests back.
func holder(s *metrics.Snapshot) string {
	if s.Paused > 0 {
		return "a limit of 0 pauses them"
	}
	return "queue limits hold them back"
}

// held says whether limits of the queues, and not the server, decide how much
// is sent: less than nine tenths of what is offered, and a queue that does not
// drain within a second.
func held(s *metrics.Snapshot) bool {
	return s.Now.Sent < 0.9*s.Now.Offered && float64(s.Waiting) > max(100, s.Now.Sent)
}
