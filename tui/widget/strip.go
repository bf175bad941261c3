package widget

import (
	"herdscope/engine/clock"
	"herdscope/tui/theme"
)

// Window is a time during which something holds, such as a fault.
type Window struct {
	// Name says which, and Label what is written.
	Name, Label string
	From, Until clock.Instant
	// Coming says that it has not begun.
	Coming bool
}

// Label is a point in time with a label, such as a change of a setting.
type Label struct {
	At   clock.Instant
	Text string
}

// Windows draws windows into a's first row, with their names where they fit.
// What is still to come is drawn without a background.
func Windows(a Area, x Axis, windows []Window) {
	for _, w := range windows {
		from, to := columns(x, w)
		for c := from; c < to; c++ {
			a.Set(c, 0, '░', windowStyle(w, c > x.Now))
		}
	}
	for i, w := range windows {
		if from, to := columns(x, w); from < to {
			windowName(a, x, w, from, min(to, nextFrom(x, windows[i+1:], from, to)))
		}
	}
}

func windowStyle(w Window, ahead bool) theme.Style {
	if w.Coming || ahead {
		return theme.Of(theme.Bad)
	}
	return theme.Of(theme.Bad).On(theme.Fault)
}

// nextFrom is the first column of those windows that begin between from and to.
func nextFrom(x Axis, later []Window, from, to int) int {
	for _, w := range later {
		if f, t := columns(x, w); f < t && f >= from && f < to {
			to = f
		}
	}
	return to
}

// columns is the columns of a window, at least one if any of it is visible.
func columns(x Axis, w Window) (from, to int) {
	if w.Until <= x.Start || w.From >= x.End() {
		return 0, 0
	}
	from, to = max(x.Col(w.From), 0), min(x.Col(w.Until), x.Cols)
	return from, max(to, from+1)
}

// windowName writes the name inside the window or, if that is narrow, behind or
// before it.
func windowName(a Area, x Axis, w Window, from, to int) {
	n := Width(w.Label)
	if to-from >= n+2 {
		at := from + (to-from-n)/2
		style := windowStyle(w, at+n > x.Now)
		style.FG = theme.Plain
		a.Text(at, 0, w.Label, style.Strong())
		return
	}
	switch {
	case to+n+1 <= a.W && a.bare(to, to+n+1):
		a.Text(to+1, 0, w.Label, theme.Of(theme.Bad))
	case from-n-1 >= 0 && a.bare(from-n-1, from):
		a.Text(from-n-1, 0, w.Label, theme.Of(theme.Bad))
	}
}

// bare says whether nothing is drawn in the first row from one column up to
// another.
func (a Area) bare(from, to int) bool {
	for c := from; c < to; c++ {
		if !a.Bare(c, 0) {
			return false
		}
	}
	return true
}

// Shade gives the columns of windows that have begun the background of a fault,
// wherever nothing else gave one; only where the theme can do so quietly.
func Shade(a Area, x Axis, windows []Window) {
	if !a.Theme().Bands() {
		return
	}
	for _, w := range windows {
		if w.Coming {
			continue
		}
		from, to := columns(x, w)
		for c := from; c < to && c <= x.Now; c++ {
			a.shadeColumn(c)
		}
	}
}

func (a Area) shadeColumn(x int) {
	for y := range a.H {
		if p := a.at(x, y); p != nil && p.style.BG == theme.Plain {
			p.style.BG = theme.Band
		}
	}
}

// Labels draws moments into a's first row, the newest with preference where two
// would overlap. A label that does not fit behind its mark stands before it.
func Labels(a Area, x Axis, labels []Label) {
	limit := x.Cols
	for i := len(labels) - 1; i >= 0; i-- {
		c := x.Col(labels[i].At)
		if c < 0 || c >= x.Cols || c >= limit {
			continue
		}
		limit = c
		a.Set(c, 0, '▲', theme.Of(theme.Accent).Strong())
		limit = min(limit, labelText(a, x, labels, i, c))
	}
}

// labelText writes one label's text and returns the leftmost column it uses.
func labelText(a Area, x Axis, labels []Label, i, c int) int {
	text := labels[i].Text
	n := Width(text)
	room := true
	for k := c + 1; k <= c+n+1 && room; k++ {
		room = k >= x.Cols || a.Bare(k, 0)
	}
	if c+1+n <= x.Cols && room {
		a.Text(c+1, 0, text, theme.Of(theme.Accent))
		return c
	}
	if c-n-1 < 0 || (i > 0 && x.Col(labels[i-1].At) >= c-n-1) {
		return c
	}
	a.Text(c-n, 0, text, theme.Of(theme.Accent))
	return c - n
}
