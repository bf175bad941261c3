package page

import (
	"strconv"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/tui/keymap"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// Breakers is the page that says what state each breaker is in, since when, and
// why.
type Breakers struct {
	zoom
	filter metrics.BreakerFilter
	// skip is how many of the worst are left out, shown how many lanes there is
	// room for.
	skip, shown int
}

// Title is the page's name.
func (*Breakers) Title() string { return "Breakers" }

// Keys are the keys that matter here.
func (*Breakers) Keys() []keymap.Command { return []keymap.Command{keymap.Filter} }

// Filter shows the next selection of breakers, and says which.
func (p *Breakers) Filter() (string, bool) {
	p.filter = (p.filter + 1) % metrics.BreakerFilter(metrics.NumBreakerFilters)
	p.skip = 0
	return "breakers: " + p.filter.String(), true
}

// Turn shows the breakers after those that are shown, or before them.
func (p *Breakers) Turn(by int) bool {
	p.skip = max(p.skip+by*p.shown, 0)
	return true
}

// breakerPanels are the panels, in the order in which one alone is shown.
var breakerPanels = []func(*Breakers, widget.Area, View){
	(*Breakers).drawLanes, of(drawFleetShare), of(drawFlips), of(drawLatencyNow), of(drawTune),
}

// of makes a panel of the page one that needs nothing of it.
func of(draw panel) func(*Breakers, widget.Area, View) {
	return func(_ *Breakers, a widget.Area, v View) { draw(a, v) }
}

// NextPanel shows the next panel alone.
func (p *Breakers) NextPanel() { p.next(len(breakerPanels)) }

// Watch asks for as many lanes as there is room for.
func (p *Breakers) Watch(w, h int, v View) metrics.Watch {
	rows := h
	if !p.Alone(w, h) {
		l := breakerLayout(w, h)
		w, rows = w-l.side, l.lanes
	}
	l := laneLayout(w-panelFrame, v)
	axis := laneAxis(l, v)
	p.shown = max(rows-2-laneChrome, 1)
	if v.Snap.Lanes != nil { // the last of them stay on the screen
		p.skip = min(p.skip, max(int(v.Snap.Lanes.Matching)-p.shown, 0))
	}
	return metrics.Watch{
		Span:        axis.Past(),
		BreakerRows: p.shown, BreakerSkip: p.skip, BreakerCols: int(axis.Past() / axis.Width),
		BreakerFilter: p.filter, Flips: 64,
	}
}

// Draw draws the lanes, the share of all breakers in each state, and the log.
// The panels leave in this order as the screen gets smaller: log, share.
func (p *Breakers) Draw(a widget.Area, v View) {
	if v.Status.Foreign {
		drawForeignPage(a, p.Title(), p.Alone(a.W, a.H), v)
		return
	}
	if p.Alone(a.W, a.H) {
		breakerPanels[p.panel()](p, a, v)
		return
	}
	l := breakerLayout(a.W, a.H)
	main, side := a.Cols(a.W - l.side)
	now, tune := side.Rows(len(latencyLines) + 2)
	drawLatencyNow(now, v)
	drawTune(tune, v)
	lanes, rest := main.Rows(l.lanes)
	p.drawLanes(lanes, v)
	if l.wide {
		share, log := rest.Cols(rest.W / 2)
		drawFleetShare(share, v)
		drawFlips(log, v)
		return
	}
	share, log := rest.Rows(l.share)
	drawFleetShare(share, v)
	if l.log > 0 {
		drawFlips(log, v)
	}
}

// breakerRows is the sizes of the page's panels; 0 is left out.
type breakerRows struct {
	side, lanes, share, log int
	// wide says that share and log stand side by side.
	wide bool
}

func breakerLayout(w, h int) breakerRows {
	l := breakerRows{side: sideWidth(w)}
	switch {
	case w-l.side >= 100 && h >= 30:
		l.wide = true
		l.share = min(h/3, 14)
		l.lanes = h - l.share
		return l
	case h >= 28:
		l.share, l.log = 9, min(h/4, 12)
	default:
		l.share = min(h/3, 8)
	}
	l.lanes = h - l.share - l.log
	return l
}

// laneChrome is the rows of the lanes' panel that are no lanes: the names of the
// columns, the times, and the faults.
const laneChrome = 3

// laneColumn is one column of numbers behind the strip of a lane.
type laneColumn struct {
	name  string
	width int
	text  func(metrics.Lane, View) (string, theme.Role)
}

// laneSizes is how a lane's row is divided.
type laneSizes struct {
	name, strip int
	columns     []laneColumn
}

// stripLeast is the least width of the strips.
const stripLeast = 18

// laneLayout divides rows of w cells: the numbers come in as long as the strips
// keep enough room.
func laneLayout(w int, v View) laneSizes {
	l := laneSizes{name: 8}
	if len(v.Scenario.Scopes) > 1 {
		l.name = 16
	}
	l.strip = w - l.name
	for _, c := range laneColumns(v) {
		if l.strip-c.width < max(stripLeast, w*2/5) {
			break
		}
		l.strip -= c.width
		l.columns = append(l.columns, c)
	}
	return l
}

func laneAxis(l laneSizes, v View) widget.Axis {
	return widget.NewAxis(v.Snap.At, v.Span, binWidth(v), l.strip)
}

// laneColumns are the numbers that the rules of the breakers make sense of, the
// most needed first.
func laneColumns(v View) []laneColumn {
	b := &v.Scenario.Fleet.Policy.Breaker
	columns := []laneColumn{
		{"for", 8, laneAge}, {"probe in", 10, laneCountdown}, {"probes", 9, laneProbes},
	}
	if b.Failures > 0 {
		columns = append(columns, laneColumn{"in a row", 10, laneInRow})
	}
	if b.FailureRate > 0 || b.WindowFailures > 0 || b.SlowRate > 0 {
		columns = append(columns,
			laneColumn{"window", 9, laneWindow}, laneColumn{"failed", 8, laneFailed})
	}
	if b.SlowRate > 0 {
		columns = append(columns, laneColumn{"slow", 8, laneSlow})
	}
	return append(columns, laneColumn{"opened", 8, laneOpened}, laneColumn{"flaps", 7, laneFlaps})
}

func laneAge(l metrics.Lane, v View) (string, theme.Role) {
	return widget.Span(max(v.Snap.At.Sub(l.Since), 0)), theme.Plain
}

// laneCountdown is how long it is until a probe may go out.
func laneCountdown(l metrics.Lane, v View) (string, theme.Role) {
	switch {
	case l.State == wire.Eligible:
		return "now", theme.Limited
	case l.State == wire.HalfOpen:
		return "under way", theme.Half
	case l.State != wire.Open || !l.Looked || l.Detail.Until == clock.Never:
		return widget.None, theme.Dim
	}
	return widget.Span(max(l.Detail.Until.Sub(v.Snap.At), 0).Round(10 * time.Millisecond)), theme.Bad
}

func laneProbes(l metrics.Lane, _ View) (string, theme.Role) {
	if l.Good+l.Bad == 0 {
		return widget.None, theme.Dim
	}
	return "✓" + widget.Count(l.Good) + " ✗" + widget.Count(l.Bad), theme.Plain
}

func laneInRow(l metrics.Lane, v View) (string, theme.Role) {
	if !l.Looked || l.State != wire.Closed {
		return widget.None, theme.Dim
	}
	return strconv.Itoa(int(l.Detail.Failures)) + "/" + strconv.Itoa(v.Scenario.Fleet.Policy.Breaker.Failures),
		fillRole(int64(l.Detail.Failures))
}

func fillRole(n int64) theme.Role {
	if n > 0 {
		return theme.Retry
	}
	return theme.Dim
}

// laneWindow is how many calls the window holds, of how many it can if that is
// bounded.
func laneWindow(l metrics.Lane, _ View) (string, theme.Role) {
	switch {
	case !l.Looked || l.Detail.Calls == 0:
		return widget.None, theme.Dim
	case l.Detail.Size > 0:
		return widget.Count(l.Detail.Calls) + "/" + widget.Count(l.Detail.Size), theme.Plain
	}
	return widget.Count(l.Detail.Calls) + " calls", theme.Plain
}

func laneFailed(l metrics.Lane, _ View) (string, theme.Role) {
	return laneShare(l, l.Detail.Failed)
}

func laneSlow(l metrics.Lane, _ View) (string, theme.Role) { return laneShare(l, l.Detail.Slow) }

// laneShare is a share of the calls in the window, once they are enough for it to
// be judged.
func laneShare(l metrics.Lane, part int64) (string, theme.Role) {
	switch {
	case !l.Looked || l.Detail.Calls == 0:
		return widget.None, theme.Dim
	case l.Detail.Calls < l.Detail.Least:
		return "n<" + widget.Count(l.Detail.Least), theme.Dim
	}
	return widget.Percent(float64(part) / float64(l.Detail.Calls)), fillRole(part)
}

func laneOpened(l metrics.Lane, _ View) (string, theme.Role) {
	return often(l.Opened), fillRole(l.Opened)
}

func laneFlaps(l metrics.Lane, _ View) (string, theme.Role) {
	if !l.Looked {
		return widget.None, theme.Dim
	}
	return often(int64(l.Detail.Flaps)), fillRole(int64(l.Detail.Flaps))
}

// drawLanes draws one row for each breaker: its state over time, and how near it
// is to the next.
func (p *Breakers) drawLanes(a widget.Area, v View) {
	if !v.Snap.Breakers.On {
		drawNoBreakers(widget.Panel(a, "Breakers", "off"))
		return
	}
	in := p.lanesPanel(a, v)
	l := laneLayout(in.W, v)
	axis := laneAxis(l, v)
	head, rest := in.Rows(1)
	rows, foot := rest.Rows(in.H - laneChrome)
	x := l.name + l.strip
	for _, c := range l.columns {
		x += c.width
		head.TextRight(x, 0, c.name, theme.Of(theme.Dim))
	}
	rules := rulesText(v)
	drawLongest(head.Sub(0, 0, l.name+l.strip-2, 1), theme.Dim, "opens at "+rules, "at "+rules, rules)
	windows := faultWindows(v.Snap)
	if v.Snap.Lanes != nil {
		for y, lane := range v.Snap.Lanes.Lanes[:min(len(v.Snap.Lanes.Lanes), rows.H)] {
			drawLane(rows.Sub(0, y, rows.W, 1), l, axis, lane, v)
		}
		if len(v.Snap.Lanes.Lanes) == 0 {
			rows.TextCut(0, 0, rows.W, "none is "+p.filter.String()+" now; b shows others", theme.Of(theme.Dim))
		}
	}
	widget.Shade(rows.Sub(l.name, 0, l.strip, rows.H), axis, windows)
	axis.Labels(foot.Sub(l.name, 0, l.strip, 1))
	drawFaultRow(foot, foot.Sub(l.name, 0, l.strip, 2), 1, axis, windows)
}

func drawNoBreakers(in widget.Area) {
	for y, line := range widget.Wrap("none: every attempt is sent. breaker.failures opens one after so many "+
		"failures in a row, breaker.failure_rate after too large a share of them.", in.W) {
		in.Text(0, y, line, theme.Of(theme.Dim))
	}
}

// lanesPanel draws the frame, which says how many of which breakers are shown.
func (p *Breakers) lanesPanel(a widget.Area, v View) widget.Area {
	title := "Breakers: " + p.filter.String()
	if v.Snap.Lanes != nil {
		title += " · " + lanesText(v.Snap.Lanes)
	}
	in := widget.Panel(a, title, "")
	var legend []widget.SpanOf
	for _, s := range listed(v.Snap.Breakers) {
		legend = append(legend, widget.B(string(looks[s].letter), looks[s].role),
			widget.S(" "+looks[s].name+" ", theme.Dim))
	}
	full := append(legend[:len(legend):len(legend)], widget.S(" worst first", theme.Dim))
	from := widget.Width(title) + 4
	if !widget.PanelNote(a, from, full...) {
		widget.PanelNote(a, from, legend...)
	}
	return in
}

// lanesText says which of how many breakers are shown.
func lanesText(l *metrics.LaneView) string {
	n, all := int64(len(l.Lanes)), " of "+widget.Count(l.Matching)
	if n == l.Matching {
		return widget.Count(n)
	}
	return widget.Count(l.Skipped+1) + "–" + widget.Count(l.Skipped+n) + all
}

// rulesText says when the breakers open.
func rulesText(v View) string {
	b := &v.Scenario.Fleet.Policy.Breaker
	text := ""
	add := func(on bool, rule string) {
		if on && text != "" {
			text += ", or "
		}
		if on {
			text += rule
		}
	}
	share := func(thousandths int64) string { return widget.Percent(float64(thousandths) / 1000) }
	add(b.Failures > 0, strconv.Itoa(b.Failures)+" fails in a row")
	add(b.WindowFailures > 0, strconv.Itoa(b.WindowFailures)+" failed in the window")
	add(b.FailureRate > 0, share(b.FailureRate)+" failed")
	add(b.SlowRate > 0, share(b.SlowRate)+" slow")
	if text == "" {
		return "no rule; mode " + b.Mode.String()
	}
	return text
}

// drawLane draws one breaker.
func drawLane(a widget.Area, l laneSizes, axis widget.Axis, lane metrics.Lane, v View) {
	look := lookOf(lane.State)
	a.Set(0, 0, look.letter, theme.Of(look.role).Strong())
	a.TextCut(2, 0, l.name-3, breakerName(lane.Client, lane.Scope, lane.Shared, v), theme.Of(theme.Plain))
	strip := a.Sub(l.name, 0, l.strip, 1)
	for col, s := range lane.Strip {
		x := axis.Col(v.Snap.Lanes.Start.Add(time.Duration(col) * v.Snap.Lanes.Width))
		if x >= 0 && x < axis.Cols && s != metrics.NoState {
			drawState(strip, x, 0, s)
		}
	}
	x := l.name + l.strip
	for _, c := range l.columns {
		x += c.width
		text, role := c.text(lane, v)
		a.TextRight(x, 0, text, theme.Of(role))
	}
}

// drawState draws the letter of a state. Closed is dim, so that what is not stands
// out.
func drawState(a widget.Area, x, y int, s wire.BreakerState) {
	l := lookOf(s)
	style := theme.Of(l.role).Strong()
	if s == wire.Closed {
		style = theme.Of(theme.Border)
	}
	a.Set(x, y, l.letter, style)
}

// breakerName is whose a breaker is, and of which scope if there are several.
func breakerName(c wire.ClientID, scope uint8, shared bool, v View) string {
	name := "c" + strconv.Itoa(int(c))
	if shared {
		name = "fleet"
	}
	if len(v.Scenario.Scopes) > 1 && int(scope) < len(v.Scenario.Scopes) {
		name += " " + v.Scenario.Scopes[scope]
	}
	return name
}
