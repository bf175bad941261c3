package widget

import (
	"fmt"
	"time"

	"herdscope/engine/clock"
	"herdscope/tui/theme"
)

// Axis maps run time to columns. Columns are aligned to multiples of their
// width, so that a chart scrolls by whole columns and nothing in it trembles.
type Axis struct {
	// Start is the left edge, Width the time that one column covers.
	Start clock.Instant
	Width time.Duration
	// Cols is how many columns there are, Now the column of the present.
	Cols, Now int
}

// future is the share of an axis that lies ahead of now: one part in ten.
const future = 10

// NewAxis fits span before now, and a tenth more ahead of it, into cols
// columns. The width of a column is a multiple of unit, so that at least span
// is covered. A young run begins at the left edge.
func NewAxis(now clock.Instant, span, unit time.Duration, cols int) Axis {
	unit = max(unit, time.Millisecond)
	x := Axis{Cols: max(cols, 0)}
	past := x.past()
	width := unit * time.Duration(max((span+unit*time.Duration(past)-1)/(unit*time.Duration(past)), 1))
	last := now.Bin(width)
	first := max(last-int64(past)+1, 0)
	x.Start, x.Width = clock.Instant(first*int64(width)), width
	x.Now = int(last - first)
	return x
}

// Col is the column that t falls in; it may lie outside of the axis.
func (x Axis) Col(t clock.Instant) int {
	if t == clock.Never {
		return x.Cols
	}
	n := clock.Instant(t.Sub(x.Start)).Bin(x.Width)
	return int(min(max(n, -1), int64(x.Cols)))
}

// Past is how much time the axis can show up to now. It does not depend on how
// much of it there has been.
func (x Axis) Past() time.Duration { return x.Width * time.Duration(x.past()) }

func (x Axis) past() int { return max(x.Cols-x.Cols/future, 1) }

// End is the right edge.
func (x Axis) End() clock.Instant { return x.Start.Add(x.Width * time.Duration(x.Cols)) }

// step is the distance of the labels: a round time that leaves them at least
// ten columns.
func (x Axis) step() time.Duration {
	for _, s := range []int{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600} {
		d := time.Duration(s) * time.Second
		if d >= 10*x.Width {
			return d
		}
	}
	return 10 * x.Width
}

// Line draws the axis itself into a's first row, with a tick at each label.
func (x Axis) Line(a Area) {
	for c := range x.Cols {
		a.Set(c, 0, '─', theme.Of(theme.Border))
	}
	x.eachTick(func(c int, _ clock.Instant) { a.Set(c, 0, '┬', theme.Of(theme.Dim)) })
}

// nowLabel stands under the column of the present.
const nowLabel = "▴now"

// Labels writes the times under the ticks, and where now is. A time that would
// touch the present is left out.
func (x Axis) Labels(a Area) {
	now := min(max(x.Now, 0), max(x.Cols-Width(nowLabel), 0))
	x.eachTick(func(c int, t clock.Instant) {
		text := axisTime(t)
		if (c+Width(text) < now || c > now+Width(nowLabel)) && c+Width(text) <= a.W {
			a.Text(c, 0, text, theme.Of(theme.Dim))
		}
	})
	a.Text(now, 0, nowLabel, theme.Of(theme.Accent))
}

func (x Axis) eachTick(do func(col int, t clock.Instant)) {
	step := x.step()
	t := clock.Instant(x.Start.Bin(step) * int64(step))
	for ; t < x.End(); t = t.Add(step) {
		if t >= x.Start {
			do(x.Col(t), t)
		}
	}
}

// axisTime writes a label as minutes and seconds.
func axisTime(t clock.Instant) string {
	s := t.Second()
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
