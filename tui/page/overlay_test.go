package page_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/exp/golden"

	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/scenarios"
	"herdscope/tui/keymap"
	"herdscope/tui/page"
	"herdscope/tui/page/pagetest"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

var keys = keymap.New([]string{"Overview", "Herd"})

func library() []scenarios.Scenario {
	return []scenarios.Scenario{pagetest.Scenario(), pagetest.Gateway()}
}

func view() page.View {
	return pagetest.View(pagetest.Scenario(), 6*time.Second, false,
		func(page.View) metrics.Watch { return metrics.Watch{} })
}

// press sends keys to an overlay and returns what the last asked for.
func press(o page.Overlay, v page.View, names ...string) page.Request {
	var r page.Request
	for _, n := range names {
		r = o.Key(pagetest.Key(n), v)
	}
	return r
}

func overlays(v page.View) map[string]page.Overlay {
	return map[string]page.Overlay{
		"help":    page.NewHelp(keys),
		"palette": page.NewPalette(keys, library(), v),
		"picker":  page.NewPicker(keys, library(), "restart"),
		"faults":  page.NewFaultList(keys),
		"prompt":  page.NewValuePrompt(keys, v.Knobs[2]),
	}
}

func sheet(t *theme.Theme, w, h int, over page.Overlay, v page.View) string {
	c := widget.NewCanvas(t)
	c.Reset(w, h)
	over.Draw(c.Area(), v)
	return c.String()
}

func TestOverlays(t *testing.T) {
	v := view()
	for name, o := range overlays(v) {
		for _, size := range []struct{ w, h int }{{120, 32}, {80, 21}, {40, 9}} {
			t.Run(fmt.Sprintf("%s/%dx%d", name, size.w, size.h), func(t *testing.T) {
				golden.RequireEqual(t, []byte(sheet(plain, size.w, size.h, o, v)))
			})
		}
	}
}

func TestOverlaysFitEverySize(t *testing.T) {
	v := view()
	for _, o := range overlays(v) {
		for w := 0; w <= 130; w += 1 + w/6 {
			for h := 0; h <= 60; h += 1 + h/6 {
				checkFrame(t, sheet(color, w, h, o, v), w, h)
			}
		}
	}
}

func TestEscClosesEveryOverlay(t *testing.T) {
	v := view()
	for name, o := range overlays(v) {
		if r := press(o, v, "esc"); r.Kind != page.Close {
			t.Errorf("%s: esc asks for %d", name, r.Kind)
		}
	}
}

// Every binding is in the help, however far it has to be scrolled.
func TestHelpShowsEveryBinding(t *testing.T) {
	v := view()
	h := page.NewHelp(keys)
	text := ""
	for range 80 {
		text += sheet(plain, 90, 12, h, v)
		press(h, v, "down")
	}
	for _, b := range keys.All() {
		if !strings.Contains(text, b.Help().Key) || !strings.Contains(text, b.Help().Desc) {
			t.Errorf("the help lacks %q: %q", b.Help().Key, b.Help().Desc)
		}
	}
}

// On a narrow screen what a key does is wrapped, and not cut.
func TestNarrowHelpCutsNothing(t *testing.T) {
	v := view()
	h := page.NewHelp(keys)
	for range 200 {
		if got := sheet(plain, 40, 9, h, v); strings.Contains(got, "…") {
			t.Fatalf("cut:\n%s", got)
		}
		press(h, v, "down")
	}
	if got := sheet(plain, 40, 9, h, v); !strings.Contains(got, " ours ") {
		t.Errorf("the end is out of reach:\n%s", got)
	}
}

func TestHelpScrollsNoFurtherThanItsEnd(t *testing.T) {
	v := view()
	h := page.NewHelp(keys)
	sheet(plain, 90, 12, h, v)
	press(h, v, "end")
	end := sheet(plain, 90, 12, h, v)
	press(h, v, "down", "pgdown")
	if got := sheet(plain, 90, 12, h, v); got != end {
		t.Errorf("beyond the end:\n%s", got)
	}
	press(h, v, "home")
	if got := sheet(plain, 90, 12, h, v); !strings.Contains(got, keymap.Running) {
		t.Errorf("at the top:\n%s", got)
	}
}

func TestPicker(t *testing.T) {
	v := view()
	p := page.NewPicker(keys, library(), "restart")
	if r := press(p, v, "j", "j", "enter"); r.Kind != page.OpenScenario || r.Arg != 1 {
		t.Errorf("got %+v", r)
	}
	empty := page.NewPicker(keys, nil, "")
	if r := press(empty, v, "down", "enter"); r.Kind != page.Nothing {
		t.Errorf("an empty list asks for %+v", r)
	}
}

