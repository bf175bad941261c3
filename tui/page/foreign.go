package page

import (
	"fmt"
	"strings"

	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// notOurs is what panels say of what only the clients know, in fewer and fewer
// words.
var notOurs = []string{
	"foreign clients: not visible from the server", "foreign: not visible from here", "not visible",
}

// drawNotOurs draws a panel about the clients of a run whose clients are not
// ours: a sentence instead of zeros.
func drawNotOurs(a widget.Area, title string) {
	in := widget.Panel(a, title, "")
	lines := widget.Wrap(notOurs[0], in.W)
	if len(lines) > in.H {
		drawLongest(in, theme.Dim, notOurs...)
		return
	}
	for y, line := range lines {
		in.Text(0, y, line, theme.Of(theme.Dim))
	}
}

// drawForeignPage draws a page that is all about the clients.
func drawForeignPage(a widget.Area, title string, alone bool, v View) {
	if alone {
		drawNotOurs(a, title)
		return
	}
	main, side := a.Cols(a.W - sideWidth(a.W))
	drawNotOurs(main, title)
	drawTune(side, v)
}

// retryWord is what a second try is called: nobody tells a server which attempts
// of foreign clients are one.
func retryWord(v View) string {
	if v.Status.Foreign {
		return "likely retries"
	}
	return "retries"
}

// foreignNames is what the headline numbers are called where only the server is
// ours: a request begins as its first try arrives.
var foreignNames = map[string][2]string{
	"offered":     {"first tries", "first"},
	"sent":        {"arrivals", "arrivals"},
	"goodput":     {"answered well", "well"},
	"latency p50": {"until served p50", "p50"},
	"latency p99": {"until served p99", "p99"},
}

// named is the line under the name that it has in a run.
func (h headline) named(v View) headline {
	if names, ok := foreignNames[h.name]; ok && v.Status.Foreign {
		h.name, h.short = names[0], names[1]
	}
	return h
}

// drawReturns says how well foreign clients obey the Retry-After fields that they
// were sent away with.
func drawReturns(in widget.Area, y int, v View) {
	s := v.Snap.Server
	row := in.Sub(0, y, in.W, 1)
	if s.Early+s.OnTime+s.Late == 0 {
		drawLongest(row, theme.Dim, "Retry-After: nobody has come back yet", "Retry-After: no returns")
		return
	}
	role := theme.Good
	if s.Early > 0 {
		role = theme.Bad
	}
	early, onTime, late := widget.Count(s.Early), widget.Count(s.OnTime), widget.Count(s.Late)
	drawLongest(row, role,
		fmt.Sprintf("Retry-After: %s early, %s on time, %s late", early, onTime, late),
		fmt.Sprintf("came back %s early, %s late", early, late),
		fmt.Sprintf("%s early, %s late", early, late))
}

// drawForeignWay says where the requests of foreign clients are that have not
// ended.
func drawForeignWay(in widget.Area, y int, v View) {
	here, away := widget.Count(v.Snap.InFlight), widget.Count(v.Snap.Sleeping)
	drawLongest(in.Sub(0, y, in.W, 1), theme.Plain,
		here+" at the server, "+away+" may come back", here+" here, "+away+" may return")
}

// foreignKnobs is those of the settings that are the server's.
func foreignKnobs(ks []Knob) []Knob {
	kept := ks[:0]
	for _, k := range ks {
		if strings.HasPrefix(k.Name, "server.") {
			kept = append(kept, k)
		}
	}
	return kept
}
