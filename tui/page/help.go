package page

import (
	tea "github.com/charmbracelet/bubbletea"

	"herdscope/tui/keymap"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// Help is the list of all keys.
type Help struct {
	keys  keymap.Map
	top   int
	shown int
	lines []helpLine
}

// helpLine is a heading if keys is empty.
type helpLine struct{ keys, doc string }

// NewHelp makes the help from the bindings.
func NewHelp(m keymap.Map) *Help {
	h := &Help{keys: m}
	group := ""
	for _, b := range m.All() {
		if b.Group != group {
			if group != "" {
				h.lines = append(h.lines, helpLine{})
			}
			group = b.Group
			h.lines = append(h.lines, helpLine{doc: group})
		}
		h.lines = append(h.lines, helpLine{b.Help().Key, b.Help().Desc})
	}
	h.lines = append(h.lines, helpLine{},
		helpLine{doc: "Marks"},
		helpLine{"█ ▒", "first tries and retries; in the raster · and ░ ▒ ▓ by how many retry together"},
		helpLine{"c O e h", "breaker closed, open, eligible for a probe, half-open"},
		helpLine{"▲ ● ▽", "critical, interactive and background requests"},
		helpLine{"░", "a fault's window under a chart; without a background it is still to come"},
		helpLine{"shift+drag", "selects text in most terminals while the mouse is ours"})
	return h
}

// Key scrolls, or closes the help.
func (h *Help) Key(k tea.KeyMsg, _ View) Request {
	switch c := h.keys.List(k).Command; c {
	case keymap.Back:
		return Request{Kind: Close}
	case keymap.Up:
		h.top--
	case keymap.Down:
		h.top++
	case keymap.PageUp:
		h.top -= 10
	case keymap.PageDown:
		h.top += 10
	case keymap.First:
		h.top = 0
	case keymap.Last:
		h.top = len(h.lines)
	default:
		if h.keys.Screen(k).Command == keymap.Help {
			return Request{Kind: Close}
		}
	}
	h.clamp()
	return Request{}
}

// Scroll moves the help.
func (h *Help) Scroll(lines int, _ View) {
	h.top += lines
	h.clamp()
}

func (h *Help) clamp() { h.top = max(min(h.top, len(h.lines)-h.shown), 0) }

// Draw draws as many lines as fit.
func (h *Help) Draw(a widget.Area, _ View) {
	in := sheet(a, 84, len(h.lines)+2, "Help", "esc closes · ↑ ↓ scroll")
	h.shown = in.H
	h.clamp()
	for y := 0; y < in.H && h.top+y < len(h.lines); y++ {
		l := h.lines[h.top+y]
		if l.keys == "" {
			in.Text(0, y, l.doc, theme.Of(theme.Title).Strong())
			continue
		}
		in.Text(2, y, l.keys, theme.Of(theme.Accent))
		in.TextCut(16, y, in.W-18, l.doc, theme.Of(theme.Plain))
	}
	scrollMark(in, h.top, len(h.lines))
}
