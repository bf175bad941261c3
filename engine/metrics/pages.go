package metrics

import (
	"time"

	"herdscope/engine/wire"
)

// MaxSteps is how many steps of a page are told apart; what comes after them
// counts in the last one.
const MaxSteps = 8

// PageView is the pages of the whole run: chains of requests, each of which
// begins when the one before it has succeeded. Those held when the run began are
// left out.
type PageView struct {
	// Times are of the pages that were had whole, Failed counts the others.
	Times  Percentiles
	Failed int64
	// Steps are the requests of the whole pages in their order, each with the
	// time that all pages together spent on it. One step follows the other without
	// a gap, so that the sum of all is Sum, the time that the pages took.
	Steps []Step
	Sum   time.Duration
}

// Step is one request of a page.
type Step struct {
	// Pages is how many pages had this step.
	Pages int64
	Spent Spent
}

// pages is the pages under way, and the sums of those that were had whole.
type pages struct {
	under  table[progress]
	steps  [MaxSteps]Step
	times  times
	sum    time.Duration
	failed int64
}

// progress is how far one page is.
type progress struct {
	done  int
	steps [MaxSteps]Spent
}

func newPages() pages { return pages{under: newTable[progress](), times: newTimes(latencyDigits)} }

// pageKey is a page as one number, which is not 0: groups are numbered from 1.
func pageKey(e *wire.Event) uint64 { return uint64(e.ID.Client)<<32 | uint64(e.Group) }

// step takes in that a request of a page has ended.
func (p *pages) step(e *wire.Event, spent *Spent) {
	if e.Group == 0 || e.Parent != 0 { // what is nested is in the step of its parent
		return
	}
	at := p.under.at(pageKey(e))
	if at == nil {
		p.under.put(pageKey(e), progress{})
		at = p.under.at(pageKey(e))
	}
	at.steps[min(at.done, MaxSteps-1)].add(spent)
	at.done++
}

// ended takes in that a page has ended.
func (p *pages) ended(e *wire.Event) {
	page, _ := p.under.take(pageKey(e))
	switch {
	case !e.Good:
		p.failed++
	case !e.Warm:
		p.times.record(e.Delay)
		p.sum += e.Delay
		for i := range min(page.done, MaxSteps) {
			p.steps[i].Pages++
			p.steps[i].Spent.add(&page.steps[i])
		}
	}
}

func (p *pages) view() PageView {
	v := PageView{Times: p.times.percentiles(), Failed: p.failed, Sum: p.sum}
	for i := range p.steps {
		if p.steps[i].Pages > 0 {
			v.Steps = append(v.Steps, p.steps[i])
		}
	}
	return v
}
