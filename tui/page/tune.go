package page

import (
	"math"
	"strconv"
	"strings"

	"herdscope/engine/knob"
	"herdscope/scenarios"
	"herdscope/tui/keymap"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// Tune is the tuning panel: which setting is selected. All pages share one, so
// that a setting stays selected from page to page.
type Tune struct {
	list list
	// order is the order of the queues before ageing was switched on.
	order int64
}

// muchSteps is how many steps the keys for "much" take.
const muchSteps = 5

// Selected is the selected setting; false if there are none.
func (t *Tune) Selected(v View) (Knob, bool) {
	if len(v.Knobs) == 0 {
		return Knob{}, false
	}
	t.list.clamp(len(v.Knobs))
	return v.Knobs[t.list.at], true
}

// Select selects a setting by name.
func (t *Tune) Select(name string, v View) {
	for i, k := range v.Knobs {
		if k.Name == name {
			t.list.at = i
		}
	}
}

// Handle does what a command means for the panel.
func (t *Tune) Handle(c keymap.Command, v View) Request {
	k, ok := t.Selected(v)
	switch {
	case t.list.move(c, len(v.Knobs)) || !ok:
		return Request{}
	case c == keymap.Less:
		return step(k, -1)
	case c == keymap.More:
		return step(k, 1)
	case c == keymap.MuchLess:
		return step(k, -muchSteps)
	case c == keymap.MuchMore:
		return step(k, muchSteps)
	case c == keymap.Enter:
		return Request{Kind: Prompt, Action: scenarios.Action{Knob: k.Name}}
	}
	return Request{}
}

// step asks for a setting to be changed by some key presses. Presses that go
// beyond the range ask for nothing.
func step(k Knob, presses int) Request {
	if k.Fixed {
		return Request{Kind: Complain, Text: k.Name + " cannot change while a run goes on; press r to run again"}
	}
	value := k.Stepped(k.Value, presses)
	if value == k.Value {
		return Request{Kind: Complain, Text: k.Name + " is " + k.Format(k.Value) + "; allowed is " + k.Allowed()}
	}
	return set(k, value)
}

func set(k Knob, value int64) Request {
	return Request{Kind: Act, Action: scenarios.Action{Kind: scenarios.SetKnob, Knob: k.Name, Value: value}}
}

// drawTune draws the settings with their values, and what the selected one
// means.
func drawTune(a widget.Area, v View) {
	t := v.Tune
	note := ""
	if len(v.Knobs) > 0 {
		t.list.clamp(len(v.Knobs))
		note = strconv.Itoa(t.list.at+1) + " of " + strconv.Itoa(len(v.Knobs))
	}
	in := widget.Panel(a, "Tune", note)
	k, ok := t.Selected(v)
	if !ok {
		in.TextCut(0, 0, in.W, "nothing to tune here", theme.Of(theme.Dim))
		return
	}
	rows, _ := in.Rows(in.H - tuneDoc(in, k))
	first := t.list.window(len(v.Knobs), rows.H)
	for y := 0; y < rows.H && first+y < len(v.Knobs); y++ {
		drawKnob(rows.Sub(0, y, rows.W, 1), v.Knobs[first+y], first+y == t.list.at)
	}
}

// tuneDoc draws at the foot of the panel what the selected setting means and
// which values it takes, and returns how many rows that took.
func tuneDoc(in widget.Area, k Knob) int {
	room := min(in.H*2/5, 7)
	if room < 3 {
		return 0
	}
	allowed := allowedLines(in.W, max(room-4, 1), k)
	doc := clip(widget.Wrap(k.Doc, in.W), room-1-len(allowed), in.W)
	foot := in.Sub(0, in.H-len(doc)-len(allowed), in.W, len(doc)+len(allowed))
	for i, text := range append(doc, allowed...) {
		foot.Text(0, i, text, theme.Of(theme.Dim))
	}
	if !discrete(k) {
		drawRange(foot.Sub(0, foot.H-1, in.W, 1), k)
	}
	return foot.H + 1
}

// allowedLines says which values a setting takes, in most lines at most. It is
// in one for a range, which is drawn.
func allowedLines(w, most int, k Knob) []string {
	if !discrete(k) {
		most = 1
	}
	return clip(widget.Wrap(k.Allowed(), w), most, w)
}

// clip is the first n of some lines, the last of which shows if there are more.
func clip(lines []string, n, w int) []string {
	if len(lines) <= n || n <= 0 {
		return lines[:min(len(lines), max(n, 0))]
	}
	lines[n-1] = widget.Cut(lines[n-1]+" "+lines[n], w)
	return lines[:n]
}

// drawRange draws where a value stands among those that are allowed, over the
// words that say so, if there is room.
func drawRange(a widget.Area, k Knob) {
	low, high := k.Format(k.Min), k.Format(k.Max)
	bar := a.Sub(widget.Width(low)+1, 0, a.W-widget.Width(low)-widget.Width(high)-2, 1)
	if bar.W < 4 {
		return
	}
	a.Fill(' ', theme.Style{})
	a.Text(0, 0, low, theme.Of(theme.Dim))
	widget.Bar(bar, along(k), theme.Of(theme.Accent))
	a.TextRight(a.W, 0, high, theme.Of(theme.Dim))
}

// drawKnob draws one setting: its name and its value.
func drawKnob(a widget.Area, k Knob, selected bool) {
	value := k.Format(k.Value)
	if k.Kind == knob.Int && k.Unit != "" && !isWord(k) && a.W >= 40 {
		value += " " + unit(k)
	}
	style, name := theme.Of(theme.Plain), theme.Of(theme.Dim)
	at := a.W - 2 - widget.Width(value)
	if selected {
		style, name = theme.Of(theme.Accent).Strong(), theme.Of(theme.Plain).Strong()
		a.Set(0, 0, '▸', style)
		a.Text(at-2, 0, "‹ "+value+" ›", style)
	} else {
		a.Text(at, 0, value, style)
	}
	room := at - 3
	if selected {
		room -= 2
	}
	a.Text(2, 0, widget.CutHead(k.Name, room), name)
	if selected {
		a.Back(0, theme.Selected)
	}
}

// isWord says whether a knob's value is written without its unit.
func isWord(k Knob) bool {
	word, ok := k.Word(k.Value)
	return ok && word != "0"
}

// unit is a knob's unit for its value: one attempt, two attempts.
func unit(k Knob) string {
	if k.Value == 1 {
		return strings.TrimSuffix(k.Unit, "s")
	}
	return k.Unit
}

func discrete(k Knob) bool { return k.Kind == knob.Choice || k.Kind == knob.Switch }

// along is how far a value is along its range, by its logarithm where the range
// is wide.
func along(k Knob) float64 {
	low, high, v := float64(k.Min), float64(k.Max), float64(k.Value)
	if high <= low || v <= low {
		return 0
	}
	if high-low <= 200 {
		return (v - low) / (high - low)
	}
	return math.Log1p(v-low) / math.Log1p(high-low)
}
