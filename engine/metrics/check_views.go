package metrics

import (
	"time"

	"herdscope/engine/wire"
)

// latency checks that every moment of a request is spent on one thing, and that
// those which succeeded are among those which ended.
func (c *checker) latency(s *Snapshot) {
	var open int64
	for i := range s.Latency.Classes {
		l := &s.Latency.Classes[i]
		c.percentiles("latency from the intended start", i, l.Intended)
		c.percentiles("latency from the send", i, l.Sent)
		c.equal("successes from start and from send", l.Intended.Count, l.Sent.Count)
		c.atLeast("requests ended", l.Ended, l.Intended.Count)
		c.ordered("latency from send and from start", l.Sent.Max, l.Intended.Max)
		c.spent("time of "+wire.Class(i).String(), &l.Spent)
		open += l.Open
	}
	c.atLeast("unfinished requests", s.Outcomes[wire.Unfinished], open)
	p := &s.Latency.Pages
	var sum time.Duration
	for i := range p.Steps {
		c.spent("time of a step", &p.Steps[i].Spent)
		c.atLeast("whole pages", p.Times.Count, p.Steps[i].Pages)
		sum += p.Steps[i].Spent.Sum()
	}
	c.equal("time of pages and of their steps", int64(p.Sum), int64(sum))
}

func (c *checker) spent(name string, s *Spent) {
	for _, d := range s {
		c.atLeast(name, int64(d), 0)
	}
}
