package page

import (
	tea "github.com/charmbracelet/bubbletea"

	"herdscope/engine/clock"
	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/scenarios"
	"herdscope/tui/keymap"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// FaultList is the list of the server's faults and what can be done to them.
type FaultList struct {
	keys keymap.Map
	list list
}

// NewFaultList makes the list.
func NewFaultList(m keymap.Map) *FaultList { return &FaultList{keys: m} }

// faultDos is what each command does to a fault.
var faultDos = map[keymap.Command]wire.FaultDo{
	keymap.FaultNow: wire.FaultNow, keymap.FaultOn: wire.FaultOn,
	keymap.FaultOff: wire.FaultOff, keymap.FaultAuto: wire.FaultAuto,
}

// Key moves the selection, does something to the selected fault, or closes the
// list.
func (f *FaultList) Key(k tea.KeyMsg, v View) Request {
	faults := v.Snap.Faults
	if do, ok := faultDos[f.keys.Fault(k).Command]; ok && len(faults) > 0 {
		f.list.clamp(len(faults))
		return doFault(faults[f.list.at].Name, do)
	}
	c := f.keys.List(k).Command
	if f.list.move(c, len(faults)) {
		return Request{}
	}
	if c == keymap.Back {
		return Request{Kind: Close}
	}
	return Request{}
}

func doFault(name string, do wire.FaultDo) Request {
	return Request{Kind: Act, Keep: true, Action: scenarios.Action{
		Kind: scenarios.DoFault, Fault: name, Do: do,
	}}
}

// Scroll moves the selection.
func (f *FaultList) Scroll(lines int, v View) { f.list.move(scrollBy(lines), len(v.Snap.Faults)) }

// Draw draws a line for each fault.
func (f *FaultList) Draw(a widget.Area, v View) {
	faults := v.Snap.Faults
	in := sheet(a, 84, len(faults)+6, "Faults", "esc closes")
	if len(faults) == 0 {
		in.TextCut(0, 0, in.W, "this scenario's server has no faults", theme.Of(theme.Dim))
		return
	}
	c := faultColumnsIn(in.W)
	in.Text(2, 0, "fault", theme.Of(theme.Dim))
	in.TextRight(c.hits, 0, "hits", theme.Of(theme.Dim))
	if c.next > 0 {
		in.Text(c.next, 0, "next", theme.Of(theme.Dim))
	}
	foot := f.drawKeys(in)
	room := max(in.H-foot-2, 1)
	first := f.list.window(len(faults), room)
	for y := 0; y < room && first+y < len(faults); y++ {
		drawFault(in.Sub(0, y+1, in.W, 1), c, faults[first+y], first+y == f.list.at, v.Snap.At)
	}
}

// drawKeys names at the foot what can be done to a fault, in as many rows as
// that takes, and returns how many.
func (f *FaultList) drawKeys(in widget.Area) int {
	rows := [][]widget.SpanOf{nil}
	x := 0
	for _, b := range f.keys.FaultCommands() {
		n := widget.Width(b.Help().Key + " " + b.Footer)
		if x > 0 && x+n > in.W {
			rows, x = append(rows, nil), 0
		}
		last := &rows[len(rows)-1]
		*last = append(*last, widget.S(b.Help().Key+" ", theme.Accent), widget.S(b.Footer+"   ", theme.Dim))
		x += n + 3
	}
	for i, r := range rows {
		widget.Spans(in, 0, in.H-len(rows)+i, r...)
	}
	return len(rows)
}

// faultColumns is where the columns of the list are: state and next begin
// there, and hits ends there. A list that is narrow leaves next out.
type faultColumns struct{ state, hits, next int }

func faultColumnsIn(w int) faultColumns {
	if w < 72 {
		return faultColumns{state: min(w*2/5, 21), hits: w}
	}
	return faultColumns{state: 21, hits: 48, next: 52}
}

func drawFault(a widget.Area, c faultColumns, f metrics.FaultView, selected bool, now clock.Instant) {
	name := theme.Of(theme.Plain)
	if selected {
		a.Set(0, 0, '▸', theme.Of(theme.Accent).Strong())
		name = theme.Of(theme.Accent).Strong()
	}
	hits := widget.Count(f.Hits)
	a.TextCut(2, 0, c.state-3, f.Name, name)
	state, role := faultState(f, now)
	a.TextCut(c.state, 0, c.hits-widget.Width(hits)-1-c.state, state, theme.Of(role).Strong())
	a.TextRight(c.hits, 0, hits, theme.Of(theme.Plain))
	if c.next > 0 {
		a.TextCut(c.next, 0, a.W-c.next, faultNext(f, now), theme.Of(theme.Dim))
	}
	if selected {
		a.Back(0, theme.Selected)
	}
}

// faultState says whether a fault is on, for how long, and whether a hand holds
// it so.
func faultState(f metrics.FaultView, now clock.Instant) (string, theme.Role) {
	switch {
	case f.On && f.Until != clock.Never:
		return "ON for " + widget.Span(max(f.Until.Sub(now), 0)), theme.Bad
	case f.On && f.Hand == wire.FaultOn:
		return "ON, held", theme.Bad
	case f.On:
		return "ON", theme.Bad
	case f.Hand == wire.FaultOff:
		return "off, held", theme.Dim
	}
	return "off", theme.Dim
}

func faultNext(f metrics.FaultView, now clock.Instant) string {
	switch {
	case f.Next != clock.Never && f.Length == 0:
		return "in " + widget.Span(max(f.Next.Sub(now), 0)) + ", without end"
	case f.Next != clock.Never:
		return "in " + widget.Span(max(f.Next.Sub(now), 0)) + ", for " + widget.Span(f.Length)
	case f.Hand != wire.FaultAuto:
		return "when a gives it back"
	}
	return "none planned"
}
