package widget

import (
	"math"

	"herdscope/tui/theme"
)

// Column is one column of a stacked chart: first tries below, retries above.
type Column struct{ Lower, Upper float64 }

// Stack is a stacked chart with the value Top at its upper edge.
type Stack struct{ Top float64 }

// Draw draws columns from a's left edge on. Boundaries fall on eighths of a
// cell where the theme allows two colours in one.
func (s Stack) Draw(a Area, columns []Column) {
	if s.Top <= 0 {
		return
	}
	for x, c := range columns {
		lower, total := s.units(c, a.H)
		if !a.Theme().TwoTone() {
			total = wholeCells(lower, total)
		}
		for y := range a.H {
			base := (a.H - 1 - y) * 8
			lo, all := min(max(lower-base, 0), 8), min(max(total-base, 0), 8)
			if all > 0 {
				s.cell(a, x, y, lo, all)
			}
		}
	}
}

// units is the heights of a column in eighths of a cell. Whatever is not zero
// is at least one high.
func (s Stack) units(c Column, h int) (lower, total int) {
	scale := float64(h*8) / s.Top
	lower = int(c.Lower*scale + 0.5)
	total = int((c.Lower+c.Upper)*scale + 0.5)
	if c.Lower > 0 {
		lower = max(lower, 1)
	}
	if c.Upper > 0 {
		total = max(total, lower+1)
	}
	return lower, max(total, lower)
}

// wholeCells ends retries at the edge of a cell: where there is but one tone, the
// block that would fill a part of one cannot be told from first tries. Retries
// alone have at least one cell.
func wholeCells(lower, total int) int {
	if total == lower {
		return total
	}
	whole := (total + 4) / 8 * 8
	if lower == 0 {
		whole = max(whole, 8)
	}
	return max(whole, lower)
}

// cell draws one cell whose lowest lo eighths are the lower part, and those from
// there to all the upper one.
func (s Stack) cell(a Area, x, y, lo, all int) {
	lower, upper := theme.Of(theme.First), theme.Of(theme.RetryEdge)
	switch {
	case lo == all:
		a.Set(x, y, eighths[lo], lower)
	case all == 8 && lo > 0 && a.Theme().TwoTone():
		a.Set(x, y, eighths[lo], lower.On(theme.RetryEdge))
	case all-lo < lo:
		a.Set(x, y, eighths[all], lower)
	case all == 8:
		a.Set(x, y, '▒', Retries(a.Theme()))
	default:
		a.Set(x, y, eighths[all], upper)
	}
}

// Threshold draws a dotted line at a value, with a label at its left, where
// nothing else is drawn.
func (s Stack) Threshold(a Area, value float64, label string) {
	if s.Top <= 0 || value <= 0 || value > s.Top {
		return
	}
	y := a.H - 1 - min(int(value/s.Top*float64(a.H)), a.H-1)
	for x := range a.W {
		if a.Bare(x, y) {
			a.Set(x, y, '┄', theme.Of(theme.Dim))
		}
	}
	if n := Width(label); n+4 < a.W {
		a.Text(1, y, " "+label+" ", theme.Of(theme.Dim))
	}
}

// Scale writes the values of a chart's upper edge, middle and foot into a, which
// lies left of the chart and is as high as it.
func (s Stack) Scale(a Area) {
	for y := range a.H {
		a.Set(a.W-1, y, '│', theme.Of(theme.Border))
	}
	label := func(y int, v float64) {
		a.TextRight(a.W-1, y, Short(roundTo(v, 2)), theme.Of(theme.Dim))
		a.Set(a.W-1, y, '┤', theme.Of(theme.Border))
	}
	label(0, s.Top)
	if a.H >= 6 {
		y := (a.H + 1) / 2
		label(y, s.Top*float64(a.H-y)/float64(a.H))
	}
}

// Zero writes the foot's value into the first row of a, which lies below the
// scale.
func (s Stack) Zero(a Area) { a.TextRight(a.W-1, 0, "0", theme.Of(theme.Dim)) }

// Retries is the style of the texture that stands for retries.
func Retries(t *theme.Theme) theme.Style {
	if t.Bands() {
		return theme.Of(theme.Retry).On(theme.RetryDeep)
	}
	return theme.Of(theme.Retry)
}

// roundTo rounds v to n significant digits.
func roundTo(v float64, n int) float64 {
	if v == 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-float64(n-1))
	return math.Round(v/unit) * unit
}

// RoundUp is a round number that is at least v: the top of a chart.
func RoundUp(v float64) float64 {
	if v <= 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8} {
		if m*unit >= v*0.9999 {
			return m * unit
		}
	}
	return 10 * unit
}
