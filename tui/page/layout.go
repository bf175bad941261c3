package page

import (
	"herdscope/tui/keymap"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// panel draws one part of a page into an area, its frame included.
type panel func(a widget.Area, v View)

// drawLongest draws into a's first row the first of some texts that fits, which
// say the same in fewer and fewer words; or the last, cut.
func drawLongest(a widget.Area, r theme.Role, texts ...string) {
	for _, text := range texts[:len(texts)-1] {
		if widget.Width(text) <= a.W {
			a.Text(0, 0, text, theme.Of(r))
			return
		}
	}
	a.TextCut(0, 0, a.W, texts[len(texts)-1], theme.Of(r))
}

// panelFrame is how much of a panel's width its frame takes.
const panelFrame = 4

// zoom remembers whether one panel is shown alone. 0 is all of them.
type zoom struct{ at int }

func (z *zoom) next(n int) { z.at = (z.at + 1) % (n + 1) }

// Keys are none, unless the page has some of its own.
func (*zoom) Keys() []keymap.Command { return nil }

// Filter selects nothing, unless the page has something to select from.
func (*zoom) Filter() (string, bool) { return "", false }

// Turn has nothing more to show, unless the page lists something.
func (*zoom) Turn(int) bool { return false }

// AllPanels shows all panels again; false if they were shown.
func (z *zoom) AllPanels() bool {
	was := z.at
	z.at = 0
	return was != 0
}

// Alone says whether one panel is shown alone: by request, or for lack of room.
func (z *zoom) Alone(w, h int) bool { return z.at > 0 || w < 60 || h < 16 }

// panel is the index of the panel that is shown alone.
func (z *zoom) panel() int { return max(z.at-1, 0) }

// sideWidth is the width of the column at the right.
func sideWidth(w int) int { return min(max(w*34/100, 30), 46) }
