package page

import (
	"fmt"

	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// classLooks is how each class is shown.
var classLooks = [wire.NumClasses]look{
	wire.Critical:    {"critical", '▲', theme.Critical},
	wire.Interactive: {"interactive", '●', theme.Interactive},
	wire.Background:  {"background", '▽', theme.Background},
}

// drawQueues draws who waits, class by class.
func drawQueues(a widget.Area, v View) {
	if v.Status.Foreign {
		drawNotOurs(a, "Queues")
		return
	}
	in := widget.Panel(a, "Queues", "waiting · oldest")
	var top int64 = 1
	for _, q := range v.Snap.Queues {
		top = max(top, q.Waiting)
	}
	top = int64(widget.RoundUp(float64(top)))
	for c := range v.Snap.Queues {
		drawQueue(in, c, wire.Class(c), v.Snap.Queues[c], top)
	}
	if in.H > wire.NumClasses {
		drawSlots(in, in.H-1, v)
	}
}

func drawQueue(in widget.Area, y int, c wire.Class, q metrics.QueueView, top int64) {
	l := classLooks[c]
	in.Set(0, y, l.letter, theme.Of(l.role))
	in.Text(2, y, l.name, theme.Of(theme.Plain))
	starved := ""
	if q.Starving {
		starved = " STARVED"
	}
	tail := 16 + 8
	bar := in.Sub(14, y, in.W-14-tail, 1)
	if bar.W < 3 {
		tail = 17
		bar = in.Sub(14, y, in.W-14-tail, 1)
		if starved != "" {
			starved = "!"
		}
	}
	widget.Bar(bar, float64(q.Waiting)/float64(top), theme.Of(l.role))
	x := 14 + max(bar.W, 0)
	in.TextRight(x+7, y, widget.Count(q.Waiting), theme.Of(theme.Plain).Strong())
	in.TextRight(x+16, y, oldest(q), theme.Of(theme.Plain))
	in.Text(x+16, y, starved, theme.Of(theme.Bad).Strong())
}

func oldest(q metrics.QueueView) string {
	if q.Waiting == 0 {
		return widget.None
	}
	return widget.Span(q.Oldest)
}

// drawSlots says how many slots there are to wait for.
func drawSlots(in widget.Area, y int, v View) {
	texts := []string{
		"slots per client and scope: unlimited, so nothing waits",
		"slots: unlimited, so nothing waits", "slots: unlimited",
	}
	wait := widget.Count(v.Snap.Waiting) + " wait"
	if v.Scenario.Fleet.Policy.Transport.Conns > 0 {
		wait += ", " + widget.Count(v.Snap.Sockets.Waiting) + " for a connection"
	}
	if n := v.Snap.Paused; n > 0 {
		texts = []string{
			fmt.Sprintf("PAUSED by a limit of 0: %s scopes of clients · %s", widget.Count(n), wait),
			"PAUSED by a limit of 0 · " + wait, "PAUSED · " + wait,
		}
	} else if kind := v.Scenario.Fleet.Policy.Limiter.Kind; kind != 0 { // not fixed
		mean := "not moved yet"
		if v.Snap.Limits.Moved > 0 {
			mean = fmt.Sprintf("%.1f on average", v.Snap.Limits.Mean)
		}
		texts = []string{
			fmt.Sprintf("slots per client and scope by %v: %s · %s", kind, mean, wait),
			fmt.Sprintf("slots by %v: %s", kind, mean), "slots: " + mean,
		}
	} else if n := v.Scenario.Fleet.Policy.Queue.Limit; n > 0 {
		texts = []string{
			fmt.Sprintf("slots per client and scope: %d · %s", n, wait), fmt.Sprintf("slots: %d · %s", n, wait),
			fmt.Sprintf("slots: %d", n),
		}
	}
	drawLongest(in.Sub(0, y, in.W, 1), theme.Dim, texts...)
}
