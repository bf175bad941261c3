package page

import (
	"strconv"

	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// Herd is the page that says whether the clients are synchronised: without
// jitter the raster shows columns, with full jitter it shows rain.
type Herd struct{ zoom }

// Title is the page's name.
func (*Herd) Title() string { return "Herd" }

var herdPanels = []panel{drawRaster, drawSynchrony, drawTune}

// NextPanel shows the next panel alone.
func (p *Herd) NextPanel() { p.next(len(herdPanels)) }

// Watch asks for a raster of the size that is drawn.
func (p *Herd) Watch(w, h int, v View) metrics.Watch {
	if !p.Alone(w, h) {
		w -= sideWidth(w)
	}
	in := max(h-2, 0)
	axis := plotAxis(v, w-panelFrame)
	return metrics.Watch{
		Span:       axis.Past(),
		RasterRows: min(max(in-footRows(in, v), 0), max(v.Snap.Clients, 1)),
		RasterCols: int(axis.Past() / axis.Width),
	}
}

// synchronyHeight is the height of the panel of herd numbers.
const synchronyHeight = 12

// Draw draws the raster, and beside it the herd's numbers and the settings.
func (p *Herd) Draw(a widget.Area, v View) {
	if p.Alone(a.W, a.H) {
		herdPanels[p.panel()](a, v)
		return
	}
	main, side := a.Cols(a.W - sideWidth(a.W))
	drawRaster(main, v)
	numbers, tune := side.Rows(synchronyHeight)
	drawSynchrony(numbers, v)
	drawTune(tune, v)
}

// drawRaster draws one row for each client, or for each group of clients.
func drawRaster(a widget.Area, v View) {
	r := v.Snap.Raster
	axis := plotAxis(v, a.W-panelFrame)
	in := widget.Panel(a, rasterTitle(v, a.H-2-footRows(a.H-2, v)), columnNote(axis))
	foot := footRows(in.H, v)
	left, plot := in.Cols(scaleWidth)
	rows, under := plot.Rows(in.H - foot)
	leftRows, leftFoot := left.Rows(rows.H)
	if r != nil {
		widget.Raster(rows, axis, r, v.Snap.Clients)
		drawRasterNames(leftRows, r, v)
	}
	windows := faultWindows(v.Snap)
	widget.Shade(rows, axis, windows)
	drawTimeFoot(leftFoot, under, axis, v, windows)
}

// rasterTitle says how many clients one of the rows stands for.
func rasterTitle(v View, rows int) string {
	if rows <= 0 || v.Snap.Clients <= rows {
		return "Attempts · one row per client"
	}
	return "Attempts · one row per " + strconv.Itoa((v.Snap.Clients+rows-1)/rows) + " clients"
}

// drawRasterNames writes the first client of each row, and the worst state of
// the row's breakers.
func drawRasterNames(a widget.Area, r *metrics.Raster, v View) {
	for y := range min(r.Rows, a.H) {
		a.TextRight(a.W-2, y, strconv.Itoa(y*v.Snap.Clients/r.Rows), theme.Of(theme.Dim))
		if v.Snap.Breakers.On && y < len(r.States) {
			l := looks[r.States[y]%wire.BreakerState(wire.NumBreakerStates)]
			a.Set(a.W-1, y, l.letter, theme.Of(l.role).Strong())
			continue
		}
		a.Set(a.W-1, y, '│', theme.Of(theme.Border))
	}
}

// drawSynchrony draws how far the arrivals are from a random stream.
func drawSynchrony(a widget.Area, v View) {
	in := headlinePanel(a, "Synchrony", v)
	lines := []headline{peakLine, chanceLine, sentLine, offeredLine, amplificationLine}
	drawHeadlines(in, lines, v)
	text, role := verdict(v.Snap.Now)
	in.TextCut(0, len(lines), in.W, text, theme.Of(role).Strong())
	rows := rasterLegend(in.W, v)
	for i, r := range rows {
		widget.Spans(in, 0, min(len(lines)+2, max(in.H-len(rows), len(lines)+1))+i, r...)
	}
}

// verdict says in words how synchronised the arrivals are.
func verdict(h metrics.Headline) (string, theme.Role) {
	switch {
	case h.PeakToMean <= 0 || h.Chance <= 0:
		return "no arrivals", theme.Dim
	case h.PeakToMean <= 1.5*h.Chance:
		return "rain: as spread as chance", theme.Good
	case h.PeakToMean <= 3*h.Chance:
		return "bunched: " + widget.Times(h.PeakToMean/h.Chance) + " chance", theme.Limited
	}
	return "HERD: " + widget.Times(h.PeakToMean/h.Chance) + " chance", theme.Retry
}

// rasterLegend says what the marks of the raster mean, in w columns.
func rasterLegend(w int, v View) [][]widget.SpanOf {
	most := " 1/2 of a row retries"
	if v.Status.Foreign {
		most = " 1/2 likely retries"
	}
	if w < 34 {
		most = " 1/2 retry"
	}
	rows := [][]widget.SpanOf{
		{widget.S("·", theme.First), widget.S(" first tries  ", theme.Dim), widget.S("•", theme.First),
			widget.S(" many", theme.Dim)},
		{widget.S("░", theme.Retry), widget.S(" few ", theme.Dim), widget.S("▒", theme.Retry),
			widget.S(" 1/8 ", theme.Dim), widget.S("▓", theme.Retry), widget.S(most, theme.Dim)},
	}
	if v.Snap.Breakers.On {
		rows = append(rows, breakerLegend(w, v.Snap.Breakers)...)
	}
	return rows
}

// breakerLegend names the letters of the breaker states, in one row or in two.
func breakerLegend(w int, b metrics.BreakerView) [][]widget.SpanOf {
	var row []widget.SpanOf
	for _, s := range listed(b) {
		l := looks[s]
		row = append(row, widget.B(string(l.letter), l.role), widget.S(" "+l.name+" ", theme.Dim))
	}
	if w < widget.SpansWidth(row...) {
		half := len(row) / 4 * 2 // a letter stays with its name
		return [][]widget.SpanOf{row[:half], row[half:]}
	}
	return [][]widget.SpanOf{row}
}
