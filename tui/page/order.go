package page

import (
	"slices"
	"strconv"

	"herdscope/engine/clock"
	"herdscope/engine/metrics"
	"herdscope/scenarios"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// orderKnob is the setting of who goes first.
const orderKnob = "queue.order"

// ToggleAgeing asks for the order that ages, or, where that is in force, for the
// one before it.
func (t *Tune) ToggleAgeing(v View) Request {
	k, err := v.Scenario.Knob(orderKnob)
	if err != nil {
		return Request{Kind: Complain, Text: err.Error()}
	}
	is, to := k.Of(v.Scenario), int64(slices.Index(k.Choices, "ageing"))
	if is == to {
		to = t.order
	} else {
		t.order = is
	}
	if is == to { // it began with ageing
		to = int64(slices.Index(k.Choices, "strict"))
	}
	return Request{Kind: Act, Action: scenarios.Action{Kind: scenarios.SetKnob, Knob: orderKnob, Value: to}}
}

// drawOrder says who goes first, and how long that can let anybody wait.
func drawOrder(a widget.Area, v View) {
	q := &v.Scenario.Fleet.Policy.Queue
	in := widget.Panel(a, "Order", "A toggles ageing")
	what := q.Order.String() + " · " + slotsText(v)
	head, bound := widget.Wrap(what, in.W), widget.Wrap("bound: "+q.Order.Bound(), in.W)
	if len(head)+len(bound) > in.H {
		head = []string{widget.Cut(what, in.W)}
	}
	for y, line := range head {
		in.Text(0, y, line, theme.Of(theme.Dim))
	}
	in.TextCut(0, 0, in.W, q.Order.String(), theme.Of(theme.Accent).Strong())
	for y, line := range clip(bound, in.H-len(head), in.W) {
		in.Text(0, len(head)+y, line, theme.Of(theme.Plain))
	}
}

// slotsText says how many slots there are.
func slotsText(v View) string {
	text := "slots unlimited"
	switch n := v.Scenario.Fleet.Policy.Queue.Limit; {
	case v.Snap.Paused > 0:
		return "PAUSED by a limit of 0: " + widget.Count(v.Snap.Paused) + " scopes of clients"
	case moving(v):
		text = "slots by " + v.Scenario.Fleet.Policy.Limiter.Kind.String()
	case n > 0:
		text = strconv.Itoa(n) + " slots per client and scope"
		if n == 1 {
			text = "1 slot per client and scope"
		}
	}
	own := 0
	for _, s := range v.Scenario.Fleet.Policy.Queue.Scope {
		if s.Limit != 0 {
			own++
		}
	}
	switch {
	case own == 1:
		text += "; 1 scope has its own"
	case own > 1:
		text += "; " + strconv.Itoa(own) + " scopes have their own"
	}
	return text
}

// drawHungers lists the starvations, the newest first, with begin and end.
func drawHungers(a widget.Area, v View) {
	note := ""
	if v.Snap.Lines != nil {
		note = widget.Count(v.Snap.Queues[0].Starved+v.Snap.Queues[1].Starved+v.Snap.Queues[2].Starved) + " so far"
	}
	in := widget.Panel(a, "Starvation", note)
	if v.Snap.Lines == nil || len(v.Snap.Lines.Hungers) == 0 {
		drawLongest(in.Sub(0, 0, in.W, 1), theme.Dim,
			"no head has waited longer than its class may while others went first", "no class has starved")
		return
	}
	hs := v.Snap.Lines.Hungers
	for y := 0; y < in.H && y < len(hs); y++ {
		drawHunger(in.Sub(0, y, in.W, 1), hs[len(hs)-1-y], v)
	}
}

func drawHunger(a widget.Area, h metrics.Hunger, v View) {
	l := classLooks[h.Class]
	x := a.Text(0, 0, string(l.letter)+" ", theme.Of(l.role))
	who := "c" + strconv.Itoa(int(h.Client))
	if int(h.Scope) < len(v.Scenario.Scopes) && len(v.Scenario.Scopes) > 1 {
		who += " " + v.Scenario.Scopes[h.Scope]
	}
	x = a.Text(x, 0, who+" ", theme.Of(theme.Plain))
	text, role := hungerText(h, v), theme.Dim
	if h.Ended == clock.Never {
		role = theme.Bad
	}
	drawLongest(a.Sub(x, 0, a.W-x, 1), role, text...)
}

// hungerText says when a starvation began and ended, in fewer and fewer words.
func hungerText(h metrics.Hunger, v View) []string {
	from, head := widget.Moment(h.Began), "; head had waited "+widget.Span(h.Waited)
	text := from + " to " + widget.Moment(h.Ended)
	lasted := ", " + widget.Span(h.Ended.Sub(h.Began))
	if h.Ended == clock.Never {
		text, lasted = "since "+from, ", for "+widget.Span(max(v.Snap.At.Sub(h.Began), 0))
	}
	if h.Times > 1 {
		lasted += ", " + widget.Count(h.Times) + " times"
	}
	return []string{text + lasted + head, text + lasted, text}
}
