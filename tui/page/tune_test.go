package page_test

import (
	"strings"
	"testing"
	"time"

	"herdscope/engine/metrics"
	"herdscope/scenarios"
	"herdscope/tui/keymap"
	"herdscope/tui/page"
	"herdscope/tui/page/pagetest"
	"herdscope/tui/theme"
)

func TestTuneSteps(t *testing.T) {
	for _, c := range []struct {
		name    string
		knob    string
		command keymap.Command
		want    int64
	}{
		{"next choice", "retry.jitter", keymap.More, 1},
		{"choice before wraps", "retry.jitter", keymap.Less, 3},
		{"one more", "retry.attempts", keymap.More, 7},
		{"five more", "retry.attempts", keymap.MuchMore, 11},
		{"less", "retry.base", keymap.Less, int64(1100 * time.Millisecond)},
		{"out of unlimited", "queue.limit", keymap.More, 1},
		{"switch", "retry.network", keymap.More, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := view()
			v.Tune.Select(c.knob, v)
			r := v.Tune.Handle(c.command, v)
			if r.Kind != page.Act || r.Action.Kind != scenarios.SetKnob || r.Action.Knob != c.knob || r.Action.Value != c.want {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestTuneSaysWhyNot(t *testing.T) {
	v := view()
	v.Tune.Select("fleet.clients", v)
	if r := v.Tune.Handle(keymap.More, v); r.Kind != page.Complain || r.Text == "" {
		t.Errorf("a fixed knob: %+v", r)
	}
	v.Knobs[1].Value = v.Knobs[1].Max
	v.Tune.Select("retry.attempts", v)
	if r := v.Tune.Handle(keymap.More, v); r.Kind != page.Complain {
		t.Errorf("beyond the range: %+v", r)
	}
}

func TestTuneSelection(t *testing.T) {
	v := view()
	for _, c := range []struct {
		command keymap.Command
		want    string
	}{
		{keymap.Up, "retry.jitter"}, {keymap.Down, "retry.attempts"}, {keymap.Last, "fleet.clients"},
		{keymap.Down, "fleet.clients"}, {keymap.PageUp, "retry.jitter"}, {keymap.PageDown, "fleet.clients"},
		{keymap.First, "retry.jitter"},
	} {
		v.Tune.Handle(c.command, v)
		if k, _ := v.Tune.Selected(v); k.Name != c.want {
			t.Errorf("command %d selects %s, want %s", c.command, k.Name, c.want)
		}
	}
}

func TestTuneWithoutKnobs(t *testing.T) {
	v := page.View{Tune: &page.Tune{}}
	for _, c := range []keymap.Command{keymap.More, keymap.Down, keymap.Enter, keymap.Last} {
		if r := v.Tune.Handle(c, v); r.Kind != page.Nothing {
			t.Errorf("command %d asks for %+v", c, r)
		}
	}
}

func TestEveryPanelKnobExists(t *testing.T) {
	s := scenarios.Default()
	ks := page.Knobs(nil, s, false)
	if len(ks) != len(s.Panel()) {
		t.Errorf("%d of %d knobs of the panel exist", len(ks), len(s.Panel()))
	}
	for _, k := range ks {
		if k.Doc == "" {
			t.Errorf("%s says nothing of itself", k.Name)
		}
	}
}

func TestSentences(t *testing.T) {
	for _, c := range []struct {
		note metrics.Note
		want string
	}{
		{metrics.Note{Kind: metrics.NoteFaultBegan, Text: "outage"}, "outage began"},
		{metrics.Note{Kind: metrics.NoteFaultEnded, Text: "outage", N: 2048}, "outage ended; it hit 2,048 attempts"},
		{metrics.Note{Kind: metrics.NoteFaultEnded, Text: "outage"}, "outage ended; it hit nobody"},
		{metrics.Note{Kind: metrics.NoteHerd, N: 614, Times: 23.04}, "herd: 614 attempts in 100 ms (23.0× the mean before)"},
		{metrics.Note{Kind: metrics.NoteHerd, N: 614}, "herd: 614 attempts in 100 ms"},
		{metrics.Note{Kind: metrics.NoteBreakersOpened, N: 385, Delay: 100 * time.Millisecond}, "385 breakers opened within 100 ms"},
		{metrics.Note{Kind: metrics.NoteStarving, Text: "background", Delay: 14200 * time.Millisecond},
			"background starves; its oldest has waited 14.2 s"},
		{metrics.Note{Kind: metrics.NoteFed, Text: "background", Delay: 3 * time.Second},
			"background is served again, after starving 3.00 s"},
		{metrics.Note{Kind: metrics.NoteRecovered, Text: "outage", Delay: 8300 * time.Millisecond},
			"recovered 8.30 s after the end of outage"},
		{metrics.Note{Kind: metrics.NoteChange, Text: "retry.jitter = full"}, "changed: retry.jitter = full"},
	} {
		got, role := page.Sentence(c.note)
		if got != c.want || role == theme.Plain {
			t.Errorf("got %q in role %d, want %q", got, role, c.want)
		}
	}
}

// All choices of a setting, and what it means, can be read beside a chart of the
// usual sizes. The jitter is the setting that has most.
func TestTuneShowsAllChoices(t *testing.T) {
	jitter := page.Knobs(nil, scenarios.Scenario{}, false)[0]
	for _, size := range sizes[:3] {
		w, h := size.w, size.h-3
		p := page.Pages()[0]
		v := viewFor(p, w, h, pagetest.Scenario(), 6*time.Second, false)
		v.Knobs = []page.Knob{jitter}
		got := frame(plain, w, h, p, v)
		words := append(strings.Fields(jitter.Allowed()), strings.Fields(jitter.Doc)...)
		for _, word := range words {
			if !strings.Contains(got, word) {
				t.Errorf("%dx%d: no %q in\n%s", size.w, size.h, word, got)
			}
		}
	}
}
