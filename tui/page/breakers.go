package page

import (
	"fmt"

	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// look is how one breaker state is shown: by name, letter and role.
type look struct {
	name   string
	letter rune
	role   theme.Role
}

var looks = [wire.NumBreakerStates]look{
	wire.Closed:   {"closed", 'c', theme.Good},
	wire.Open:     {"open", 'O', theme.Bad},
	wire.Eligible: {"eligible", 'e', theme.Limited},
	wire.HalfOpen: {"half-open", 'h', theme.Half},
}

// stateOrder is the order in which states are listed.
var stateOrder = [...]wire.BreakerState{wire.Closed, wire.Open, wire.Eligible, wire.HalfOpen}

// drawBreakers draws how many breakers are in which state, the share that is
// not closed over time, and the last transition.
func drawBreakers(a widget.Area, v View) {
	b := v.Snap.Breakers
	if !b.On {
		in := widget.Panel(a, "Breakers", "off")
		for y, line := range widget.Wrap("none: every attempt is sent", in.W) {
			in.Text(0, y, line, theme.Of(theme.Dim))
		}
		return
	}
	in := widget.Panel(a, "Breakers", "total "+widget.Count(b.Total))
	y := drawStates(in, b)
	last, spark := in.H-1, in.H-1-y
	if spark > 0 {
		drawOpenShare(in.Sub(0, y, in.W, spark), v.Snap)
	}
	if last >= y {
		drawTransition(in, last, b.Last)
	}
}

// drawStates lists the states in one or two rows and returns the row below.
func drawStates(in widget.Area, b metrics.BreakerView) int {
	perRow := 4
	if in.W < 52 {
		perRow = 2
	}
	width := in.W / perRow
	for i, s := range stateOrder {
		l := looks[s]
		x, y := i%perRow*width, i/perRow
		end := in.Text(x, y, string(l.letter)+" ", theme.Of(l.role).Strong())
		end = in.Text(end, y, l.name, theme.Of(theme.Dim))
		n := widget.Count(b.Counts[s])
		in.TextRight(max(x+width-2, end+1+widget.Width(n)), y, n, theme.Of(l.role).Strong())
	}
	return 4 / perRow
}

// drawOpenShare draws the share of breakers that let nothing through.
func drawOpenShare(a widget.Area, s *metrics.Snapshot) {
	values := make([]float64, 0, len(s.Bins))
	for _, b := range s.Bins {
		var all int32
		for _, n := range b.States {
			all += n
		}
		share := 0.0
		if all > 0 {
			share = float64(b.States[wire.Open]+b.States[wire.Eligible]) / float64(all)
		}
		values = append(values, share)
	}
	chart, label := a.Cols(a.W - 12)
	widget.Spark(chart, squeeze(values, chart.W), 1, theme.Of(theme.Bad))
	now := 0.0
	if len(values) > 0 {
		now = values[len(values)-1]
	}
	label.TextRight(label.W, a.H-1, widget.Percent(now), theme.Of(theme.Bad).Strong())
	if a.H > 1 {
		label.TextRight(label.W, a.H-2, "open share", theme.Of(theme.Dim))
	} else {
		label.Text(1, 0, "open", theme.Of(theme.Dim))
	}
}

// squeeze reduces values to at most n of them, each the largest of its group.
func squeeze(values []float64, n int) []float64 {
	if n <= 0 || len(values) <= n {
		return values
	}
	group := (len(values) + n - 1) / n
	out := make([]float64, 0, n)
	for i := 0; i < len(values); i += group {
		top := 0.0
		for _, v := range values[i:min(i+group, len(values))] {
			top = max(top, v)
		}
		out = append(out, top)
	}
	return out
}

func drawTransition(in widget.Area, y int, last []wire.Event) {
	if len(last) == 0 {
		in.TextCut(0, y, in.W, "no transition so far", theme.Of(theme.Dim))
		return
	}
	e := last[len(last)-1]
	from, to := looks[e.From&3], looks[e.To&3]
	text := fmt.Sprintf("c%04d %s→", e.ID.Client, from.name)
	at := " " + widget.Moment(e.At)
	x := 0
	if in.W >= 5+widget.Width(text+to.name+at) {
		x = in.Text(0, y, "last ", theme.Of(theme.Dim))
	}
	x = in.Text(x, y, text, theme.Of(theme.Plain))
	x = in.Text(x, y, to.name, theme.Of(to.role).Strong())
	in.Text(x, y, at, theme.Of(theme.Dim))
}
