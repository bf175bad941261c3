package page

import (
	"time"

	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// percentilesWidth is the width of the panel of percentiles with all columns.
const percentilesWidth = 76

// percentileColumn is one column of the percentiles. least is how many values it
// takes for the number to mean something.
type percentileColumn struct {
	name  string
	least int64
	of    func(metrics.Percentiles) time.Duration
}

var percentileColumns = []percentileColumn{
	{"p50", 1, func(p metrics.Percentiles) time.Duration { return p.P50 }},
	{"p90", 10, func(p metrics.Percentiles) time.Duration { return p.P90 }},
	{"p99", 100, func(p metrics.Percentiles) time.Duration { return p.P99 }},
	{"max", 1, func(p metrics.Percentiles) time.Duration { return p.Max }},
}

// fewColumns are those that stay where room is scarce.
var fewColumns = []percentileColumn{percentileColumns[0], percentileColumns[2], percentileColumns[3]}

// columnWidth is the width of a number in a table.
const columnWidth = 9

// drawPercentiles draws two lines for each class: what a person waits, from the
// intended start, and what a client measures that looks at its last send only.
func drawPercentiles(a widget.Area, v View) {
	const name = 14
	from := [...]string{"from start", "from send"}
	columns := percentileColumns
	if a.W < percentilesWidth {
		columns = fewColumns
	}
	at := a.W - panelFrame - 7 - len(columns)*columnWidth
	labelled := at >= name+len(from[0])
	title := "Latency by class"
	if !labelled {
		title = "Latency from start"
	}
	in := widget.Panel(a, title, "last 10 s · n successes")
	head := func(x int, text string) { in.TextRight(x, 0, text, theme.Of(theme.Dim)) }
	for i, c := range columns {
		head(at+(i+1)*columnWidth, c.name)
	}
	head(in.W, "n")
	for i, c := range shownClasses(v) {
		y := 1 + 2*i
		drawClass(in, y, c)
		l := classLatency(v, c)
		for k, p := range []metrics.Percentiles{l.Intended, l.Sent} {
			if labelled {
				in.Text(name, y+k, from[k], theme.Of(theme.Dim))
			} else if k == 1 {
				in.Text(2, y+k, from[k], theme.Of(theme.Dim))
			}
			for n, column := range columns {
				in.TextRight(at+(n+1)*columnWidth, y+k, column.text(p), theme.Of(theme.Plain).Strong())
			}
		}
		in.TextRight(in.W, y, widget.Count(l.Intended.Count), theme.Of(theme.Dim))
	}
}

// text is the column's number, or why there is none.
func (c percentileColumn) text(p metrics.Percentiles) string {
	switch {
	case p.Count == 0:
		return widget.None
	case p.Count < c.least:
		return "n<" + widget.Count(c.least)
	}
	return widget.Span(c.of(p))
}

// drawClass writes a class's mark and name.
func drawClass(in widget.Area, y int, c wire.Class) {
	l := classLooks[c]
	in.Set(0, y, l.letter, theme.Of(l.role))
	in.Text(2, y, l.name, theme.Of(theme.Plain))
}

// classLatency is what is known of a class's latency.
func classLatency(v View, c wire.Class) metrics.ClassLatency {
	if v.Snap.Latency == nil {
		return metrics.ClassLatency{}
	}
	return v.Snap.Latency.Classes[c]
}
