package page_test

import (
	"testing"
	"time"

	"herdscope/scenarios"
	"herdscope/tui/page"
	"herdscope/tui/page/pagetest"
)

// Ageing is switched on from any order and off to the one that was before it.
func TestToggleAgeing(t *testing.T) {
	for _, order := range []string{"strict", "fifo", "lifo", "ageing"} {
		s := pagetest.Gateway()
		spec, err := scenarios.KnobNamed("queue.order")
		if err != nil {
			t.Fatal(err)
		}
		before, err := spec.Parse(order)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.SetValue("queue.order", before); err != nil {
			t.Fatal(err)
		}
		v := page.View{Scenario: s, Tune: &page.Tune{}}
		press := func() string {
			r := v.Tune.ToggleAgeing(v)
			if r.Kind != page.Act || r.Action.Knob != "queue.order" {
				t.Fatalf("%s: asks for %+v", order, r)
			}
			if err := v.Scenario.SetValue(r.Action.Knob, r.Action.Value); err != nil {
				t.Fatal(err)
			}
			return spec.Format(r.Action.Value)
		}
		first, second := press(), press()
		if order == "ageing" {
			if first == "ageing" || second != "ageing" {
				t.Errorf("from ageing to %s and %s", first, second)
			}
			continue
		}
		if first != "ageing" || second != order {
			t.Errorf("from %s to %s and %s", order, first, second)
		}
	}
}

// The page says how long the order lets anybody wait, at the sizes that have room.
func TestQueuesNameTheBound(t *testing.T) {
	p := page.Pages()[3]
	v := viewFor(p, 160, 42, pagetest.Gateway(), 14*time.Second, false)
	contains(t, frame(plain, 160, 42, p, v), "bound: ", "strict", "12,345×", "no slot", "NOW")
}
