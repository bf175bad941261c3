package page

import (
	tea "github.com/charmbracelet/bubbletea"

	"herdscope/tui/keymap"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// ValuePrompt asks for a value of one setting.
type ValuePrompt struct {
	keys  keymap.Map
	knob  Knob
	input line
	err   string
}

// NewValuePrompt asks for a value of k.
func NewValuePrompt(m keymap.Map, k Knob) *ValuePrompt {
	return &ValuePrompt{keys: m, knob: k}
}

// Key edits the value; enter sets it if it is allowed, and esc gives up.
func (p *ValuePrompt) Key(k tea.KeyMsg, _ View) Request {
	if k.Type != tea.KeyRunes {
		switch p.keys.List(k).Command {
		case keymap.Back:
			return Request{Kind: Close}
		case keymap.Enter:
			return p.done()
		}
	}
	p.input.edit(k)
	p.err = ""
	return Request{}
}

func (p *ValuePrompt) done() Request {
	value, err := p.knob.Parse(p.input.value())
	if err != nil {
		p.err = err.Error()
		return Request{}
	}
	return set(p.knob, value)
}

// Scroll does nothing.
func (p *ValuePrompt) Scroll(int, View) {}

// Draw draws the question, what is typed, and what is wrong with it.
func (p *ValuePrompt) Draw(a widget.Area, _ View) {
	in := sheet(a, 64, 9, p.knob.Name, "enter sets · esc keeps")
	in.Text(0, 0, "now ", theme.Of(theme.Dim))
	in.Text(4, 0, p.knob.Format(p.knob.Value), theme.Of(theme.Plain).Strong())
	in.Text(0, 2, "to  ", theme.Of(theme.Dim))
	p.input.draw(in.Sub(4, 2, in.W-4, 1))
	lines := widget.Wrap(p.knob.Doc+"; allowed: "+p.knob.Allowed(), in.W)
	role := theme.Dim
	if p.err != "" {
		lines, role = widget.Wrap(p.err, in.W), theme.Bad
	}
	for y, line := range lines {
		in.Text(0, 4+y, line, theme.Of(role))
	}
}
