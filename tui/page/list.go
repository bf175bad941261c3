package page

import "herdscope/tui/keymap"

// list is a selection in a list that may be longer than its window.
type list struct{ at, top int }

// clamp keeps the selection within n items.
func (l *list) clamp(n int) { l.at = min(max(l.at, 0), max(n-1, 0)) }

// move moves the selection; false if the command is not a movement.
func (l *list) move(c keymap.Command, n int) bool {
	switch c {
	case keymap.Up:
		l.at--
	case keymap.Down:
		l.at++
	case keymap.PageUp:
		l.at -= 10
	case keymap.PageDown:
		l.at += 10
	case keymap.First:
		l.at = 0
	case keymap.Last:
		l.at = n - 1
	default:
		return false
	}
	l.clamp(n)
	return true
}

// window is the first of h visible items out of n: the window moves only as far
// as the selection pushes it.
func (l *list) window(n, h int) int {
	l.clamp(n)
	l.top = min(l.top, l.at, max(n-h, 0))
	if l.at >= l.top+h {
		l.top = l.at - h + 1
	}
	l.top = max(l.top, 0)
	return l.top
}
