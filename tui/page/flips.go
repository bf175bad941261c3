package page

import (
	"strings"

	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// drawFleetShare draws the share of all breakers in each state over time, a
// letter for each part of them.
func drawFleetShare(a widget.Area, v View) {
	axis := plotAxis(v, a.W-panelFrame)
	in := widget.Panel(a, "All breakers over time", countsText(v.Snap.Breakers))
	foot := footRows(in.H, v)
	left, plot := in.Cols(scaleWidth)
	chart, under := plot.Rows(in.H - foot)
	scale, leftFoot := left.Rows(chart.H)
	windows := faultWindows(v.Snap)
	if v.Snap.Breakers.On {
		drawStateShares(scale, chart, axis, v)
		widget.Shade(chart, axis, windows)
	} else {
		chart.TextCut(0, 0, chart.W, "no breaker is in use", theme.Of(theme.Dim))
	}
	drawTimeFoot(leftFoot, under, axis, v, windows)
}

// drawStateShares draws a column of letters for each column of the axis. Where one
// was half-open, if only for a moment, that shows.
func drawStateShares(scale, chart widget.Area, axis widget.Axis, v View) {
	columns := make([][wire.NumBreakerStates]int64, max(min(axis.Now+1, axis.Cols), 0))
	probed := make([]int64, len(columns))
	for i := range v.Snap.Bins {
		bin := &v.Snap.Bins[i]
		if c := axis.Col(bin.Start); c >= 0 && c < len(columns) {
			for s, n := range bin.States {
				columns[c][s] = int64(n)
			}
			probed[c] += int64(bin.HalfOpened)
		}
	}
	for x, c := range columns {
		c[wire.HalfOpen] = max(c[wire.HalfOpen], probed[x])
		for y, s := range shares(c, chart.H) {
			drawState(chart, x, chart.H-1-y, s)
		}
	}
	drawShareScale(scale)
}

// countsText says how many breakers are in which state now.
func countsText(b metrics.BreakerView) string {
	if !b.On {
		return "off"
	}
	var parts []string
	for _, s := range listed(b) {
		parts = append(parts, string(looks[s].letter)+" "+widget.Count(b.Counts[s]))
	}
	return strings.Join(parts, " · ")
}

func drawShareScale(a widget.Area) {
	for y := range a.H {
		a.Set(a.W-1, y, '│', theme.Of(theme.Border))
	}
	a.TextRight(a.W-1, 0, "100%", theme.Of(theme.Dim))
	if a.H >= 5 {
		a.TextRight(a.W-1, a.H/2, "50%", theme.Of(theme.Dim))
	}
}

// shareOrder is the states from the foot of the chart up.
var shareOrder = [...]wire.BreakerState{
	wire.Closed, wire.MetricsOnly, wire.Disabled, wire.HalfOpen, wire.Eligible, wire.Open, wire.ForcedOpen,
}

// shares divides h cells among the states, from the foot up. Each that there is
// has a cell, as long as there are cells; what that is too much is taken from the
// largest.
func shares(counts [wire.NumBreakerStates]int64, h int) []wire.BreakerState {
	var all int64
	for _, n := range counts {
		all += n
	}
	if all == 0 || h <= 0 {
		return nil
	}
	var cells [wire.NumBreakerStates]int
	sum := 0
	for s, n := range counts {
		cells[s] = int((n*int64(h)*2 + all) / (2 * all))
		if n > 0 {
			cells[s] = max(cells[s], 1)
		}
		sum += cells[s]
	}
	for ; sum != h; sum += sign(h - sum) {
		largest := 0
		for s := range cells {
			if cells[s] > cells[largest] {
				largest = s
			}
		}
		cells[largest] += sign(h - sum)
	}
	var out []wire.BreakerState
	for _, s := range shareOrder {
		for range cells[s] {
			out = append(out, s)
		}
	}
	return out
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

// drawFlips lists the transitions, the newest first. Those of one kind that came
// within 100 ms share a line, so that none is lost, however fast they come.
func drawFlips(a widget.Area, v View) {
	note := ""
	if v.Snap.Lanes != nil {
		note = widget.Count(v.Snap.Lanes.Total) + " so far"
	}
	in := widget.Panel(a, "Transitions, newest first", note)
	if v.Snap.Lanes == nil || len(v.Snap.Lanes.Flips) == 0 {
		in.TextCut(0, 0, in.W, "no transition so far", theme.Of(theme.Dim))
		return
	}
	for y, f := range v.Snap.Lanes.Flips[:min(len(v.Snap.Lanes.Flips), in.H)] {
		drawFlip(in.Sub(0, y, in.W, 1), f, v)
	}
}

func drawFlip(a widget.Area, f metrics.Flips, v View) {
	from, to := lookOf(f.From), lookOf(f.To)
	if met := metLook(f.From, f.To); met != nil {
		to = *met
	}
	a.TextRight(8, 0, widget.Moment(f.At), theme.Of(theme.Dim))
	x := a.Text(10, 0, string(from.letter)+"→", theme.Of(from.role))
	x = a.Text(x, 0, string(to.letter)+" ", theme.Of(to.role).Strong())
	x = a.Text(x, 0, to.name+" ", theme.Of(to.role))
	who := breakerName(f.Client, f.Scope, f.Shared, v)
	if f.N > 1 {
		who = widget.Count(f.N) + " breakers"
		if f.Last > f.At {
			who += " within " + widget.Span(f.Last.Sub(f.At))
		}
	}
	x = a.Text(max(x, 25), 0, who, theme.Of(theme.Plain))
	why := causeWords[int(f.Cause)%len(causeWords)]
	if f.To == wire.HalfOpen {
		why = "a probe went out"
	}
	if why != "" && x+2+widget.Width(why) <= a.W {
		a.Text(x+2, 0, why, theme.Of(theme.Dim))
	}
}

// causeWords says why a breaker changed.
var causeWords = [...]string{
	wire.CauseThreshold: "too many failures", wire.CauseElapsed: "its time was over",
	wire.CauseProbe: "by its probes", wire.CauseLease: "a probe did not answer",
	wire.CauseFailureRate: "too large a share failed", wire.CauseSlowRate: "too large a share slow",
	wire.CauseMode: "by a setting",
}
