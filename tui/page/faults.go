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
	in.Text(2, 0, "fault", theme.Of(theme.Dim))
	in.TextRight(48, 0, "hits", theme.Of(theme.Dim))
	in.Text(52, 0, "next", theme.Of(theme.Dim))
	room := max(in.H-3, 1)
	first := f.list.window(len(faults), room)
	for y := 0; y < room && first+y < len(faults); y++ {
		drawFault(in.Sub(0, y+1, in.W, 1), faults[first+y], first+y == f.list.at, v.Snap.At)
	}
	x := 0
	for _, b := range f.keys.FaultCommands() {
		x = in.Text(x, in.H-1, b.Help().Key+" ", theme.Of(theme.Accent))
		x = in.Text(x, in.H-1, b.Footer+"   ", theme.Of(theme.Dim))
	}
}

func drawFault(a widget.Area, f metrics.FaultView, selected bool, now clock.Instant) {
	name := theme.Of(theme.Plain)
	if selected {
		a.Set(0, 0, '▸', theme.Of(theme.Accent).Strong())
		name = theme.Of(theme.Accent).Strong()
	}
	a.TextCut(2, 0, 18, f.Name, name)
	state, role := "off", theme.Dim
	if f.On {
		state, role = "ON", theme.Bad
		if f.Until != clock.Never {
			state += " for " + widget.Span(max(f.Until.Sub(now), 0))
		}
	}
	a.TextCut(21, 0, 16, state, theme.Of(role).Strong())
	a.TextRight(48, 0, widget.Count(f.Hits), theme.Of(theme.Plain))
	next := "none planned"
	if f.Next != clock.Never {
		next = "in " + widget.Span(max(f.Next.Sub(now), 0)) + ", for " + widget.Span(f.Length)
	}
	a.TextCut(52, 0, a.W-52, next, theme.Of(theme.Dim))
	if selected {
		a.Back(0, theme.Selected)
	}
}