func TestFaultKeys(t *testing.T) {
	v := view()
	for key, do := range map[string]wire.FaultDo{
		"n": wire.FaultNow, "enter": wire.FaultNow, "o": wire.FaultOn, "x": wire.FaultOff, "a": wire.FaultAuto,
	} {
		r := press(page.NewFaultList(keys), v, key)
		if r.Kind != page.Act || r.Action.Kind != scenarios.DoFault || r.Action.Fault != "outage" || r.Action.Do != do || !r.Keep {
			t.Errorf("%s: got %+v", key, r)
		}
	}
	v.Snap = &metrics.Snapshot{}
	if r := press(page.NewFaultList(keys), v, "n"); r.Kind != page.Nothing {
		t.Errorf("without faults: %+v", r)
	}
}

func TestPaletteFinds(t *testing.T) {
	v := view()
	for _, c := range []struct {
		typed string
		want  func(page.Request) bool
	}{
		{"freeze", func(r page.Request) bool { return r.Kind == page.Run && r.Command == keymap.Freeze }},
		{"herd", func(r page.Request) bool { return r.Kind == page.Run && r.Command == keymap.ShowPage && r.Arg == 1 }},
		{"jitter full", func(r page.Request) bool {
			return r.Kind == page.Act && r.Action.Knob == "retry.jitter" && r.Action.Value == 1
		}},
		{"base=2s", func(r page.Request) bool {
			return r.Kind == page.Act && r.Action.Knob == "retry.base" && r.Action.Value == int64(2*time.Second)
		}},
		{"base=2", func(r page.Request) bool { return r.Kind == page.Complain && r.Keep }},
		{"set base", func(r page.Request) bool { return r.Kind == page.Prompt && r.Action.Knob == "retry.base" }},
		{"outage now", func(r page.Request) bool {
			return r.Kind == page.Act && r.Action.Do == wire.FaultNow && r.Action.Fault == "outage" && !r.Keep
		}},
		{"gateway", func(r page.Request) bool { return r.Kind == page.OpenScenario && r.Arg == 1 }},
		{"nonsense here", func(r page.Request) bool { return r.Kind == page.Nothing }},
	} {
		p := page.NewPalette(keys, library(), v)
		if r := press(p, v, append(strings.Split(c.typed, ""), "enter")...); !c.want(r) {
			t.Errorf("%q: got %+v", c.typed, r)
		}
	}
}

// Every command of a page can be reached through the palette.
func TestPaletteHasEveryCommand(t *testing.T) {
	v := view()
	for _, b := range keys.Commands() {
		if b.Group == keymap.Tuning && b.Command != keymap.Undo || b.Command == keymap.Palette {
			continue
		}
		p := page.NewPalette(keys, library(), v)
		r := press(p, v, append(strings.Split(b.Help().Desc, ""), "enter")...)
		if r.Kind != page.Run || r.Command != b.Command || r.Arg != b.Arg {
			t.Errorf("%q: got %+v", b.Help().Desc, r)
		}
	}
}

func TestPrompt(t *testing.T) {
	v := view()
	base := v.Knobs[2]
	r := press(page.NewValuePrompt(keys, base), v, "9", "backspace", "2", "5", "0", "m", "s", "enter")
	if r.Kind != page.Act || r.Action.Value != int64(250*time.Millisecond) {
		t.Errorf("got %+v", r)
	}
	p := page.NewValuePrompt(keys, base)
	if r := press(p, v, "2", "enter"); r.Kind != page.Nothing {
		t.Errorf("a duration without a unit: %+v", r)
	}
	if got := sheet(plain, 80, 20, p, v); !strings.Contains(got, "unit") {
		t.Errorf("it is not said what is wrong:\n%s", got)
	}
}

func TestLineEditing(t *testing.T) {
	v := view()
	for _, c := range []struct {
		keys string
		want int64
	}{
		{"2 s left left 1", int64(12 * time.Second)},
		{"1 2 s home delete", int64(2 * time.Second)},
		{"1 2 s ctrl+a right delete", int64(1 * time.Second)},
		{"j u n k ctrl+u 3 s", int64(3 * time.Second)},
		{"j u n k space x ctrl+w ctrl+w 4 s", int64(4 * time.Second)},
		{"s left 5 end backspace s", int64(5 * time.Second)},
		{"backspace delete left ctrl+w 6 s", int64(6 * time.Second)},
	} {
		r := press(page.NewValuePrompt(keys, v.Knobs[2]), v, append(strings.Fields(c.keys), "enter")...)
		if r.Action.Value != c.want {
			t.Errorf("%s: got %v", c.keys, time.Duration(r.Action.Value))
		}
	}
}

func TestLongInputStaysInItsLine(t *testing.T) {
	v := view()
	p := page.NewValuePrompt(keys, v.Knobs[2])
	p.Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(strings.Repeat("long ", 100)), Paste: true}, v)
	checkFrame(t, sheet(plain, 50, 12, p, v), 50, 12)
	press(p, v, "home")
	checkFrame(t, sheet(plain, 50, 12, p, v), 50, 12)
}
