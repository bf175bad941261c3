package page

import (
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// footRows is how many rows under a chart of h rows are taken by the time axis
// and what happened on it.
func footRows(h int, v View) int {
	switch {
	case h >= 10:
		return 3 + faultRows(h, v)
	case h >= 7:
		return 3
	case h >= 4:
		return 2
	}
	return 0
}

// faultRows is one row for each fault while there is room, and one for all of
// them otherwise.
func faultRows(h int, v View) int {
	n := len(v.Snap.Faults)
	if n > 1 && n <= 3 && h >= 12+n {
		return n
	}
	return 1
}

// drawTimeFoot draws the rows under a chart: the axis, its labels, the faults
// and the changes. left is the column for the rows' names.
func drawTimeFoot(left, a widget.Area, axis widget.Axis, v View, windows []widget.Window) {
	switch a.H {
	case 0, 1:
		return
	case 2:
		axis.Labels(a)
		drawFaultRow(left, a, 1, axis, windows)
	case 3:
		axis.Labels(a)
		drawFaultRow(left, a, 1, axis, windows)
		drawChangeRow(left, a, 2, axis, v)
	default:
		left.Set(left.W-1, 0, '┼', theme.Of(theme.Border))
		axis.Line(a)
		_, labels := a.Rows(1)
		axis.Labels(labels)
		drawFaultRows(left, a, axis, v, windows)
		drawChangeRow(left, a, a.H-1, axis, v)
	}
}

// drawFaultRows draws the rows between the axis and the changes.
func drawFaultRows(left, a widget.Area, axis widget.Axis, v View, windows []widget.Window) {
	rows := a.H - 3
	if rows == 1 {
		drawFaultRow(left, a, 2, axis, windows)
		return
	}
	for i := range rows {
		var own []widget.Window
		for _, w := range windows {
			if w.Name == v.Snap.Faults[i].Name {
				own = append(own, w)
			}
		}
		drawFaultRow(left, a, 2+i, axis, own)
	}
}

func drawFaultRow(left, a widget.Area, y int, axis widget.Axis, windows []widget.Window) {
	left.Text(0, y, "fault", theme.Of(theme.Dim))
	_, row := a.Rows(y)
	widget.Windows(row, axis, windows)
}

func drawChangeRow(left, a widget.Area, y int, axis widget.Axis, v View) {
	left.Text(0, y, "tuned", theme.Of(theme.Dim))
	_, row := a.Rows(y)
	widget.Labels(row, axis, changes(v.Snap))
}
