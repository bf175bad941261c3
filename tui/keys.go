package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"herdscope/tui/keymap"
	"herdscope/tui/page"
)

// onKeys does what keys mean. Keys that come fast arrive as one message; each is
// done by itself.
func (a *App) onKeys(k tea.KeyMsg) tea.Cmd {
	if k.Type != tea.KeyRunes || k.Paste || len(k.Runes) < 2 {
		return a.onKey(k)
	}
	var cmds []tea.Cmd
	for _, r := range k.Runes {
		cmds = append(cmds, a.onKey(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: k.Alt}))
	}
	return tea.Sequence(cmds...)
}

// onKey does what a key means: to the question whether to leave, to the overlay
// if there is one, and else to the page.
func (a *App) onKey(k tea.KeyMsg) tea.Cmd {
	a.stale = true
	a.message = message{}
	b := a.keys.Screen(k)
	switch {
	case a.asking:
		a.asking = false
		if b.Command == keymap.Quit {
			return a.leave()
		}
		return nil
	case k.Type == tea.KeyCtrlC:
		return a.command(keymap.Quit, 0)
	case k.Type == tea.KeyCtrlZ:
		return a.command(keymap.Suspend, 0)
	case a.overlay != nil:
		return a.request(a.overlay.Key(k, a.view))
	}
	return a.command(b.Command, b.Arg)
}

// request does what a page or an overlay asks for.
func (a *App) request(r page.Request) tea.Cmd {
	switch r.Kind {
	case page.Nothing:
		return nil
	case page.Close:
		a.overlay = nil
		return nil
	case page.Complain:
		a.complain(r.Text)
		return nil
	}
	if !r.Keep {
		a.overlay = nil
	}
	switch r.Kind {
	case page.Act:
		a.act(r.Action)
		a.view.Tune.Select(r.Action.Knob, a.view)
	case page.Run:
		return a.command(r.Command, r.Arg)
	case page.OpenScenario:
		if why := a.refusal(keymap.Open); why != "" {
			a.complain(why)
			return nil
		}
		return a.open(a.opener.Library()[r.Arg], a.view.Status.Live)
	case page.Prompt:
		a.view.Tune.Select(r.Action.Knob, a.view)
		if k, ok := a.view.Tune.Selected(a.view); ok {
			a.overlay = page.NewValuePrompt(a.keys, k)
		}
	}
	return nil
}

// command does one command of the screen. Each case is one line or a call.
func (a *App) command(c keymap.Command, arg int) tea.Cmd {
	if why := a.refusal(c); why != "" {
		a.complain(why)
		return nil
	}
	switch c {
	case keymap.Quit:
		return a.askToLeave()
	case keymap.Suspend:
		return a.suspend()
	case keymap.Again:
		return a.open(a.view.Scenario, a.view.Status.Live)
	case keymap.Mode:
		return a.open(a.view.Scenario, !a.view.Status.Live)
	case keymap.Pause:
		a.pause()
	case keymap.Save:
		a.save()
	case keymap.Undo:
		a.undo()
	case keymap.Mouse:
		return a.toggleMouse()
	case keymap.Help:
		a.overlay = page.NewHelp(a.keys)
	case keymap.Palette:
		a.overlay = page.NewPalette(a.keys, a.opener.Library(), a.view)
	case keymap.Open:
		a.overlay = page.NewPicker(a.keys, a.opener.Library(), a.view.Scenario.Name)
	case keymap.Faults:
		a.overlay = page.NewFaultList(a.keys)
	default:
		return a.viewCommand(c, arg)
	}
	return nil
}

// viewCommand does the commands that change only what is shown, and hands the
// rest to the tuning panel.
func (a *App) viewCommand(c keymap.Command, arg int) tea.Cmd {
	switch c {
	case keymap.ShowPage:
		a.show(arg)
	case keymap.NextPage:
		a.show((a.at + 1) % len(a.pages))
	case keymap.PrevPage:
		a.show((a.at + len(a.pages) - 1) % len(a.pages))
	case keymap.Freeze:
		a.freeze()
	case keymap.Shorter:
		a.setSpan(a.span - 1)
	case keymap.Longer:
		a.setSpan(a.span + 1)
	case keymap.AutoSpan:
		a.setSpan(usualSpan)
	case keymap.Panel:
		a.page().NextPanel()
	case keymap.Back:
		a.back()
	case keymap.Filter:
		a.filter()
	case keymap.NextRows:
		a.turn(1)
	case keymap.PrevRows:
		a.turn(-1)
	case keymap.Ageing:
		return a.request(a.view.Tune.ToggleAgeing(a.view))
	default:
		return a.request(a.view.Tune.Handle(c, a.view))
	}
	return nil
}

func (a *App) show(i int) {
	a.at = i
	a.watch()
}

// filter selects what the page lists.
func (a *App) filter() {
	which, ok := a.page().Filter()
	if !ok {
		which = "nothing to filter on this page"
	}
	a.tell(which)
	a.watch()
}

// turn shows the next of what the page lists, or those before.
func (a *App) turn(by int) {
	if !a.page().Turn(by) {
		a.tell("nothing more to list on this page")
	}
	a.watch()
}

func (a *App) freeze() {
	a.frozen = !a.frozen
	a.refresh()
}

func (a *App) setSpan(i int) {
	a.span = min(max(i, 0), len(spans)-1)
	a.view.Span = spans[a.span]
	a.watch()
}

// back goes one level up: out of a single panel, then out of a frozen view.
func (a *App) back() {
	if a.page().AllPanels() || !a.frozen {
		return
	}
	a.freeze()
}

func (a *App) pause() {
	if a.view.Status.Done {
		a.tell("the run is over; r runs it again")
		return
	}
	a.src.Pause(!a.src.Status().Paused)
	a.refresh()
}

func (a *App) save() {
	path, err := a.src.Save()
	if err != nil {
		a.complain(err.Error())
		return
	}
	a.tell("saved " + path + "; herdscope " + path + " plays it again")
}

func (a *App) undo() {
	if a.opening != nil {
		return
	}
	action, ok := a.src.Undo()
	if !ok {
		a.tell("nothing to undo")
		return
	}
	a.readScenario()
	a.view.Tune.Select(action.Knob, a.view)
	if k, found := a.view.Tune.Selected(a.view); found && k.Name == action.Knob {
		a.tell("undone: " + k.Name + " is " + k.Format(action.Value) + " again")
	}
}
