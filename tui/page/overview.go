package page

import (
	"herdscope/engine/metrics"
	"herdscope/tui/widget"
)

// Overview is the page that says whether the system is well, and what the hand
// on the knobs is doing to it.
type Overview struct{ zoom }

// Title is the page's name.
func (*Overview) Title() string { return "Overview" }

// overviewPanels are the panels, in the order in which one alone is shown.
var overviewPanels = []panel{
	drawArrivals, drawNow, drawTune, drawStability, drawBreakers, drawQueues, drawStory,
}

// Watch asks for enough history to fill the chart.
func (p *Overview) Watch(w, h int, v View) metrics.Watch {
	cols := w
	if !p.Alone(w, h) {
		cols = w - sideWidth(w)
	}
	return metrics.Watch{Span: plotAxis(v, cols-panelFrame).Past()}
}

// NextPanel shows the next panel alone.
func (p *Overview) NextPanel() { p.next(len(overviewPanels)) }

// Draw draws as many panels as there is room for. They leave in this order as
// the screen gets smaller: stability, story, breakers and queues, and then all
// but one.
func (p *Overview) Draw(a widget.Area, v View) {
	if p.Alone(a.W, a.H) {
		overviewPanels[p.panel()](a, v)
		return
	}
	l := overviewLayout(a.W, a.H, v)
	main, side := a.Cols(a.W - l.side)
	now, tune := side.Rows(l.now)
	drawNow(now, v)
	drawTune(tune, v)
	arrivals, rest := main.Rows(main.H - l.stability - l.states - l.story)
	drawArrivals(arrivals, v)
	stability, rest := rest.Rows(l.stability)
	drawStability(stability, v)
	states, story := rest.Rows(l.states)
	breakers, queues := states.Cols(l.breakers)
	drawBreakers(breakers, v)
	drawQueues(queues, v)
	drawStory(story, v)
}

// layout is the sizes of the overview's panels; 0 is left out.
type layout struct {
	side, now                int
	stability, states, story int
	breakers                 int
}

func overviewLayout(w, h int, v View) layout {
	l := layout{side: sideWidth(w), now: nowHeight}
	main := w - l.side
	switch {
	case h >= 40:
		l.stability, l.states, l.story = 3, 7, 8
	case h >= 30:
		l.stability, l.states, l.story = 3, 7, 5
	case h >= 26:
		l.stability, l.states, l.story = 3, 6, 4
	case h >= 19:
		l.states, l.story = 5, 4
	case h >= 16:
		l.story = 4
	}
	if l.states > 0 {
		l.breakers = breakersWidth(main, v)
	}
	return l
}

// breakersWidth is the width of the breakers' panel beside the queues'. Where
// both do not fit, the one that is in use stays.
func breakersWidth(main int, v View) int {
	switch {
	case main >= 64 && !v.Snap.Breakers.On:
		return 20
	case main >= 64:
		return main * 45 / 100
	case v.Snap.Breakers.On && idleQueues(v):
		return main
	}
	return 0
}

func idleQueues(v View) bool { return v.Scenario.Fleet.Policy.Queue.Limit == 0 }
