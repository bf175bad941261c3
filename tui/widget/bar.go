package widget

import (
	"strings"

	"herdscope/tui/theme"
)

func splitWords(s string) []string { return strings.Fields(s) }

// eighths are the blocks that fill a cell from the bottom, by eighths.
var eighths = [9]rune{' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'}

// slices are the blocks that fill a cell from the left, by eighths.
var slices = [9]rune{' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'}

// Bar draws a horizontal bar that fills share of a's first row. The rest is
// drawn as a groove, so that full and empty can be told apart without colour.
func Bar(a Area, share float64, style theme.Style) {
	share = min(max(share, 0), 1)
	units := int(share*float64(a.W*8) + 0.5)
	if share > 0 {
		units = max(units, 1)
	}
	for x := range a.W {
		n := min(max(units-x*8, 0), 8)
		if n == 0 {
			a.Set(x, 0, '┄', theme.Of(theme.Border))
			continue
		}
		a.Set(x, 0, slices[n], style)
	}
}

// Spark draws values between 0 and top as a column chart over all of the area,
// the last value at the right edge.
func Spark(a Area, values []float64, top float64, style theme.Style) {
	if top <= 0 || a.H <= 0 {
		return
	}
	skip := max(len(values)-a.W, 0)
	x := a.W - (len(values) - skip)
	for _, v := range values[skip:] {
		units := int(min(max(v/top, 0), 1)*float64(a.H*8) + 0.5)
		if v > 0 {
			units = max(units, 1)
		}
		for y := range a.H {
			if n := min(max(units-(a.H-1-y)*8, 0), 8); n > 0 {
				a.Set(x, y, eighths[n], style)
			}
		}
		x++
	}
}
