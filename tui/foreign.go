package tui

import "herdscope/tui/keymap"

// refusals are the commands that make no sense where the clients are not ours,
// and why.
var refusals = map[keymap.Command]string{
	keymap.Pause:  "foreign clients cannot be paused; f freezes the view",
	keymap.Again:  "foreign clients cannot be run again; the admin API resets the counts",
	keymap.Mode:   "foreign clients are always live",
	keymap.Open:   "the scenario cannot change while foreign clients call; leave, and serve another one",
	keymap.Ageing: "foreign clients: their queues are not visible from the server",
}

// refusal says why a command cannot be done in this run; empty if it can.
func (a *App) refusal(c keymap.Command) string {
	if !a.view.Status.Foreign {
		return ""
	}
	return refusals[c]
}
