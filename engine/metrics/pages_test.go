package metrics

import (
	"testing"
	"time"

	"herdscope/engine/wire"
)

// TestPagesAreTheGoodOnes: the times are those of pages that were had whole, and
// began in the run.
func TestPagesAreTheGoodOnes(t *testing.T) {
	c := New(Config{Clients: 1})
	for i, e := range []wire.Event{
		{Good: true, Delay: 200 * time.Millisecond},
		{Good: true, Delay: 100 * time.Millisecond},
		{Good: true, Delay: time.Hour, Warm: true},
		{Good: false, Delay: time.Minute},
	} {
		e.Kind, e.Group = wire.PageEnded, uint32(i+1)
		c.Observe(e)
	}
	s := c.Summary()
	if s.Pages.Count != 2 || s.Pages.Max != 200*time.Millisecond || s.PagesFailed != 1 {
		t.Errorf("pages %+v, %d failed", s.Pages, s.PagesFailed)
	}
	if s.Pages.P50 < 100*time.Millisecond || s.Pages.P50 > 101*time.Millisecond {
		t.Errorf("p50 is %v, want 100 ms", s.Pages.P50)
	}
	if s.Check() == nil {
		t.Error("Check has nothing against pages without requests")
	}
}
