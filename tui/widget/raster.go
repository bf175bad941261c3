package widget

import (
	"time"

	"herdscope/engine/metrics"
	"herdscope/tui/theme"
)

// Raster draws attempts by client and time: one row of cells for each row of r,
// and each column of it where the axis has its time. A first try is a point, and a retry a grain
// that is the denser the larger the share of the row's clients that retried in
// it; retries hide first tries.
func Raster(a Area, axis Axis, r *metrics.Raster, clients int) {
	if r == nil || r.Rows <= 0 || r.Cols <= 0 || len(r.First) < r.Rows*r.Cols || len(r.Retry) < r.Rows*r.Cols {
		return
	}
	perRow := max(float64(clients)/float64(r.Rows), 1)
	for col := range r.Cols {
		x := axis.Col(r.Start.Add(time.Duration(col) * r.Width))
		if x < 0 || x >= axis.Cols {
			continue
		}
		for y := range min(r.Rows, a.H) {
			i := y*r.Cols + col
			rasterCell(a, x, y, float64(r.First[i])/perRow, float64(r.Retry[i])/perRow)
		}
	}
}

// rasterCell draws one cell from its first tries and retries per client.
func rasterCell(a Area, x, y int, first, retry float64) {
	switch {
	case retry >= 0.5:
		a.Set(x, y, '▓', Retries(a.Theme()))
	case retry >= 0.125:
		a.Set(x, y, '▒', theme.Of(theme.Retry))
	case retry > 0:
		a.Set(x, y, '░', theme.Of(theme.Retry))
	case first >= 0.5:
		a.Set(x, y, '•', theme.Of(theme.First))
	case first > 0:
		a.Set(x, y, '·', theme.Of(theme.First))
	}
}
