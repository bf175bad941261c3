package page

import (
	"time"

	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// queueFacts is what is known of the queues of one class.
type queueFacts struct {
	metrics.QueueView
	metrics.LineClass
	window time.Duration
	// asked and started are the sums over all classes.
	asked, started int64
}

// waitLine is one line of the table of waits.
type waitLine struct {
	name string
	role theme.Role
	text func(queueFacts) string
}

// waitLines are the lines of the table, the most needed first.
var waitLines = []waitLine{
	{"waiting now", theme.Plain, func(q queueFacts) string { return widget.Count(q.Waiting) }},
	{"oldest now", theme.Plain, func(q queueFacts) string { return oldest(q.QueueView) }},
	{"wait p50", theme.Plain, func(q queueFacts) string { return waited(q.P50, q.Count, 1) }},
	{"wait p99", theme.Plain, func(q queueFacts) string { return waited(q.P99, q.Count, 100) }},
	{"wait max", theme.Plain, func(q queueFacts) string { return waited(q.Max, q.Count, 1) }},
	{"starved", theme.Plain, starvedText},
	{"EWMA of sent", theme.Dim, func(q queueFacts) string { return waited(q.EWMA, q.Count-q.Waiting, 1) }},
	{"starts/s", theme.Plain, func(q queueFacts) string {
		if q.window <= 0 {
			return widget.None
		}
		return widget.Rate(float64(q.Started) / q.window.Seconds())
	}},
	{"asked share", theme.Plain, func(q queueFacts) string { return portion(q.Asked, q.asked) }},
	{"served share", theme.Plain, func(q queueFacts) string { return portion(q.Started, q.started) }},
	{"overtaken", theme.Plain, func(q queueFacts) string { return often(q.Overtaken) }},
	{"longest gap", theme.Plain, func(q queueFacts) string { return waited(q.ServiceGap, q.Count, 1) }},
	{"kept back", theme.Plain, func(q queueFacts) string { return often(q.KeptBack) }},
}

func starvedText(q queueFacts) string {
	if q.Starving {
		return "NOW " + often(q.Starved)
	}
	return often(q.Starved)
}

// often is how many times something happened.
func often(n int64) string { return widget.Count(n) + "×" }

// waited is a time, or why there is none: too few waits.
func waited(d time.Duration, n, least int64) string {
	switch {
	case n <= 0:
		return widget.None
	case n < least:
		return "n<" + widget.Count(least)
	}
	return widget.Span(d)
}

// portion is a part of a whole; none if there is no whole.
func portion(part, whole int64) string {
	if whole == 0 {
		return widget.None
	}
	return widget.Percent(float64(part) / float64(whole))
}

// waitsName is the width of the names of the lines.
const waitsName = 13

// drawWaits draws the numbers of each class in a column.
func drawWaits(a widget.Area, v View) {
	in := widget.Panel(a, "Waits", "those still waiting count")
	if v.Snap.Lines == nil {
		in.TextCut(0, 0, in.W, "not looked at yet", theme.Of(theme.Dim))
		return
	}
	classes := shownClasses(v)
	width := min((in.W-waitsName)/max(len(classes), 1), 16)
	facts := factsOf(v)
	for i, c := range classes {
		l := classLooks[c]
		x := waitsName + (i+1)*width
		name := widget.Cut(l.name, width-3)
		in.TextRight(x, 0, name, theme.Of(theme.Plain))
		in.Set(x-widget.Width(name)-2, 0, l.letter, theme.Of(l.role))
		for y, line := range waitLines {
			style := theme.Of(line.role)
			if line.role == theme.Plain {
				style = style.Strong()
			}
			if facts[c].Starving && line.name == "starved" {
				style = theme.Of(theme.Bad).Strong()
			}
			in.TextRight(x, y+1, line.text(facts[c]), style)
		}
	}
	for y, line := range waitLines {
		in.Text(0, y+1, line.name, theme.Of(theme.Dim))
	}
}

func factsOf(v View) (facts [wire.NumClasses]queueFacts) {
	var asked, started int64
	for c := range facts {
		facts[c] = queueFacts{QueueView: v.Snap.Queues[c], LineClass: v.Snap.Lines.Classes[c], window: v.Snap.Window}
		asked += facts[c].Asked
		started += facts[c].Started
	}
	for c := range facts {
		facts[c].asked, facts[c].started = asked, started
	}
	return facts
}

// drawJumps draws who went before whom, class by class.
func drawJumps(a widget.Area, v View) {
	title := "Starts before an older one"
	in := widget.Panel(a, title, "since the start")
	if v.Snap.Lines == nil {
		return
	}
	classes := shownClasses(v)
	const name = 13
	width := min((in.W-name)/max(len(classes), 1), 13)
	in.TextCut(0, 0, name, "went ↓ wait →", theme.Of(theme.Dim))
	for k, c := range classes {
		l := classLooks[c]
		in.Set(name+(k+1)*width-1, 0, l.letter, theme.Of(l.role))
	}
	for i, from := range classes {
		drawClass(in, 1+i, from)
		for k, to := range classes {
			n := v.Snap.Lines.Jumped[from][to]
			style := theme.Of(theme.Plain).Strong()
			if n == 0 {
				style = theme.Of(theme.Dim)
			}
			in.TextRight(name+(k+1)*width, 1+i, widget.Count(n), style)
		}
	}
}

// waitWords says what each reason to wait means.
var waitWords = [wire.NumWaits]string{
	wire.WaitSlot: "no slot", wire.WaitPaused: "scope paused", wire.WaitMost: "class at most", wire.WaitKept: "slots kept",
	wire.WaitProtected: "protection", wire.WaitBreaker: "breaker open", wire.WaitTurn: "its turn",
}

// drawHeads draws of how many queues the head waits for what.
func drawHeads(a widget.Area, v View) {
	in := widget.Panel(a, "Why the heads wait", "queues now")
	if v.Snap.Lines == nil {
		return
	}
	classes := shownClasses(v)
	const name = 13
	width := min((in.W-name)/max(len(classes), 1), 13)
	for k, c := range classes {
		l := classLooks[c]
		in.Set(name+(k+1)*width-1, 0, l.letter, theme.Of(l.role))
	}
	y := 1
	for w := wire.WaitSlot; int(w) < wire.NumWaits; w++ {
		var sum int64
		for _, c := range classes {
			sum += v.Snap.Lines.Heads[c][w]
		}
		if w == wire.WaitTurn && sum == 0 {
			continue
		}
		in.Text(0, y, waitWords[w], theme.Of(theme.Dim))
		for k, c := range classes {
			n := v.Snap.Lines.Heads[c][w]
			style := theme.Of(theme.Plain).Strong()
			if n == 0 {
				style = theme.Of(theme.Dim)
			}
			in.TextRight(name+(k+1)*width, y, widget.Count(n), style)
		}
		y++
	}
	drawLongest(in.Sub(0, y, in.W, 1), theme.Dim,
		"budget: nobody waits; "+widget.Count(v.Snap.Denied)+" retries denied",
		"budget denied "+widget.Count(v.Snap.Denied))
}
