package page

import (
	"strings"

	"herdscope/engine/wire"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// outcomesHeight is the height of the panel of outcomes with room for all.
const outcomesHeight = 8

// outcomeLooks is how each outcome is shown.
var outcomeLooks = [wire.NumOutcomes]look{
	wire.Succeeded:      {"succeeded", '✓', theme.Good},
	wire.Degraded:       {"degraded", '~', theme.Limited},
	wire.Failed:         {"failed", '✗', theme.Bad},
	wire.TimedOut:       {"timed out", '✗', theme.Bad},
	wire.ExpiredInQueue: {"expired in queue", '✗', theme.Bad},
	wire.Shed:           {"shed", '!', theme.Limited},
	wire.ShortCircuited: {"short-circuited", 'O', theme.Bad},
	wire.Cancelled:      {"cancelled", '-', theme.Dim},
}

// drawOutcomes draws a line over time for each outcome that there was, each on a
// scale of its own, with how many there were so far.
func drawOutcomes(a widget.Area, v View) {
	in := widget.Panel(a, "Outcomes", "over time · peak · so far")
	var met []wire.Outcome
	for o := wire.Succeeded; int(o) < wire.NumOutcomes; o++ {
		if v.Snap.Outcomes[o] > 0 {
			met = append(met, o)
		}
	}
	if len(met) == 0 {
		in.TextCut(0, 0, in.W, "no request has ended so far", theme.Of(theme.Dim))
		return
	}
	height := min(max(in.H/len(met), 1), 3)
	shown := min(len(met), in.H)
	if shown < len(met) && shown > 0 {
		shown--
		in.TextCut(0, shown, in.W, restOf(met[shown:], v), theme.Of(theme.Plain))
	}
	for i, o := range met[:shown] {
		drawOutcome(in.Sub(0, i*height, in.W, height), o, v)
	}
}

// restOf names outcomes that have no line of their own, with how many there were.
func restOf(rest []wire.Outcome, v View) string {
	parts := make([]string, 0, len(rest))
	for _, o := range rest {
		parts = append(parts, outcomeLooks[o].name+" "+widget.Count(v.Snap.Outcomes[o]))
	}
	return "+ " + strings.Join(parts, " · ")
}

// outcomeName is the width of an outcome's name.
const outcomeName = 18

func drawOutcome(a widget.Area, o wire.Outcome, v View) {
	l := outcomeLooks[o]
	a.Set(0, 0, l.letter, theme.Of(l.role).Strong())
	a.Text(2, 0, l.name, theme.Of(theme.Plain))
	chart := a.Sub(outcomeName+1, 0, a.W-outcomeName-18, a.H)
	axis := widget.NewAxis(v.Snap.At, v.Span, binWidth(v), chart.W)
	rates := make([]widget.Column, max(min(axis.Now+1, axis.Cols), 0))
	for _, b := range v.Snap.Bins {
		if c := axis.Col(b.Start); c >= 0 && c < len(rates) {
			rates[c].Lower += float64(b.Ended[o]) / axis.Width.Seconds()
		}
	}
	rates = settled(rates, v.Snap, axis)
	top := 0.0
	for _, r := range rates {
		top = max(top, r.Lower)
	}
	drawLine(chart, rates, top, theme.Of(l.role))
	a.TextRight(a.W-9, 0, widget.Rate(top), theme.Of(theme.Dim))
	a.TextRight(a.W, 0, widget.Count(v.Snap.Outcomes[o]), theme.Of(theme.Plain).Strong())
}

// drawLine draws the lower values of some columns from the left edge on.
func drawLine(a widget.Area, columns []widget.Column, top float64, style theme.Style) {
	values := make([]float64, len(columns))
	for i, c := range columns {
		values[i] = c.Lower
	}
	widget.Spark(a.Sub(0, 0, len(values), a.H), values, top, style)
}
