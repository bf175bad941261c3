package page

import (
	"strconv"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/metrics"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// scaleWidth is the room left of a chart for the values of its axis.
const scaleWidth = 6

// plotAxis is the time axis of a chart in a panel with cols columns inside.
func plotAxis(v View, cols int) widget.Axis {
	return widget.NewAxis(v.Snap.At, v.Span, binWidth(v), cols-scaleWidth)
}

func binWidth(v View) time.Duration {
	if v.Snap.BinWidth > 0 {
		return v.Snap.BinWidth
	}
	return 100 * time.Millisecond
}

// drawArrivals draws first tries and retries over time, with what happens to
// the server and to the settings underneath.
func drawArrivals(a widget.Area, v View) {
	axis := plotAxis(v, a.W-panelFrame)
	in := arrivalsPanel(a, axis, v)
	foot := footRows(in.H, v)
	scale, plot := in.Cols(scaleWidth)
	chart, under := plot.Rows(in.H - foot)
	scale, left := scale.Rows(chart.H)

	columns := arrivalColumns(v.Snap, axis)
	stack := widget.Stack{Top: chartTop(columns, thresholds(v))}
	stack.Scale(scale)
	stack.Draw(chart, columns)
	for _, t := range thresholds(v) {
		stack.Threshold(chart, t.value, t.name+" "+widget.Rate(t.value))
	}
	windows := faultWindows(v.Snap)
	widget.Shade(chart, axis, windows)
	if under.H >= 4 {
		stack.Zero(left)
	}
	drawTimeFoot(left, under, axis, v, windows)
}

// columnNote says how much time one column covers.
func columnNote(axis widget.Axis) string { return "1 column = " + widget.Span(axis.Width) }

// arrivalsPanel draws the frame of the chart, with as much of the legend as
// there is room for.
func arrivalsPanel(a widget.Area, axis widget.Axis, v View) widget.Area {
	title := "Arrivals at the server · attempts/s"
	if a.W < 70 {
		title = "Attempts/s"
	}
	in := widget.Panel(a, title, "")
	legend := []widget.SpanOf{widget.S("█", theme.First), widget.S(" first tries  ", theme.Dim),
		widget.SpanOf{Text: "▒", Style: widget.Retries(a.Theme())}, widget.S(" "+retryWord(v), theme.Dim)}
	full := append(legend, widget.S("  "+columnNote(axis), theme.Dim))
	from := widget.Width(title) + 4
	if !widget.PanelNote(a, from, full...) {
		widget.PanelNote(a, from, legend...)
	}
	return in
}

// arrivalColumns adds the bins of a snapshot up into the columns of an axis, as
// attempts per second.
func arrivalColumns(s *metrics.Snapshot, axis widget.Axis) []widget.Column {
	columns := make([]widget.Column, max(min(axis.Now+1, axis.Cols), 0))
	perSecond := 1 / axis.Width.Seconds()
	for _, b := range s.Bins {
		if c := axis.Col(b.Start); c >= 0 && c < len(columns) {
			columns[c].Lower += float64(b.First) * perSecond
			columns[c].Upper += float64(b.Retry) * perSecond
		}
	}
	return settled(columns, s, axis)
}

// settled makes the newest column, which is not over yet, a rate over the time
// that it has lasted; of less than a bin it shows nothing.
func settled(columns []widget.Column, s *metrics.Snapshot, axis widget.Axis) []widget.Column {
	last := len(columns) - 1
	if last < 0 {
		return columns
	}
	lasted := s.At.Sub(axis.Start.Add(time.Duration(last) * axis.Width))
	switch {
	case lasted >= axis.Width:
	case lasted < s.BinWidth:
		return columns[:last]
	default:
		scale := float64(axis.Width) / float64(lasted)
		columns[last].Lower *= scale
		columns[last].Upper *= scale
	}
	return columns
}

// threshold is a value to draw across a chart.
type threshold struct {
	name  string
	value float64
}

// thresholds are what the server can do, as far as it is limited.
func thresholds(v View) []threshold {
	var ts []threshold
	if c := v.Scenario.Sustained(); c > 0 {
		ts = append(ts, threshold{"capacity", c})
	}
	if r := v.Scenario.Server.Limit.Rate; r > 0 {
		ts = append(ts, threshold{"rate limit", float64(r) / 1000})
	}
	return ts
}

// chartTop is the upper edge of the chart: room for the highest column, and for
// the thresholds if they do not dwarf it.
func chartTop(columns []widget.Column, ts []threshold) float64 {
	top := 10.0
	for _, c := range columns {
		top = max(top, c.Lower+c.Upper)
	}
	peak := top
	for _, t := range ts {
		if t.value <= 3*peak {
			top = max(top, t.value*1.1)
		}
	}
	return widget.RoundUp(top)
}

// faultWindows are the windows of all faults that have been, are, or are known
// to come.
func faultWindows(s *metrics.Snapshot) []widget.Window {
	var ws []widget.Window
	for _, m := range s.Marks {
		if m.Kind != metrics.MarkFault {
			continue
		}
		ws = append(ws, widget.Window{Name: m.Text, Label: m.Text, From: m.At, Until: m.Until})
	}
	for _, f := range s.Faults {
		if f.Next != clock.Never && f.Next > s.At {
			in := f.Next.Sub(s.At).Round(time.Second)
			ws = append(ws, widget.Window{
				Name: f.Name, Label: f.Name + " in " + strconv.Itoa(int(in.Seconds())) + " s",
				From: f.Next, Until: f.Next.Add(f.Length), Coming: true,
			})
		}
	}
	return ws
}

// changes are the settings that were changed, and when.
func changes(s *metrics.Snapshot) []widget.Label {
	var ls []widget.Label
	for _, m := range s.Marks {
		if m.Kind == metrics.MarkChange {
			ls = append(ls, widget.Label{At: m.At, Text: m.Text})
		}
	}
	return ls
}
