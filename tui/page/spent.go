package page

import (
	"strconv"
	"strings"
	"time"

	"herdscope/engine/metrics"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// partLooks is how each part of a request's time is drawn.
var partLooks = [metrics.NumParts]look{
	metrics.PartLate:    {"late start", '!', theme.Bad},
	metrics.PartQueue:   {"queue", '░', theme.Limited},
	metrics.PartSocket:  {"connection", '≈', theme.Limited},
	metrics.PartToken:   {"token", '~', theme.Half},
	metrics.PartBackoff: {"backoff", '─', theme.Retry},
	metrics.PartWire:    {"attempts", '█', theme.First},
	metrics.PartShared:  {"shared", '=', theme.Limited},
	metrics.PartNested:  {"nested", '+', theme.Half},
}

// spentLegend names the parts that some bars have: those which always can occur,
// and the others where they do.
func spentLegend(all ...metrics.Spent) []widget.SpanOf {
	var parts []widget.SpanOf
	for p, l := range partLooks {
		var used bool
		switch metrics.Part(p) {
		case metrics.PartQueue, metrics.PartBackoff, metrics.PartWire:
			used = true
		}
		for _, s := range all {
			used = used || s[p] > 0
		}
		if used {
			parts = append(parts, widget.S(string(l.letter), l.role), widget.S(" "+l.name+"  ", theme.Dim))
		}
	}
	return parts
}

// drawSpent draws a bar for each class: what the time of a request goes to on
// average.
func drawSpent(a widget.Area, v View) {
	if v.Status.Foreign {
		drawNotOurs(a, "Where the time goes")
		return
	}
	title := "Where the time goes"
	in := widget.Panel(a, title, "")
	if from := widget.Width(title) + 4; !widget.PanelNote(a, from,
		widget.S("mean of requests that ended, last 10 s", theme.Dim)) {
		widget.PanelNote(a, from, widget.S("mean, last 10 s", theme.Dim))
	}
	var longest time.Duration
	var all []metrics.Spent
	for _, c := range shownClasses(v) {
		l := classLatency(v, c)
		mean := meanSpent(l.Spent, l.Ended)
		longest = max(longest, mean.Sum())
		all = append(all, mean)
	}
	for i, c := range shownClasses(v) {
		row := in.Sub(0, 2*i, in.W, 2)
		drawClass(row, 0, c)
		l := classLatency(v, c)
		drawBar(row.Sub(14, 0, row.W-14, 1), all[i], longest, l.Ended)
		drawShares(row.Sub(2, 1, row.W-2, 1), all[i], l)
	}
	widget.Spans(in, 0, in.H-1, spentLegend(all...)...)
}

// drawShares says of a class in words how its time is shared, and what is still
// under way.
func drawShares(a widget.Area, mean metrics.Spent, l metrics.ClassLatency) {
	open := "none under way"
	if l.Open > 0 {
		open = widget.Count(l.Open) + " under way, oldest " + widget.Span(l.Oldest)
	}
	sum := mean.Sum()
	if l.Ended == 0 || sum == 0 {
		a.TextCut(0, 0, a.W, open, theme.Of(theme.Dim))
		return
	}
	short := ""
	for p, d := range mean {
		if d > 0 {
			short += partLooks[p].name + " " + widget.Percent(float64(d)/float64(sum)) + " · "
		}
	}
	count, _, _ := strings.Cut(open, ", oldest")
	drawLongest(a, theme.Dim, short+open, short+count, open)
}

// meanSpent is a sum of times over n; nothing if n is 0.
func meanSpent(sum metrics.Spent, n int64) (mean metrics.Spent) {
	for p, d := range sum {
		if n > 0 {
			mean[p] = d / time.Duration(n)
		}
	}
	return mean
}

// drawBar draws the parts of a time on a scale up to longest, and their sum.
func drawBar(a widget.Area, mean metrics.Spent, longest time.Duration, n int64) {
	text := widget.None
	if n > 0 {
		text = widget.Span(mean.Sum())
	}
	bar, sum := a.Cols(a.W - columnWidth)
	var parts []widget.Segment
	for p, d := range mean {
		if longest > 0 {
			l := partLooks[p]
			parts = append(parts, widget.Segment{
				Share: float64(d) / float64(longest), Glyph: l.letter, Style: theme.Of(l.role),
			})
		}
	}
	widget.Segments(bar, parts)
	sum.TextRight(sum.W, 0, text, theme.Of(theme.Plain).Strong())
}

// drawPages draws how long whole pages take, and which step of the chain that
// time goes to.
func drawPages(a widget.Area, v View) {
	in := widget.Panel(a, "Whole pages", "since the start")
	chain := v.Scenario.Fleet.Arrival.Chain
	if v.Snap.Latency == nil || !paged(v) {
		text := "no page was had whole so far"
		if chain <= 1 && v.Scenario.Fleet.Arrival.Patience == 0 {
			text = "none: each arrival is one request; arrival.chain makes pages of more"
		}
		for y, line := range widget.Wrap(text, in.W) {
			in.Text(0, y, line, theme.Of(theme.Dim))
		}
		return
	}
	p := v.Snap.Latency.Pages
	drawPageTimes(in.Sub(0, 0, in.W, 1), p)
	var means []metrics.Spent
	slowest := 0
	var longest time.Duration
	for i, s := range p.Steps {
		mean := meanSpent(s.Spent, s.Pages)
		means = append(means, mean)
		if mean.Sum() > longest {
			slowest, longest = i, mean.Sum()
		}
	}
	for i, mean := range means {
		drawStep(in.Sub(0, 1+i, in.W, 1), i, mean, longest, i == slowest && len(means) > 1)
	}
	if y := 1 + len(means); y < in.H {
		widget.Spans(in, 0, in.H-1, spentLegend(means...)...)
	}
}

// drawPageTimes writes the percentiles of whole pages.
func drawPageTimes(a widget.Area, p metrics.PageView) {
	columns := fewColumns
	text := "p50 " + columns[0].text(p.Times) + "  p99 " + columns[1].text(p.Times)
	counts := widget.Count(p.Times.Count) + " whole, " + widget.Count(p.Failed) + " failed"
	drawLongest(a, theme.Plain,
		text+"  max "+columns[2].text(p.Times)+" · "+counts, text+" · "+counts, text)
}

// drawStep draws one step of the chain. The one that takes longest is marked: to
// shorten another gains less.
func drawStep(a widget.Area, i int, mean metrics.Spent, longest time.Duration, slowest bool) {
	arrow := "→"
	if i == 0 {
		arrow = " "
	}
	style := theme.Of(theme.Plain)
	mark := "       "
	if slowest {
		style, mark = style.Strong(), "longest"
	}
	x := a.Text(0, 0, arrow+" "+string(rune('A'+i))+" "+strconv.Itoa(i+1)+". ", style)
	x = a.Text(x, 0, mark, theme.Of(theme.Retry))
	drawBar(a.Sub(x+1, 0, a.W-x-1, 1), mean, longest, 1)
}
