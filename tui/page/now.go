package page

import (
	"strconv"
	"strings"
	"time"

	"herdscope/engine/metrics"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// nowHeight is the height of the panel of headline numbers.
const nowHeight = 12

// headline is one line of the panel of headline numbers. short is its name
// where room is scarce.
type headline struct {
	name, short string
	role        func(metrics.Headline) theme.Role
	text        func(metrics.Headline) string
}

// The headline numbers.
var (
	offeredLine = headline{"offered", "offered", always(theme.Plain),
		func(h metrics.Headline) string { return widget.Rate(h.Offered) }}
	sentLine = headline{"sent", "sent", always(theme.Plain),
		func(h metrics.Headline) string { return widget.Rate(h.Sent) }}
	goodputLine = headline{"goodput", "goodput", goodputRole,
		func(h metrics.Headline) string { return widget.Rate(h.Goodput) }}
	amplificationLine = headline{"amplification", "amplif.", amplificationRole, amplification}
	peakLine          = headline{"peak/mean 0.1 s", "peak/mean", always(theme.Plain), peakToMean}
	chanceLine        = headline{"  by chance", " chance", always(theme.Dim), chance}
	p50Line           = headline{"latency p50", "p50", always(theme.Plain), p50}
	p99Line           = headline{"latency p99", "p99", always(theme.Plain), p99}

	headlines = []headline{
		offeredLine, sentLine, goodputLine, amplificationLine, peakLine, chanceLine, p50Line, p99Line,
	}
)

func always(r theme.Role) func(metrics.Headline) theme.Role {
	return func(metrics.Headline) theme.Role { return r }
}

// goodputRole is that of failure if nothing of what is asked for succeeds.
func goodputRole(h metrics.Headline) theme.Role {
	if h.Goodput <= 0 && h.Offered > 0 {
		return theme.Bad
	}
	return theme.Good
}

// amplificationRole is that of retries if they are more than one in five.
func amplificationRole(h metrics.Headline) theme.Role {
	if h.Amplification > 1.2 {
		return theme.Retry
	}
	return theme.Plain
}

// drawNow draws the headline numbers, and beside them what they were before the
// last change.
func drawNow(a widget.Area, v View) {
	in := headlinePanel(a, "Now", v)
	drawHeadlines(in, headlines, v)
	if v.Status.Foreign {
		drawReturns(in, len(headlines), v)
		drawForeignWay(in, len(headlines)+1, v)
		return
	}
	drawRecovery(in, len(headlines), v)
	drawUnderWay(in, len(headlines)+1, v)
}

// headlinePanel draws the frame of a panel of headlines. Its title says which
// time they are of.
func headlinePanel(a widget.Area, title string, v View) widget.Area {
	if v.Snap.Window > 0 {
		title += " (last " + strconv.Itoa(int(v.Snap.Window.Round(time.Second).Seconds())) + " s)"
	}
	note := ""
	if v.Snap.Changed {
		note = "was"
	}
	return widget.Panel(a, title, note)
}

// wasWidth is the room for what a number was: the word, where there is room for
// it, and the number.
func wasWidth(w int) int {
	if w >= 36 {
		return 14
	}
	return 9
}

func drawHeadlines(in widget.Area, lines []headline, v View) {
	s := v.Snap
	for y, h := range lines {
		h = h.named(v)
		name, value := h.name, in.W
		if s.Changed {
			value -= wasWidth(in.W)
			in.TextRight(in.W, y, h.text(s.Was), theme.Of(theme.Dim))
			if in.W >= 36 {
				in.Text(value+2, y, "was", theme.Of(theme.Dim))
			} else {
				name = h.short
			}
		}
		in.Text(0, y, name, theme.Of(theme.Dim))
		in.TextRight(value, y, h.text(s.Now), theme.Of(h.role(s.Now)).Strong())
	}
}

// drawRecovery says how the last fault was overcome, if it is over.
func drawRecovery(in widget.Area, y int, v View) {
	r := v.Snap.Recovery
	on := faultOn(v.Snap.Faults)
	if r.Known && on == "" {
		in.Text(0, y, "recovered after", theme.Of(theme.Dim))
		in.TextRight(in.W, y, widget.Span(r.Took), theme.Of(theme.Good).Strong())
		return
	}
	why := orNone(r.Why)
	if on != "" {
		why = on + " is on"
	}
	if widget.Width("recovery "+why) <= in.W {
		in.Text(0, y, "recovery", theme.Of(theme.Dim))
	}
	if widget.Width(why) > in.W {
		why = strings.Replace(why, " after ", ", ", 1)
	}
	in.TextRight(in.W, y, widget.Cut(why, in.W), theme.Of(theme.Dim))
}

// faultOn is the name of the fault that is on, the first if there are more;
// empty if there is none.
func faultOn(faults []metrics.FaultView) string {
	for _, f := range faults {
		if f.On {
			return f.Name
		}
	}
	return ""
}

// drawUnderWay says where the requests are that have not ended.
func drawUnderWay(in widget.Area, y int, v View) {
	s := v.Snap
	sent, asleep := widget.Count(s.InFlight), widget.Count(s.Sleeping)
	if n := s.Sockets.Waiting; n > 0 {
		held := widget.Count(n)
		drawLongest(in.Sub(0, y, in.W, 1), theme.Plain,
			sent+" in flight, "+held+" await a connection"+tied(s)+", "+asleep+" in backoff",
			sent+" in flight, "+held+" await a connection, "+asleep+" in backoff",
			sent+" sent, "+held+" unconnected, "+asleep+" back off",
			sent+" sent, "+held+" wait, "+asleep+" off")
		return
	}
	drawLongest(in.Sub(0, y, in.W, 1), theme.Plain,
		sent+" in flight"+tied(s)+", "+asleep+" in backoff",
		sent+" sent"+tied(s)+", "+asleep+" back off",
		sent+" in flight, "+asleep+" in backoff", sent+" sent, "+asleep+" back off")
}

// tied says how many requests share the flight of another, and how many wait for those
// nested in them; nothing if none do.
func tied(s *metrics.Snapshot) (text string) {
	if s.Sharing > 0 {
		text += ", " + widget.Count(s.Sharing) + " share one"
	}
	if s.Nesting > 0 {
		text += ", " + widget.Count(s.Nesting) + " await nested"
	}
	return text
}

func orNone(text string) string {
	if text == "" {
		return widget.None
	}
	return text
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
	switch {
	case h.Count == 0:
		return widget.None
	case h.Count < 100:
		return "n<100"
	}
	return widget.Span(h.P99)
}
