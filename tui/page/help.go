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
	// rows are the lines as they were wrapped when the help was last drawn.
	rows []helpLine
}

// helpLine is a heading if keys is empty, and goes on with the line before it if
// more is set.
type helpLine struct {
	keys, doc string
	more      bool
}

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
		h.lines = append(h.lines, helpLine{keys: b.Help().Key, doc: b.Help().Desc})
	}
	h.lines = append(h.lines, helpLine{},
		helpLine{doc: "Marks"},
		helpLine{keys: "█ ▒", doc: "first tries and retries; in the raster · and ░ ▒ ▓ by how many retry together"},
		helpLine{keys: "· ░ ▒ ▓ █", doc: "in the heat map: ever more requests in a cell; its frame says how many"},
		helpLine{keys: "░ ─ █", doc: "where time goes: in the queue, in backoff, in attempts"},
		helpLine{keys: "c O e h", doc: "breaker closed, open, eligible for a probe, half-open"},
		helpLine{keys: "▲ ● ▽", doc: "critical, interactive and background requests"},
		helpLine{keys: "░", doc: "a fault's window under a chart; without a background it is still to come"},
		helpLine{keys: "- n<100", doc: "no number: no samples, or too few for a percentile"},
		helpLine{keys: "shift+drag", doc: "selects text in most terminals while the mouse is ours"})
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
		h.top = len(h.rows)
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

func (h *Help) clamp() { h.top = max(min(h.top, len(h.rows)-h.shown), 0) }

// helpIndent is where the words stand that say what a key does.
const helpIndent = 16

// wrap breaks the lines for a width of w.
func (h *Help) wrap(w int) {
	h.rows = h.rows[:0]
	for _, l := range h.lines {
		if l.keys == "" {
			h.rows = append(h.rows, l)
			continue
		}
		for i, text := range widget.Wrap(l.doc, w-helpIndent-2) {
			h.rows = append(h.rows, helpLine{keys: l.keys, doc: text, more: i > 0})
		}
	}
}

// Draw draws as many lines as fit.
func (h *Help) Draw(a widget.Area, _ View) {
	in := sheet(a, 84, len(h.lines)+2, "Help", "esc closes · ↑ ↓ scroll")
	h.wrap(in.W)
	h.shown = in.H
	h.clamp()
	for y := 0; y < in.H && h.top+y < len(h.rows); y++ {
		l := h.rows[h.top+y]
		if l.keys == "" {
			in.Text(0, y, l.doc, theme.Of(theme.Title).Strong())
			continue
		}
		if !l.more {
			in.Text(2, y, l.keys, theme.Of(theme.Accent))
		}
		in.Text(helpIndent, y, l.doc, theme.Of(theme.Plain))
	}
	scrollMark(in, h.top, len(h.rows))
}
