package widget

import (
	"herdscope/engine/metrics"
	"herdscope/tui/theme"
)

// Raster draws attempts by client and time: one row of cells for each row of r,
// one column for each column of it. A first try is a point, and a retry a grain
// that is the denser the larger the share of the row's clients that retried in
// it; retries hide first tries.
func Raster(a Area, r *metrics.Raster, clients int) {
	if r == nil || r.Rows <= 0 || r.Cols <= 0 || len(r.First) < r.Rows*r.Cols || len(r.Retry) < r.Rows*r.Cols {
		return
	}
	perRow := max(float64(clients)/float64(r.Rows), 1)
	for y := range min(r.Rows, a.H) {
		for x := range min(r.Cols, a.W) {
			i := y*r.Cols + x
			rasterCell(a, x, y, float64(r.First[i])/perRow, float64(r.Retry[i])/perRow)
		}
	}
}

// rasterCell draws one cell from its first tries and retries per client.
func rasterCell(a Area, x, y int, first, retry float64) {
	switch {
	case retry >= 0.5:
		a.Set(x, y, '▓', theme.Of(theme.Retry).On(deepOf(a)))
	case retry >= 0.12:
		a.Set(x, y, '▒', theme.Of(theme.Retry))
	case retry > 0:
		a.Set(x, y, '░', theme.Of(theme.Retry))
	case first >= 0.5:
		a.Set(x, y, '•', theme.Of(theme.First))
	case first > 0:
		a.Set(x, y, '·', theme.Of(theme.First))
	}
}

func deepOf(a Area) theme.Role {
	if a.Theme().Bands() {
		return theme.RetryDeep
	}
	return theme.Plain
}
