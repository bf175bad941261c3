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
	if !p.alone(w, h) {
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
	if p.alone(a.W, a.H) {
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
	in := widget.Panel(a, rasterTitle(v), widget.Span(axis.Width)+" columns")
	foot := footRows(in.H, v)
	left, plot := in.Cols(scaleWidth)
	rows, under := plot.Rows(in.H - foot)
	leftRows, leftFoot := left.Rows(rows.H)
	if r == nil {
		rows.Text(1, 0, "waiting for the first raster", theme.Of(theme.Dim))
	} else {
		axis.Start, axis.Width = r.Start, r.Width
		axis.Now = axis.Col(v.Snap.At)
		widget.Raster(rows, r, v.Snap.Clients)
		drawRasterNames(leftRows, r, v)
	}
	windows := faultWindows(v.Snap)
	widget.Shade(rows, axis, windows)
	drawTimeFoot(leftFoot, under, axis, v, windows)
}

func rasterTitle(v View) string {
	rows := 0
	if v.Snap.Raster != nil {
		rows = v.Snap.Raster.Rows
	}
	if rows == 0 || v.Snap.Clients <= rows {
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
	s := v.Snap
	in := widget.Panel(a, "Synchrony (last "+widget.Span(s.Window)+")", "")
	lines := []headline{headlines[4], headlines[5], headlines[1], headlines[0], headlines[3]}
	for y, h := range lines {
		in.Text(0, y, h.name, theme.Of(theme.Dim))
		value := in.W
		if s.Changed {
			value -= 10
			in.TextRight(in.W, y, h.text(s.Was), theme.Of(theme.Dim))
		}
		in.TextRight(value, y, h.text(s.Now), theme.Of(h.role).Strong())
	}
	y := len(lines)
	in.TextCut(0, y, in.W, verdict(s.Now), theme.Of(theme.Plain).Strong())
	drawRasterLegend(in, y+2, v)
}

// verdict says in words how synchronised the arrivals are.
func verdict(h metrics.Headline) string {
	switch {
	case h.PeakToMean <= 0:
		return "no arrivals"
	case h.PeakToMean <= 1.5*h.Chance:
		return "spread as by chance: rain"
	case h.PeakToMean <= 3*h.Chance:
		return "bunched more than by chance"
	}
	return "a herd: " + widget.Fixed(h.PeakToMean/h.Chance) + " times what chance gives"
}

func drawRasterLegend(in widget.Area, y int, v View) {
	widget.Spans(in, 0, y,
		widget.S("· •", theme.First), widget.S(" first tries, few and many", theme.Dim))
	widget.Spans(in, 0, y+1,
		widget.S("░ ▒ ▓", theme.Retry), widget.S(" of the row retry: some, 1/8, half", theme.Dim))
	if !v.Snap.Breakers.On {
		return
	}
	x := in.Text(0, y+2, "breaker ", theme.Of(theme.Dim))
	for _, s := range stateOrder {
		x = in.Text(x, y+2, string(looks[s].letter), theme.Of(looks[s].role).Strong())
		x = in.Text(x, y+2, " "+looks[s].name+" ", theme.Of(theme.Dim))
	}
}
