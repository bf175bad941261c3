package page

import (
	"fmt"

	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/tui/keymap"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// Queues is the page that says who waits for a slot, why, and who went before
// whom.
type Queues struct{ zoom }

// Title is the page's name.
func (*Queues) Title() string { return "Queues" }

// Keys are the keys that matter here.
func (*Queues) Keys() []keymap.Command { return []keymap.Command{keymap.Ageing} }

var queuePanels = []panel{
	drawDepth, drawWaits, drawJumps, drawHeads, drawOrder, drawHungers, drawLatencyNow, drawTune,
}

// NextPanel shows the next panel alone.
func (p *Queues) NextPanel() { p.next(len(queuePanels)) }

// Watch asks for the queues, and for enough history to fill the chart.
func (p *Queues) Watch(w, h int, v View) metrics.Watch {
	if !p.Alone(w, h) {
		w -= sideWidth(w)
	}
	return metrics.Watch{Span: plotAxis(v, w-panelFrame).Past(), Lines: true}
}

// waitsWidth is the width of the panel of waits beside others.
const waitsWidth = 48

// Draw draws the depth over time and what is known of each class. The panels
// leave in this order as the screen gets smaller: starvation and order, then what
// the heads wait for and who went first.
func (p *Queues) Draw(a widget.Area, v View) {
	if v.Status.Foreign {
		drawForeignPage(a, "Queues", p.Alone(a.W, a.H), v)
		return
	}
	if p.Alone(a.W, a.H) {
		queuePanels[p.panel()](a, v)
		return
	}
	l := queueLayout(a.W, a.H)
	main, side := a.Cols(a.W - l.side)
	now, tune := side.Rows(len(latencyLines) + 2)
	drawLatencyNow(now, v)
	drawTune(tune, v)
	depth, rest := main.Rows(l.depth)
	drawDepth(depth, v)
	middle, foot := rest.Rows(l.waits)
	if l.beside == 0 {
		drawWaits(middle, v)
		return
	}
	waits, beside := middle.Cols(l.beside)
	drawWaits(waits, v)
	jumps, heads := beside.Rows(jumpsHeight)
	drawJumps(jumps, v)
	drawHeads(heads, v)
	if foot.H > 0 {
		order, hungers := foot.Cols(l.beside)
		drawOrder(order, v)
		drawHungers(hungers, v)
	}
}

// queueRows is the sizes of the page's panels; 0 is left out.
type queueRows struct{ side, depth, waits, beside, foot int }

// The heights of the panels.
const (
	waitsHeight = 16
	jumpsHeight = 3 + wire.NumClasses
	depthLeast  = 7
)

func queueLayout(w, h int) queueRows {
	l := queueRows{side: sideWidth(w)}
	if main := w - l.side; main >= waitsWidth+30 {
		l.beside = max(waitsWidth, main*45/100)
	}
	l.waits = min(waitsHeight, h-depthLeast)
	room := h - l.waits - depthLeast
	if l.beside > 0 && room >= 5 {
		l.foot = min(5+max(room-12, 0)/3, 12)
	}
	l.depth = h - l.waits - l.foot
	return l
}

// drawDepth draws how many of each class wait, over time and on one scale, and
// the limit where a limiter moves it.
func drawDepth(a widget.Area, v View) {
	axis := plotAxis(v, a.W-panelFrame)
	in := depthPanel(a, axis, v)
	foot := footRows(in.H, v)
	left, plot := in.Cols(scaleWidth)
	chart, under := plot.Rows(in.H - foot)
	leftChart, leftFoot := left.Rows(chart.H)
	if moving(v) && chart.H > len(shownClasses(v)) {
		rest := chart.H - 1
		drawLimit(leftChart.Sub(0, rest, left.W, 1), chart.Sub(0, rest, chart.W, 1), axis, v)
		leftChart, _ = leftChart.Rows(rest)
		chart, _ = chart.Rows(rest)
	}
	drawDepths(leftChart, chart, axis, v)
	windows := faultWindows(v.Snap)
	widget.Shade(plot.Sub(0, 0, plot.W, in.H-foot), axis, windows)
	drawTimeFoot(leftFoot, under, axis, v, windows)
}

// depthPanel draws the frame with as much of the legend as there is room for.
func depthPanel(a widget.Area, axis widget.Axis, v View) widget.Area {
	title := "Requests that wait for a slot"
	in := widget.Panel(a, title, "")
	var legend []widget.SpanOf
	for _, c := range shownClasses(v) {
		l := classLooks[c]
		legend = append(legend, widget.S(string(l.letter), l.role), widget.S(" "+l.name+" ", theme.Dim))
	}
	from := widget.Width(title) + 4
	full := append(legend[:len(legend):len(legend)], widget.S(" "+columnNote(axis), theme.Dim))
	if !widget.PanelNote(a, from, full...) {
		widget.PanelNote(a, from, legend...)
	}
	return in
}

// drawDepths draws one band for each class.
func drawDepths(left, chart widget.Area, axis widget.Axis, v View) {
	classes := shownClasses(v)
	series := make([][]widget.Column, len(classes))
	top := 1.0
	for i, c := range classes {
		series[i] = latestOf(v.Snap, axis, func(b *metrics.Bin) float64 { return float64(b.Waiting[c]) })
		for _, x := range series[i] {
			top = max(top, x.Lower)
		}
	}
	top = widget.RoundUp(top)
	for i, c := range classes {
		from, to := i*chart.H/len(classes), (i+1)*chart.H/len(classes)
		l := classLooks[c]
		band, scale := chart.Sub(0, from, chart.W, to-from), left.Sub(0, from, left.W, to-from)
		drawLine(band, series[i], top, theme.Of(l.role))
		for y := range scale.H {
			scale.Set(scale.W-1, y, '│', theme.Of(theme.Border))
		}
		scale.Set(0, scale.H-1, l.letter, theme.Of(l.role))
		scale.TextRight(scale.W-1, 0, widget.Short(top), theme.Of(theme.Dim))
		scale.Set(scale.W-1, 0, '┤', theme.Of(theme.Border))
		drawHere(band, axis, widget.Count(v.Snap.Queues[c].Waiting)+" wait", l.role)
	}
}

// latestOf is what a value was at the end of each column of an axis.
func latestOf(s *metrics.Snapshot, axis widget.Axis, of func(*metrics.Bin) float64) []widget.Column {
	columns := make([]widget.Column, max(min(axis.Now+1, axis.Cols), 0))
	for i := range s.Bins {
		if c := axis.Col(s.Bins[i].Start); c >= 0 && c < len(columns) {
			columns[c].Lower = of(&s.Bins[i])
		}
	}
	return columns
}

// drawHere writes a value of now behind the column of now, if there is room.
func drawHere(a widget.Area, axis widget.Axis, text string, r theme.Role) {
	if x := axis.Now + 2; x+widget.Width(text) <= a.W {
		a.Text(x, a.H-1, text, theme.Of(r).Strong())
	}
}

// moving says whether a limiter moves the limit of the scopes.
func moving(v View) bool { return v.Scenario.Fleet.Policy.Limiter.Kind != 0 }

// drawLimit draws the limit that limiters have chosen, on average over the
// scopes, over time.
func drawLimit(left, chart widget.Area, axis widget.Axis, v View) {
	columns := latestOf(v.Snap, axis, func(b *metrics.Bin) float64 { return float64(b.Limit) })
	top := 1.0
	for _, x := range columns {
		top = max(top, x.Lower)
	}
	left.Text(0, 0, "limit", theme.Of(theme.Dim))
	drawLine(chart, columns, top, theme.Of(theme.Accent))
	text := "not moved yet"
	if v.Snap.Limits.Moved > 0 {
		text = fmt.Sprintf("%.1f slots on average", v.Snap.Limits.Mean)
	}
	drawHere(chart, axis, text, theme.Accent)
}
