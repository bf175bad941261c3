package page_test

import (
	"strings"
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/tui/page"
)

// withFault is a view of a fault.
func withFault(f metrics.FaultView) page.View {
	v := view()
	s := *v.Snap
	f.Name, f.Length = "outage", 3*time.Second
	s.Faults = []metrics.FaultView{f}
	v.Snap = &s
	return v
}

// The list tells a fault that a hand holds from one that follows its schedule.
func TestFaultListSaysWhatHoldsAFault(t *testing.T) {
	soon := view().Snap.At.Add(2 * time.Second)
	for _, c := range []struct {
		fault metrics.FaultView
		want  []string
	}{
		{metrics.FaultView{Until: clock.Never, Next: soon}, []string{" off ", "in 2.00 s, for 3.00 s"}},
		{metrics.FaultView{Until: clock.Never, Next: clock.Never}, []string{" off ", "none planned"}},
		{metrics.FaultView{On: true, Until: soon, Next: clock.Never}, []string{" ON for 2.00 s"}},
		{
			metrics.FaultView{On: true, Until: clock.Never, Next: clock.Never, Hand: wire.FaultOn},
			[]string{" ON, held", "when a gives it back"},
		},
		{
			metrics.FaultView{Until: clock.Never, Next: clock.Never, Hand: wire.FaultOff},
			[]string{" off, held", "when a gives it back"},
		},
	} {
		got := sheet(plain, 100, 12, page.NewFaultList(keys), withFault(c.fault))
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%+v: no %q in\n%s", c.fault, want, got)
			}
		}
	}
}

// However narrow the list is, it says what each key does, and counts the hits.
func TestNarrowFaultListLosesNoKey(t *testing.T) {
	v := withFault(metrics.FaultView{On: true, Until: clock.Never, Next: clock.Never, Hand: wire.FaultOn, Hits: 12345})
	got := sheet(plain, 40, 9, page.NewFaultList(keys), v)
	for _, want := range []string{"now, for its length", "o on", "x off", "a by schedule", "ON, held", "12,345"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// A fault that is on is not yet overcome, whatever was said of the one before.
func TestNoRecoveryWhileAFaultIsOn(t *testing.T) {
	v := withFault(metrics.FaultView{On: true, Until: clock.Never, Next: clock.Never})
	v.Snap.Recovery = metrics.Recovery{Known: true, Took: 1500 * time.Millisecond}
	got := frame(plain, 120, 32, page.Pages()[0], v)
	if !strings.Contains(got, "outage is on") || strings.Contains(got, "recovered after") {
		t.Errorf("got\n%s", got)
	}
}
