package page

import (
	"fmt"

	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// zone is one stretch of the stability line.
type zone struct {
	name  string
	until float64
	role  theme.Role
	line  rune
}

// drawStability shows where the offered load lies: below what the server could
// serve if every request were tried as often as it may be, between that and its
// capacity, where a stall can feed on its own retries, or above.
func drawStability(a widget.Area, v View) {
	in := widget.Panel(a, "Stability", "")
	limit := capacity(v)
	attempts := v.Scenario.Fleet.Policy.Retry.Attempts
	if limit <= 0 || attempts < 1 {
		drawUnlimited(in, v)
		return
	}
	offered := v.Snap.Now.Offered
	safe := limit / float64(attempts)
	zones := []zone{
		{fmt.Sprintf("stable ≤%s", widget.Rate(safe)), safe, theme.Good, '·'},
		{fmt.Sprintf("VULNERABLE to %s", widget.Rate(limit)), limit, theme.Limited, '╌'},
		{"overload", max(limit*1.4, offered*1.05), theme.Bad, '─'},
	}
	if attempts == 1 {
		zones = []zone{{fmt.Sprintf("stable ≤%s", widget.Rate(limit)), limit, theme.Good, '·'}, zones[2]}
	}
	drawZones(in, zones, offered)
}

func drawUnlimited(in widget.Area, v View) {
	text := "no capacity limit: nothing overloads here; what hurts is attempts that come together"
	if v.Snap.Now.PeakToMean > 0 {
		text = fmt.Sprintf("no capacity limit: nothing overloads here; what hurts is attempts that come together: "+
			"the fullest %s hold %s the mean (%s by chance)", widget.Span(binWidth(v)),
			widget.Times(v.Snap.Now.PeakToMean), widget.Times(v.Snap.Now.Chance))
	}
	if widget.Width(text) > in.W {
		text = "no capacity limit: only bunching hurts; peak/mean " + peakToMean(v.Snap.Now)
	}
	in.TextCut(0, 0, in.W, text, theme.Of(theme.Plain))
}

// drawZones draws the zones from left to right, each as wide as its share, its
// name inside, and a marker at the value.
func drawZones(in widget.Area, zones []zone, value float64) {
	top := zones[len(zones)-1].until
	from, low := 0, 0.0
	marker := min(int(value/top*float64(in.W)), in.W-1)
	for i, z := range zones {
		to := int(z.until / top * float64(in.W))
		if i == len(zones)-1 {
			to = in.W
		}
		here := value >= low && (value < z.until || i == len(zones)-1)
		drawZone(in, z, from, to, here)
		from, low = to, z.until
	}
	text := "●" + widget.Rate(value)
	x := min(marker, in.W-widget.Width(text))
	in.Text(x, 0, text, theme.Of(theme.Accent).Strong())
}

func drawZone(in widget.Area, z zone, from, to int, here bool) {
	style := theme.Of(z.role)
	if here {
		style = style.Strong()
	}
	for x := from; x < to; x++ {
		in.Set(x, 0, z.line, style)
	}
	if n := widget.Width(z.name); to-from >= n+3 {
		in.Text(from+1, 0, " "+z.name+" ", style)
	}
	in.Set(to-1, 0, '│', theme.Of(theme.Border))
}
