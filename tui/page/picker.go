package page

import (
	tea "github.com/charmbracelet/bubbletea"

	"herdscope/scenarios"
	"herdscope/tui/keymap"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// Picker is the list of scenarios, with the story of the selected one.
type Picker struct {
	keys    keymap.Map
	library []scenarios.Scenario
	list    list
}

// NewPicker makes a list of scenarios with the one of that name selected.
func NewPicker(m keymap.Map, library []scenarios.Scenario, name string) *Picker {
	p := &Picker{keys: m, library: library}
	for i, s := range library {
		if s.Name == name {
			p.list.at = i
		}
	}
	return p
}

// Key moves the selection, opens what is selected, or closes the list.
func (p *Picker) Key(k tea.KeyMsg, _ View) Request {
	c := p.keys.List(k).Command
	switch {
	case p.list.move(c, len(p.library)):
		return Request{}
	case c == keymap.Back:
		return Request{Kind: Close}
	case c == keymap.Enter && len(p.library) > 0:
		return Request{Kind: OpenScenario, Arg: p.list.at}
	}
	return Request{}
}

// Scroll moves the selection.
func (p *Picker) Scroll(lines int, _ View) { p.list.move(scrollBy(lines), len(p.library)) }

// Draw draws names and titles above, and the story below.
func (p *Picker) Draw(a widget.Area, v View) {
	in := sheet(a, 96, max(len(p.library)+12, 16), "Scenarios", "enter opens · esc closes")
	if len(p.library) == 0 {
		in.Text(0, 0, "there are no scenarios", theme.Of(theme.Dim))
		return
	}
	p.list.clamp(len(p.library))
	chosen := p.library[p.list.at]
	story := widget.Wrap(chosen.Story, in.W)
	rows, _ := in.Rows(max(in.H-len(story)-2, min(in.H, 3)))
	rows.H = min(rows.H, len(p.library))
	first := p.list.window(len(p.library), rows.H)
	for y := 0; y < rows.H && first+y < len(p.library); y++ {
		p.drawRow(rows.Sub(0, y, rows.W, 1), p.library[first+y], first+y == p.list.at, v)
	}
	rest := in.Sub(0, rows.H+1, in.W, in.H-rows.H-1)
	rest.TextCut(0, 0, rest.W, chosen.Title, theme.Of(theme.Title).Strong())
	for y, line := range story {
		rest.Text(0, y+1, line, theme.Of(theme.Plain))
	}
}

func (p *Picker) drawRow(a widget.Area, s scenarios.Scenario, selected bool, v View) {
	style := theme.Of(theme.Plain)
	if selected {
		a.Set(0, 0, '▸', theme.Of(theme.Accent).Strong())
		style = theme.Of(theme.Accent).Strong()
	}
	a.TextCut(2, 0, 20, s.Name, style)
	title := s.Title
	if s.Name == v.Scenario.Name {
		title += " (running)"
	}
	a.TextCut(23, 0, a.W-23, title, theme.Of(theme.Dim))
	if selected {
		a.Back(0, theme.Selected)
	}
}
