package cli

import (
	"os"

	"github.com/charmbracelet/x/term"

	"herdscope/engine/knob"
)

// needScreen makes sure that there is a terminal to show a dashboard on; instead
// is the command that does without.
func (a *app) needScreen(instead string) error {
	why := screenTrouble(isTerminal(a.in), isTerminal(a.out), os.Getenv("TERM"))
	if why == "" {
		return nil
	}
	return usage("the dashboard needs a terminal, but %s; without one, use `%s`", why, instead)
}

// screenTrouble says why no screen can be shown; empty if one can.
func screenTrouble(in, out bool, kind string) string {
	switch {
	case !in:
		return "the standard input is none"
	case !out:
		return "the standard output is none"
	case kind == "":
		return "TERM is not set"
	case kind == "dumb":
		return "TERM is " + knob.Quote(kind)
	}
	return ""
}

// isTerminal says whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}
