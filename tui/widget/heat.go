package widget

import (
	"time"

	"herdscope/engine/metrics"
	"herdscope/tui/theme"
)

// heatSteps are how a cell of a heat map is drawn from so many on. The glyphs
// alone tell them apart, and they do not depend on the fullest cell, so that a
// cell keeps its look as others fill.
var heatSteps = []struct {
	least uint16
	glyph rune
	role  theme.Role
}{
	{1, '·', theme.Heat1}, {2, '░', theme.Heat1}, {5, '▒', theme.Heat2},
	{15, '▓', theme.Heat3}, {50, '█', theme.Heat4},
}

// Heat draws a heat map: the lowest latencies at the foot, and each column where
// the axis has its time.
func Heat(a Area, axis Axis, h *metrics.Heat) {
	if h == nil || h.Rows <= 0 || h.Cols <= 0 || len(h.Counts) < h.Rows*h.Cols {
		return
	}
	for col := range h.Cols {
		x := axis.Col(h.Start.Add(time.Duration(col) * h.Width))
		if x < 0 || x >= axis.Cols {
			continue
		}
		for row := range h.Rows {
			heatCell(a, x, a.H-1-row, h.Counts[row*h.Cols+col])
		}
	}
}

func heatCell(a Area, x, y int, n uint16) {
	for i := len(heatSteps) - 1; i >= 0; i-- {
		if s := heatSteps[i]; n >= s.least {
			a.Set(x, y, s.glyph, theme.Of(s.role))
			return
		}
	}
}

// HeatLegend says how many a cell stands for.
func HeatLegend() []SpanOf {
	var parts []SpanOf
	for i, s := range heatSteps {
		text := " " + Count(int64(s.least)) + "+ "
		if i == 0 {
			text = " 1 "
		}
		parts = append(parts, S(string(s.glyph), s.role), S(text, theme.Dim))
	}
	return parts
}

// HeatScale writes the powers of ten of the latencies into a, which lies left of
// the map and is as high as it.
func HeatScale(a Area, h *metrics.Heat) {
	for y := range a.H {
		a.Set(a.W-1, y, '│', theme.Of(theme.Border))
	}
	if h == nil || h.Rows <= 0 || h.Low <= 0 {
		return
	}
	decades := 0
	for at := h.Low; at < h.High; at *= 10 {
		decades++
	}
	for i, at := 0, h.Low; i < decades; i, at = i+1, at*10 {
		y := a.H - 1 - i*h.Rows/decades
		a.TextRight(a.W-1, y, decade(at), theme.Of(theme.Dim))
		a.Set(a.W-1, y, '┤', theme.Of(theme.Border))
	}
}

// decade writes a power of ten of a time as short as can be.
func decade(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "0.1ms"
	case d < time.Second:
		return Short(float64(d)/1e6) + "ms"
	}
	return Short(d.Seconds()) + "s"
}
