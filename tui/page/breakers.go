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

	wire.ForcedOpen:  {"forced open", 'F', theme.Bad},
	wire.Disabled:    {"disabled", 'd', theme.Limited},
	wire.MetricsOnly: {"metrics only", 'm', theme.Limited},
}

// lookOf is how a state is shown, whatever an event says it is.
func lookOf(s wire.BreakerState) look { return looks[int(s)%len(looks)] }

// stateOrder is the order in which states are listed.
var stateOrder = [...]wire.BreakerState{
	wire.Closed, wire.Open, wire.Eligible, wire.HalfOpen,
	wire.ForcedOpen, wire.Disabled, wire.MetricsOnly,
}

// listed is the states to list: those that a setting imposes only while a
// breaker is in one of them.
func listed(b metrics.BreakerView) []wire.BreakerState {
	if b.Counts[wire.ForcedOpen]+b.Counts[wire.Disabled]+b.Counts[wire.MetricsOnly] == 0 {
		return stateOrder[:wire.ForcedOpen]
	}
	return stateOrder[:]
}

// drawBreakers draws how many breakers are in which state, the share that is
// not closed over time, and the last transition.
func drawBreakers(a widget.Area, v View) {
	if v.Status.Foreign {
		drawNotOurs(a, "Breakers")
		return
	}
	b := v.Snap.Breakers
	if !b.On {
		in := widget.Panel(a, "Breakers", "off")
		for y, line := range widget.Wrap("none: every attempt is sent", in.W) {
			in.Text(0, y, line, theme.Of(theme.Dim))
		}
		return
	}
	in := widget.Panel(a, "Breakers", breakersTitle(b))
	y := drawStates(in, b)
	last, spark := in.H-1, in.H-1-y
	if spark > 0 {
		drawOpenShare(in.Sub(0, y, in.W, spark), v.Snap)
	}
	if last >= y {
		drawTransition(in, last, b.Last, v)
	}
}

// breakersTitle says how many breakers there are, and whose they are if not of each
// client.
func breakersTitle(b metrics.BreakerView) string {
	if b.Shared {
		return "shared: " + widget.Count(b.Total)
	}
	return "total " + widget.Count(b.Total)
}

// drawStates lists the states in rows and returns the row below.
func drawStates(in widget.Area, b metrics.BreakerView) int {
	perRow := 4
	if in.W < 52 {
		perRow = 2
	}
	width := in.W / perRow
	states := listed(b)
	for i, s := range states {
		l := looks[s]
		x, y := i%perRow*width, i/perRow
		end := in.Text(x, y, string(l.letter)+" ", theme.Of(l.role).Strong())
		end = in.Text(end, y, l.name, theme.Of(theme.Dim))
		n := widget.Count(b.Counts[s])
		in.TextRight(max(x+width-2, end+1+widget.Width(n)), y, n, theme.Of(l.role).Strong())
	}
	return (len(states) + perRow - 1) / perRow
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
			shut := b.States[wire.Open] + b.States[wire.Eligible] + b.States[wire.ForcedOpen]
			share = float64(shut) / float64(all)
		}
		values = append(values, share)
	}
	chart, label := a.Cols(a.W - 12)
	first := int64(0)
	if len(s.Bins) > 0 && s.BinWidth > 0 {
		first = s.Bins[0].Start.Bin(s.BinWidth)
	}
	widget.Spark(chart, squeeze(values, first, chart.W), 1, theme.Of(theme.Bad))
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

// squeeze reduces values to about n of them, each the largest of its group. The
// groups are those of the values' numbers, which begin at first, so that nothing
// in them changes as values come and go at the ends.
func squeeze(values []float64, first int64, n int) []float64 {
	if n <= 0 || len(values) <= n {
		return values
	}
	group := int64((len(values) + n - 1) / n)
	out := make([]float64, 0, n+1)
	for i, v := range values {
		if number := first + int64(i); i == 0 || number%group == 0 {
			out = append(out, v)
			continue
		}
		last := len(out) - 1
		out[last] = max(out[last], v)
	}
	return out
}

// metLook is how it is shown that a rule was met which only counts and so changes
// nothing; nil for a change.
func metLook(from, to wire.BreakerState) *look {
	if from != wire.MetricsOnly || to != wire.MetricsOnly {
		return nil
	}
	met := lookOf(to)
	met.name = "would open"
	return &met
}

func drawTransition(in widget.Area, y int, last []wire.Event, v View) {
	if len(last) == 0 {
		in.TextCut(0, y, in.W, "no transition so far", theme.Of(theme.Dim))
		return
	}
	e := last[len(last)-1]
	from, to := lookOf(e.From), lookOf(e.To)
	text := fmt.Sprintf("%s %s→", breakerName(e.ID.Client, e.Scope, e.Shared, v), from.name)
	if met := metLook(e.From, e.To); met != nil {
		text, to = breakerName(e.ID.Client, e.Scope, e.Shared, v)+" ", *met
	}
	at := " " + widget.Moment(e.At)
	x := 0
	if in.W >= 5+widget.Width(text+to.name+at) {
		x = in.Text(0, y, "last ", theme.Of(theme.Dim))
	}
	x = in.Text(x, y, text, theme.Of(theme.Plain))
	x = in.Text(x, y, to.name, theme.Of(to.role).Strong())
	if x+widget.Width(at) <= in.W {
		in.Text(x, y, at, theme.Of(theme.Dim))
	}
}
