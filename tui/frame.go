package tui

import (
	"fmt"
	"strconv"
	"strings"

	"herdscope/tui/keymap"
	"herdscope/tui/page"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// chrome is the rows that the frame takes from the body: header, tabs, footer.
const chrome = 3

func (a *App) bodySize() (w, h int) { return a.w, a.h - chrome - a.noticeRows() }

// draw draws the whole frame.
func (a *App) draw() string {
	a.canvas.Reset(a.w, a.h)
	all := a.canvas.Area()
	need := page.MinHeight + chrome + a.noticeRows()
	if a.w < page.MinWidth || a.h < need {
		a.drawTooSmall(all, need)
		return a.canvas.String()
	}
	head, rest := all.Rows(2)
	body, foot := rest.Rows(rest.H - 1)
	sticky, body := body.Rows(a.noticeRows())
	a.drawHeader(head)
	a.drawTabs(head)
	sticky.TextCut(1, 0, sticky.W-2, a.notice(), noticeStyle)
	a.page().Draw(body, a.view)
	if a.overlay != nil {
		a.overlay.Draw(body, a.view)
	}
	a.drawFooter(foot)
	return a.canvas.String()
}

var noticeStyle = theme.Of(theme.Limited).Strong()

// notice is what stays on the screen as long as it holds.
func (a *App) notice() string {
	text := a.view.Status.Notice
	if err := a.view.Status.Err; err != nil {
		text = "the run ended early: " + err.Error()
	}
	if text == "" {
		return ""
	}
	return "! " + text
}

// noticeRows is how many rows the notice takes from the body: none where it fits
// beside the tabs, so that the page does not jump as it comes and goes.
func (a *App) noticeRows() int {
	if n := a.notice(); n == "" || widget.Width(n) <= a.w-a.tabsWidth()-3 {
		return 0
	}
	return 1
}

// tabsWidth is how much of their row the tabs take.
func (a *App) tabsWidth() int {
	w := 0
	for _, p := range a.pages {
		w += widget.Width(p.Title()) + len("[1 ] ")
	}
	return w
}

// drawTooSmall says how much room is needed. Quitting works all the same.
func (a *App) drawTooSmall(all widget.Area, height int) {
	lines := []string{
		fmt.Sprintf("needs %dx%d", page.MinWidth, height),
		fmt.Sprintf("has %dx%d", a.w, a.h), "q quits",
	}
	if a.asking {
		lines = []string{"quit? q"}
	}
	for y, line := range lines {
		all.Text(0, y, line, theme.Of(theme.Plain))
	}
}

// narrow is the width below which the header keeps only what is needed.
const narrow = 70

// drawHeader draws what runs, how, and how far it is.
func (a *App) drawHeader(head widget.Area) {
	s := a.view.Status
	right := a.headerRight()
	n := widget.SpansWidth(right...)
	widget.Spans(head, head.W-n-1, 0, right...)
	left := head.Sub(1, 0, head.W-n-3, 1)
	name := widget.B(a.view.Scenario.Name, theme.Plain)
	if a.w < narrow {
		x := widget.Spans(left, 0, 0, shortMode(s), widget.S(" ", theme.Plain))
		left.TextCut(x, 0, left.W-x, name.Text, name.Style)
		return
	}
	x := widget.Spans(left, 0, 0, widget.B("herdscope", theme.Accent), widget.S("  ", theme.Plain),
		name, widget.S(" · ", theme.Dim), mode(s))
	if s.Live && s.Target != "" && left.W > 90 {
		x = left.Text(x, 0, " "+strings.TrimPrefix(s.Target, "http://"), theme.Of(theme.Dim))
	}
	for _, text := range []string{
		" · " + widget.Count(int64(a.view.Snap.Clients)) + " clients", fmt.Sprintf(" · seed %d", s.Seed),
	} {
		if x+widget.Width(text) <= left.W {
			x = left.Text(x, 0, text, theme.Of(theme.Dim))
		}
	}
}

func mode(s Status) widget.SpanOf {
	if s.Foreign {
		return widget.B("SERVING http", theme.Retry)
	}
	if s.Live {
		return widget.B("LIVE http", theme.Retry)
	}
	return widget.B("VIRTUAL", theme.First)
}

// shortMode is mode in one word.
func shortMode(s Status) widget.SpanOf {
	m := mode(s)
	m.Text, _, _ = strings.Cut(m.Text, " ")
	return m
}

// headerRight is the state of the run, its clock, and its speed.
func (a *App) headerRight() []widget.SpanOf {
	s := a.view.Status
	parts := []widget.SpanOf{a.stateSpan()}
	parts = append(parts, widget.B("  "+widget.Clock(s.Elapsed), theme.Plain))
	switch {
	case s.Speed > 0 && s.Speed < 0.95:
		parts = append(parts, widget.B(fmt.Sprintf("  ×%.2f", s.Speed), theme.Limited))
	case s.Speed >= 1.05:
		parts = append(parts, widget.B("  ×"+widget.Short(s.Speed), theme.Plain))
	case a.w >= narrow:
		parts = append(parts, widget.S("  ×1", theme.Dim))
	}
	return parts
}

func (a *App) stateSpan() widget.SpanOf {
	banner := theme.Style{FG: theme.Ink, BG: theme.Banner, Bold: true}
	frozen := " FROZEN VIEW"
	if a.w < narrow {
		frozen = " FROZEN"
	}
	switch s := a.view.Status; {
	case a.opening != nil && a.w < narrow:
		return widget.SpanOf{Text: " opening… ", Style: banner}
	case a.opening != nil:
		return widget.SpanOf{Text: " opening " + a.opening.name + "… ", Style: banner}
	case a.frozen && s.Paused:
		return widget.SpanOf{Text: frozen + ", PAUSED ", Style: banner}
	case a.frozen:
		return widget.SpanOf{Text: frozen + " ", Style: banner}
	case s.Done:
		return widget.B("■ done", theme.Dim)
	case s.Paused:
		return widget.SpanOf{Text: " PAUSED ", Style: banner}
	}
	if a.w < narrow {
		return widget.B("●", theme.Good)
	}
	return widget.B("● running", theme.Good)
}

// drawTabs draws the names of the pages, and remembers where they are. Where not
// all fit, only that of the page on the screen is written out.
func (a *App) drawTabs(head widget.Area) {
	a.tabs = a.tabs[:0]
	x, all := 0, a.tabsWidth() <= head.W
	for i, p := range a.pages {
		text := " " + strconv.Itoa(i+1) + " "
		if all || i == a.at {
			text += p.Title() + " "
		}
		style := theme.Of(theme.Dim)
		if i == a.at {
			text = "[" + text[1:len(text)-1] + "]"
			style = theme.Of(theme.Accent).On(theme.Selected).Strong()
		}
		end := head.Text(x, tabRow, text, style)
		a.tabs = append(a.tabs, tab{x, end})
		x = end + 1
	}
	text, style := a.notice(), noticeStyle
	if text == "" || a.noticeRows() > 0 {
		text, style = a.view.Scenario.Title, theme.Of(theme.Dim)
	}
	if room := head.W - x - 2; room >= 16 {
		head.TextRight(head.W-1, tabRow, widget.Cut(text, room), style)
	}
}

// drawFooter draws the question, the news, or the keys that matter.
func (a *App) drawFooter(foot widget.Area) {
	switch {
	case a.asking:
		foot.TextCut(1, 0, foot.W-1, "quit? q again leaves, any other key stays",
			theme.Style{FG: theme.Ink, BG: theme.Banner, Bold: true})
	case a.message.text != "":
		foot.TextCut(1, 0, foot.W-1, a.message.text, theme.Of(a.message.role).Strong())
	default:
		a.drawHints(foot)
	}
}

// drawHints names as many keys as fit, the most needed first.
func (a *App) drawHints(foot widget.Area) {
	hints := a.keys.Footer()
	for _, c := range a.page().Keys() {
		hints = append([]keymap.Binding{a.keys.Of(c)}, hints...)
	}
	if w, h := a.bodySize(); a.page().Alone(w, h) {
		hints = append([]keymap.Binding{a.keys.Of(keymap.Panel)}, hints...)
	}
	x := 1
	for _, b := range hints {
		if a.refusal(b.Command) != "" {
			continue
		}
		hint, text := b.FooterHint()
		if x+widget.Width(hint)+1+widget.Width(text) > foot.W {
			return
		}
		x = widget.Spans(foot, x, 0, widget.B(hint, theme.Accent), widget.S(" "+text, theme.Dim)) + 2
	}
}
