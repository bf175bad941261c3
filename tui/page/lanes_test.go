package page_test

import (
	"testing"
	"time"

	"herdscope/engine/metrics"
	"herdscope/tui/page"
	"herdscope/tui/page/pagetest"
)

// The breakers can be leafed through, to the last of them and no further, and a
// filter begins at the first.
func TestBreakersCanBeLeafedThrough(t *testing.T) {
	p := page.Pages()[2]
	const w, h = 160, 42
	v := viewFor(p, w, h, pagetest.Gateway(), 14*time.Second, false)
	watch := func() metrics.Watch { return p.Watch(w, h, v) }
	rows := watch().BreakerRows
	p.Turn(1)
	if got := watch().BreakerSkip; got != rows {
		t.Errorf("one further begins at %d, want %d", got, rows)
	}
	v.Snap = pagetest.At(pagetest.Gateway(), 14*time.Second, watch())
	contains(t, frame(plain, w, h, p, v), "24–46 of 1,000", "c23 ")
	for range 100 {
		p.Turn(1)
		watch()
	}
	if got := watch().BreakerSkip; got != 1000-rows {
		t.Errorf("the last begin at %d, want %d", got, 1000-rows)
	}
	if which, ok := p.Filter(); !ok || which != "breakers: not closed" || watch().BreakerSkip != 0 {
		t.Errorf("a filter shows %q from %d on", which, watch().BreakerSkip)
	}
	for range 100 {
		p.Turn(-1)
	}
	if got := watch().BreakerSkip; got != 0 {
		t.Errorf("the first begin at %d", got)
	}
}

// A number that is not known is said to be none, and a share of too few calls to
// be of too few.
func TestLanesSayWhatTheyDoNotKnow(t *testing.T) {
	p := page.Pages()[2]
	const w, h = 200, 47
	s := pagetest.Gateway()
	s.Fleet.Policy.Breaker.FailureRate = 500
	v := viewFor(p, w, h, s, 14*time.Second, false)
	for i := range v.Snap.Lanes.Lanes {
		l := &v.Snap.Lanes.Lanes[i]
		l.Detail.Calls, l.Detail.Failed, l.Detail.Size, l.Detail.Least = 12, 3, 100, 20
	}
	v.Snap.Lanes.Lanes[0].Looked = false
	contains(t, frame(plain, w, h, p, v), "12/100", "n<20", "opens at 2 fails in a row, or 50 % failed")
}
