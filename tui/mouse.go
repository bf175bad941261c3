package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"herdscope/tui/keymap"
)

// tab is where a page's name stands in the line of tabs.
type tab struct{ from, to int }

// tabRow is the row of the tabs.
const tabRow = 1

// onMouse scrolls with the wheel and switches pages with a click on their name.
func (a *App) onMouse(m tea.MouseMsg) {
	switch m.Button {
	case tea.MouseButtonWheelUp:
		a.scroll(-1)
	case tea.MouseButtonWheelDown:
		a.scroll(1)
	case tea.MouseButtonLeft:
		a.click(m)
	}
}

func (a *App) scroll(lines int) {
	a.stale = true
	if a.overlay != nil {
		a.overlay.Scroll(lines, a.view)
		return
	}
	c := keymap.Down
	if lines < 0 {
		c = keymap.Up
	}
	a.view.Tune.Handle(c, a.view)
}

func (a *App) click(m tea.MouseMsg) {
	if m.Action != tea.MouseActionPress || m.Y != tabRow || a.overlay != nil {
		return
	}
	for i, t := range a.tabs {
		if m.X >= t.from && m.X < t.to {
			a.show(i)
			a.stale = true
		}
	}
}

// toggleMouse gives the mouse to the terminal, so that text can be selected, or
// takes it back.
func (a *App) toggleMouse() tea.Cmd {
	a.mouse = !a.mouse
	if a.mouse {
		a.tell("the mouse is ours: wheel and tabs; m gives it back")
		return tea.EnableMouseCellMotion
	}
	a.tell("the mouse is the terminal's: select text as usual; m takes it")
	return tea.DisableMouse
}
