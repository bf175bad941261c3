package page

import (
	tea "github.com/charmbracelet/bubbletea"

	"herdscope/tui/keymap"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// Overlay is what can be laid over a page. It gets all keys while it is there,
// except those that quit.
type Overlay interface {
	// Key does what a key means in the overlay.
	Key(k tea.KeyMsg, v View) Request
	// Scroll moves the selection by some lines, for the mouse wheel.
	Scroll(lines int, v View)
	// Draw draws the overlay over a body of the size of a.
	Draw(a widget.Area, v View)
}

// sheet empties the middle of a body, w by h cells or as many as there are, and
// draws a frame there.
func sheet(a widget.Area, w, h int, title, note string) widget.Area {
	w, h = min(w, a.W), min(h, a.H)
	s := a.Sub((a.W-w)/2, (a.H-h)/2, w, h)
	s.Fill(' ', theme.Style{})
	return widget.Panel(s, title, note)
}

// scrollBy is the command that moves a selection by one line.
func scrollBy(lines int) keymap.Command {
	if lines < 0 {
		return keymap.Up
	}
	return keymap.Down
}

// scrollMark shows in the last column of a where a window of a list is.
func scrollMark(a widget.Area, top, n int) {
	if n <= a.H || a.H < 2 {
		return
	}
	y := top * (a.H - 1) / (n - a.H)
	for row := range a.H {
		a.Set(a.W-1, row, '┊', theme.Of(theme.Border))
	}
	a.Set(a.W-1, min(y, a.H-1), '█', theme.Of(theme.Dim))
}
