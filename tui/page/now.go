package page

import (
	"herdscope/engine/metrics"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// nowHeight is the height of the panel of headline numbers.
const nowHeight = 12

// headline is one line of the panel of headline numbers.
type headline struct {
	name string
	role theme.Role
	text func(metrics.Headline) string
}

var headlines = []headline{
	{"offered", theme.Plain, func(h metrics.Headline) string { return widget.Rate(h.Offered) }},
	{"sent", theme.Plain, func(h metrics.Headline) string { return widget.Rate(h.Sent) }},
	{"goodput", theme.Good, func(h metrics.Headline) string { return widget.Rate(h.Goodput) }},
	{"amplification", theme.Retry, amplification},
	{"peak/mean", theme.Plain, peakToMean},
	{"  by chance", theme.Dim, chance},
	{"latency p50", theme.Plain, p50},
	{"latency p99", theme.Plain, p99},
}

// drawNow draws the headline numbers, and beside them what they were before the
// last change.
func drawNow(a widget.Area, v View) {
	s := v.Snap
	title := "Now"
	if s.Window > 0 {
		title += " (last " + widget.Span(s.Window) + ")"
	}
	note := ""
	if s.Changed && a.W >= 38 {
		note = "before the change"
	}
	in := widget.Panel(a, title, note)
	for y, h := range headlines {
		in.Text(0, y, h.name, theme.Of(theme.Dim))
		value := in.W
		if s.Changed {
			value = in.W - 10
			in.TextRight(in.W, y, h.text(s.Was), theme.Of(theme.Dim))
			if in.W >= 32 {
				in.TextRight(in.W-7, y, "was", theme.Of(theme.Dim))
			}
		}
		in.TextRight(value, y, h.text(s.Now), theme.Of(h.role).Strong())
	}
	drawRecovery(in, len(headlines), v)
}

// drawRecovery says how the last fault was overcome.
func drawRecovery(in widget.Area, y int, v View) {
	r := v.Snap.Recovery
	x := in.Text(0, y, "recovery ", theme.Of(theme.Dim))
	if r.Known {
		in.Text(x, y, widget.Span(r.Took)+" after the fault", theme.Of(theme.Good).Strong())
		return
	}
	why := r.Why
	if why == "" {
		why = widget.None
	}
	in.TextCut(x, y, in.W-x, why, theme.Of(theme.Dim))
}

func amplification(h metrics.Headline) string {
	if h.Amplification <= 0 {
		return widget.None
	}
	return widget.Times(h.Amplification)
}

func peakToMean(h metrics.Headline) string {
	if h.PeakToMean <= 0 {
		return widget.None
	}
	return widget.Times(h.PeakToMean)
}

func chance(h metrics.Headline) string {
	if h.PeakToMean <= 0 {
		return widget.None
	}
	return widget.Times(h.Chance)
}

func p50(h metrics.Headline) string {
	if h.Count == 0 {
		return widget.None
	}
	return widget.Span(h.P50)
}

func p99(h metrics.Headline) string {
	if h.Count < 100 {
		return "n<100"
	}
	return widget.Span(h.P99)
}
