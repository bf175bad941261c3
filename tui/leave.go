package tui

import (
	tea "github.com/charmbracelet/bubbletea"
)

// askToLeave leaves at once if the run is over, and asks once otherwise.
func (a *App) askToLeave() tea.Cmd {
	if a.view.Status.Done || a.src.Status().Done {
		return a.leave()
	}
	a.asking = true
	return nil
}

func (a *App) leave() tea.Cmd {
	a.quit, a.aborted = true, !a.src.Status().Done
	return tea.Quit
}

// suspend gives the terminal back to the shell. The run pauses meanwhile, so
// that nothing has to be caught up with afterwards.
func (a *App) suspend() tea.Cmd {
	if s := a.src.Status(); !s.Paused && !s.Done {
		a.src.Pause(true)
		a.resume = true
	}
	return tea.Suspend
}

// onResume lets the run go on and takes the mouse back, which the terminal was
// told to keep.
func (a *App) onResume() tea.Cmd {
	a.stale = true
	if a.resume {
		a.resume = false
		a.src.Pause(false)
	}
	a.refresh()
	if a.mouse {
		return tea.EnableMouseCellMotion
	}
	return nil
}
