package widget

import "herdscope/tui/theme"

// Segment is one part of a bar: how much of the bar's scale it is, and how its
// cells look.
type Segment struct {
	Share float64
	Glyph rune
	Style theme.Style
}

// Segments draws parts one after the other into a's first row, and points in the
// rest. Whatever is not zero has a cell, as long as there are cells.
func Segments(a Area, parts []Segment) {
	x, sum := 0, 0.0
	for i, p := range parts {
		if p.Share <= 0 {
			continue
		}
		sum += p.Share
		end := max(int(min(sum, 1)*float64(a.W)+0.5), x+1)
		for ; x < min(end, a.W-later(parts[i+1:])); x++ {
			a.Set(x, 0, p.Glyph, p.Style)
		}
	}
	for ; x < a.W; x++ {
		a.Set(x, 0, '·', theme.Of(theme.Border))
	}
}

// later is how many parts still need a cell.
func later(parts []Segment) (n int) {
	for _, p := range parts {
		if p.Share > 0 {
			n++
		}
	}
	return n
}
