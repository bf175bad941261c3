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

// lines checks that nobody is overtaken without a start that went before, and
// that who starves waits.
func (c *checker) lines(s *Snapshot) {
	for i := range s.Lines.Classes {
		l := &s.Lines.Classes[i]
		name := wire.Class(i).String()
		var jumps, heads int64
		for from := range s.Lines.Jumped {
			if from != i {
				jumps += s.Lines.Jumped[from][i]
			}
		}
		c.atLeast("overtaken of "+name, l.Overtaken, jumps)
		c.ordered("average wait of "+name, l.EWMA, s.Queues[i].Max)
		c.ordered("service gap of "+name, l.ServiceGap)
		c.atLeast("asked by "+name, l.Asked, 0)
		c.atLeast("started of "+name, l.Started, 0)
		for _, n := range s.Lines.Heads[i] {
			heads += n
		}
		c.atLeast("queues of "+name, int64(s.Clients)*wire.MaxScopes, heads)
	}
	for _, h := range s.Lines.Hungers {
		if h.Ended < h.Began {
			c.failf("starvation %+v ended before it began", h)
		}
	}
}

// lanes checks that the breakers that are shown in detail are among all, and that
// no transition is listed that did not happen.
func (c *checker) lanes(s *Snapshot) {
	v := s.Lanes
	c.atLeast("breakers", s.Breakers.Total, v.Matching)
	c.atLeast("breakers that match", v.Matching, v.Skipped+int64(len(v.Lanes)))
	for i := range v.Lanes {
		l := &v.Lanes[i]
		if l.Since > s.At {
			c.failf("breaker of client %d is %v since %v", l.Client, l.State, l.Since.Duration())
		}
		c.atLeast("calls in the window", l.Detail.Calls, max(l.Detail.Failed, l.Detail.Slow))
	}
	var listed int64
	for _, f := range v.Flips {
		if f.Last < f.At || f.N < 1 {
			c.failf("transitions %+v", f)
		}
		listed += f.N
	}
	c.atLeast("transitions", v.Total, listed)
}
