package metrics

import (
	"testing"

	"herdscope/engine/wire"
)

func TestRefreshesAreCounted(t *testing.T) {
	var r Refreshes
	for _, e := range []wire.Event{
		{Kind: wire.RequestBegan},
		{Kind: wire.RequestBegan, Refresh: true},
		{Kind: wire.AttemptSent, Refresh: true},
		{Kind: wire.RequestDone, Refresh: true, Outcome: wire.Succeeded},
		{Kind: wire.RequestBegan, Refresh: true},
		{Kind: wire.RequestDone, Refresh: true, Outcome: wire.TimedOut},
		{Kind: wire.RequestDone, Outcome: wire.Failed},
	} {
		r.observe(&e)
	}
	if r != (Refreshes{Begun: 2, Failed: 1}) {
		t.Errorf("%+v, want 2 begun, 1 failed", r)
	}
}
