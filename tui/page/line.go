package page

import (
	tea "github.com/charmbracelet/bubbletea"

	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// lineMax is the longest text that can be typed.
const lineMax = 200

// line is a line of text that is being typed, and where the next character goes.
type line struct {
	text []rune
	at   int
}

func (l *line) value() string { return string(l.text) }

// edit does what a key means in a line of text.
func (l *line) edit(k tea.KeyMsg) {
	switch k.Type {
	case tea.KeyRunes, tea.KeySpace:
		l.insert(k.Runes)
	case tea.KeyBackspace:
		l.cut(l.at-1, l.at)
	case tea.KeyDelete:
		l.cut(l.at, l.at+1)
	case tea.KeyCtrlW:
		l.cut(l.wordStart(), l.at)
	case tea.KeyCtrlU:
		l.cut(0, l.at)
	case tea.KeyLeft:
		l.at = max(l.at-1, 0)
	case tea.KeyRight:
		l.at = min(l.at+1, len(l.text))
	case tea.KeyHome, tea.KeyCtrlA:
		l.at = 0
	case tea.KeyEnd, tea.KeyCtrlE:
		l.at = len(l.text)
	}
}

func (l *line) insert(rs []rune) {
	rs = rs[:min(len(rs), lineMax-len(l.text))]
	l.text = append(l.text[:l.at:l.at], append(rs[:len(rs):len(rs)], l.text[l.at:]...)...)
	l.at += len(rs)
}

func (l *line) cut(from, to int) {
	from, to = max(from, 0), min(to, len(l.text))
	if from < to {
		l.text = append(l.text[:from:from], l.text[to:]...)
		l.at = from
	}
}

func (l *line) wordStart() int {
	i := l.at
	for i > 0 && l.text[i-1] == ' ' {
		i--
	}
	for i > 0 && l.text[i-1] != ' ' {
		i--
	}
	return i
}

// draw draws the text, with a block where the next character goes.
func (l *line) draw(a widget.Area) {
	skip := min(max(l.at-a.W+1, 0), l.at)
	style := theme.Of(theme.Plain).Strong()
	x := a.Text(0, 0, string(l.text[skip:l.at]), style)
	if l.at == len(l.text) {
		a.Set(x, 0, '█', theme.Of(theme.Accent))
		return
	}
	a.Text(x, 0, string(l.text[l.at:]), style)
	a.Sub(x, 0, 1, 1).Back(0, theme.Banner)
}
