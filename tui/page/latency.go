package page

import (
	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// Latency is the page that says what a person waits, and for what.
type Latency struct{ zoom }

// Title is the page's name.
func (*Latency) Title() string { return "Latency" }

var latencyPanels = []panel{
	drawHeat, drawPercentiles, drawSpent, drawOutcomes, drawPages, drawLatencyNow, drawTune,
}

// NextPanel shows the next panel alone.
func (p *Latency) NextPanel() { p.next(len(latencyPanels)) }

// Watch asks for a heat map of the size that is drawn.
func (p *Latency) Watch(w, h int, v View) metrics.Watch {
	rows := h
	if !p.Alone(w, h) {
		l := latencyLayout(w, h, v)
		w, rows = w-l.side, l.heat
	}
	in := max(rows-2, 0)
	axis := plotAxis(v, w-panelFrame)
	return metrics.Watch{
		Span:     axis.Past(),
		HeatRows: max(in-footRows(in, v), 1),
		HeatCols: int(axis.Past() / axis.Width),
	}
}

// Draw draws the heat map, and under it what it is made of. The panels leave in
// this order as the screen gets smaller: pages, outcomes, where the time goes,
// percentiles.
func (p *Latency) Draw(a widget.Area, v View) {
	if p.Alone(a.W, a.H) {
		latencyPanels[p.panel()](a, v)
		return
	}
	l := latencyLayout(a.W, a.H, v)
	main, side := a.Cols(a.W - l.side)
	now, tune := side.Rows(len(latencyLines) + 2)
	drawLatencyNow(now, v)
	drawTune(tune, v)
	heat, rest := main.Rows(l.heat)
	drawHeat(heat, v)
	if l.wide {
		drawLatencyWide(rest, l, v)
		return
	}
	for _, part := range []struct {
		h    int
		draw panel
	}{
		{l.percentiles, drawPercentiles}, {l.spent, drawSpent}, {l.outcomes, drawOutcomes},
		{l.pages, drawPages},
	} {
		var in widget.Area
		in, rest = rest.Rows(part.h)
		if part.h > 0 {
			part.draw(in, v)
		}
	}
}

// drawLatencyWide draws the panels under the heat map side by side.
func drawLatencyWide(rest widget.Area, l latencyRows, v View) {
	upper, lower := rest.Rows(l.percentiles)
	percentiles, spent := upper.Cols(l.left)
	drawPercentiles(percentiles, v)
	drawSpent(spent, v)
	outcomes, pages := lower.Cols(l.left)
	drawOutcomes(outcomes, v)
	drawPages(pages, v)
}

// latencyRows is the heights of the page's panels; 0 is left out.
type latencyRows struct {
	side                                      int
	heat, percentiles, spent, outcomes, pages int
	// wide says that the panels under the heat map stand two and two; left is the
	// width of those at the left.
	wide bool
	left int
}

// heatLeast is the least height of the heat map.
const heatLeast = 9

func latencyLayout(w, h int, v View) latencyRows {
	l := latencyRows{side: sideWidth(w)}
	main := w - l.side
	classes := len(shownClasses(v))
	percentiles, spent := 3+2*classes, 3+2*classes
	if main >= 100 && h >= 30 {
		l.wide = true
		l.left = min(percentilesWidth, main*58/100)
		l.percentiles, l.spent = percentiles, spent
		l.outcomes = min(h-l.percentiles-heatLeast, outcomesHeight)
		l.pages = l.outcomes
		l.heat = h - l.percentiles - l.outcomes
		return l
	}
	room := h - heatLeast
	take := func(want int) int {
		if want > room {
			return 0
		}
		room -= want
		return want
	}
	l.percentiles = take(percentiles)
	l.spent = take(spent)
	l.outcomes = take(6)
	if paged(v) {
		l.pages = take(3 + len(v.Snap.Latency.Pages.Steps))
	}
	l.heat = heatLeast + room
	return l
}

func paged(v View) bool { return v.Snap.Latency != nil && len(v.Snap.Latency.Pages.Steps) > 0 }

// shownClasses are the classes that the scenario has requests of; all of them if
// it says nothing of that.
func shownClasses(v View) []wire.Class {
	var cs []wire.Class
	for c := range wire.Class(wire.NumClasses) {
		if v.Scenario.Fleet.Mix[c].Weight > 0 {
			cs = append(cs, c)
		}
	}
	if len(cs) == 0 {
		return []wire.Class{wire.Critical, wire.Interactive, wire.Background}
	}
	return cs
}

// latencyLines are the headlines that latency is judged by.
var latencyLines = []headline{
	offeredLine, goodputLine, amplificationLine, peakLine, chanceLine, p50Line, p99Line,
}

func drawLatencyNow(a widget.Area, v View) {
	drawHeadlines(headlinePanel(a, "Now", v), latencyLines, v)
}

// drawHeat draws the latencies of successes over time.
func drawHeat(a widget.Area, v View) {
	axis := plotAxis(v, a.W-panelFrame)
	title := "Latency of successes, from the intended start"
	if v.Status.Foreign {
		title = "Latency of successes, from the first arrival"
	}
	if a.W < 74 {
		title = "Latency of successes"
	}
	in := widget.Panel(a, title, "")
	legend := widget.HeatLegend()
	full := append([]widget.SpanOf{widget.S("per cell ", theme.Dim)}, legend...)
	from := widget.Width(title) + 4
	long := append(full[:len(full):len(full)], widget.S(" "+columnNote(axis), theme.Dim))
	if !widget.PanelNote(a, from, long...) && !widget.PanelNote(a, from, full...) {
		widget.PanelNote(a, from, legend...)
	}
	foot := footRows(in.H, v)
	scale, plot := in.Cols(scaleWidth)
	chart, under := plot.Rows(in.H - foot)
	scale, left := scale.Rows(chart.H)
	var heat *metrics.Heat
	if v.Snap.Latency != nil {
		heat = v.Snap.Latency.Heat
	}
	widget.HeatScale(scale, heat)
	widget.Heat(chart, axis, heat)
	windows := faultWindows(v.Snap)
	widget.Shade(chart, axis, windows)
	drawTimeFoot(left, under, axis, v, windows)
}
