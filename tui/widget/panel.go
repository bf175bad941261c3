package widget

import "herdscope/tui/theme"

// Panel draws a frame with a title in its upper edge and returns the room
// inside. note stands at the right of the upper edge, if there is room.
func Panel(a Area, title, note string) Area {
	if a.W < 2 || a.H < 2 {
		return a.Sub(0, 0, a.W, a.H)
	}
	line := theme.Of(theme.Border)
	for x := 1; x < a.W-1; x++ {
		a.Set(x, 0, '─', line)
		a.Set(x, a.H-1, '─', line)
	}
	for y := 1; y < a.H-1; y++ {
		a.Set(0, y, '│', line)
		a.Set(a.W-1, y, '│', line)
	}
	a.Set(0, 0, '╭', line)
	a.Set(a.W-1, 0, '╮', line)
	a.Set(0, a.H-1, '╰', line)
	a.Set(a.W-1, a.H-1, '╯', line)
	panelTitle(a, title, note)
	return a.Sub(2, 1, a.W-4, a.H-2)
}

func panelTitle(a Area, title, note string) {
	room := a.W - 4
	if title == "" || room < 3 {
		return
	}
	title = Cut(title, room-2)
	end := a.Text(2, 0, " "+title+" ", theme.Of(theme.Title).Strong())
	PanelNote(a, end, S(note, theme.Dim))
}

// PanelNote writes something into the upper edge of a panel, at its right, if
// there is room for it right of column from. It returns whether there was.
func PanelNote(a Area, from int, parts ...SpanOf) bool {
	w := SpansWidth(parts...)
	x := a.W - w - 4
	if w == 0 || x < from+1 {
		return false
	}
	a.Set(x, 0, ' ', theme.Style{})
	a.Set(Spans(a, x+1, 0, parts...), 0, ' ', theme.Style{})
	return true
}

// Spans writes parts of a line one after the other, each in its own style.
func Spans(a Area, x, y int, parts ...SpanOf) int {
	for _, p := range parts {
		x = a.Text(x, y, p.Text, p.Style)
	}
	return x
}

// SpansWidth is how many cells parts of a line take.
func SpansWidth(parts ...SpanOf) int {
	w := 0
	for _, p := range parts {
		w += Width(p.Text)
	}
	return w
}

// SpanOf is a text and its style.
type SpanOf struct {
	Text  string
	Style theme.Style
}

// S makes a part of a line.
func S(text string, role theme.Role) SpanOf { return SpanOf{text, theme.Of(role)} }

// B makes a bold part of a line.
func B(text string, role theme.Role) SpanOf { return SpanOf{text, theme.Of(role).Strong()} }

// Wrap breaks a text at spaces into lines of at most w cells; a word longer
// than a line is cut.
func Wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	var lines []string
	for _, word := range splitWords(s) {
		word = Cut(word, w)
		if n := len(lines); n > 0 && Width(lines[n-1])+1+Width(word) <= w {
			lines[n-1] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}
