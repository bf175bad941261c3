package tui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"herdscope/engine/metrics"
	"herdscope/scenarios"
	"herdscope/tui/theme"
)

// opening is a run that is being opened, after the one before it has ended. It
// goes on beside the screen, which stays alive meanwhile.
type opening struct {
	name string
	done chan struct{}
	src  Source
	err  error
}

// openedMsg says that an opening is done.
type openedMsg struct{ o *opening }

// open ends the run and begins another one.
func (a *App) open(s scenarios.Scenario, live bool) tea.Cmd {
	if a.opening != nil {
		a.complain("already opening " + a.opening.name)
		return nil
	}
	o := &opening{name: s.Name, done: make(chan struct{})}
	a.opening = o
	go o.run(a.src, a.opener, s, live)
	return func() tea.Msg {
		<-o.done
		return openedMsg{o}
	}
}

// run ends one run and begins the next. A panic becomes an error, since here it
// would leave the terminal as it is.
func (o *opening) run(old Source, opener Opener, s scenarios.Scenario, live bool) {
	defer close(o.done)
	defer func() {
		if r := recover(); r != nil {
			o.err = fmt.Errorf("open %s: panic: %v", s.Name, r)
		}
	}()
	if err := old.Close(); err != nil {
		o.err = fmt.Errorf("end the run before: %w", err)
	}
	src, err := opener.Open(s, live)
	if err != nil {
		o.err = fmt.Errorf("open %s: %w", s.Name, err)
		return
	}
	o.src = src
}

// onOpened shows the new run, or why there is none.
func (a *App) onOpened(m openedMsg) {
	if m.o != a.opening {
		return
	}
	a.opening, a.stale = nil, true
	if a.message.role == theme.Bad { // It was refused because of the opening.
		a.message = message{}
	}
	if m.o.err != nil {
		a.complain(m.o.err.Error())
	}
	if m.o.src == nil {
		return
	}
	a.src, a.frozen = m.o.src, false
	a.watched = metrics.Watch{}
	a.refresh()
}
