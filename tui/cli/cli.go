// Package cli is the command line of herdscope: it reads arguments, puts the
// parts of the program together, and turns what becomes of it into output and
// an exit code.
//
// Results go to stdout, everything else to stderr, and an error is one line.
// All streams are arguments, so that tests call Main as the program does. The
// package is the one that may import everything; nothing but main imports it.
package cli

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
)

// Main runs the program with its arguments, without the program's name, and
// returns the exit code: 0 for a run that did what was asked, 2 for usage or
// input errors, 3 for one that was stopped, 4 for what the environment does not
// allow. 1 is kept for expectations that a run fails.
//
// The first SIGINT, SIGTERM or SIGHUP ends what goes on in good order; a second
// one ends the program at once.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(),
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop)

	defer debug.SetGCPercent(easeCollector())
	a := &app{in: stdin, out: stdout, err: stderr, log: &tail{}}
	defer log.SetOutput(log.Writer())
	log.SetOutput(a.log) // net/http may write there, over a screen or a progress bar

	root := a.root()
	root.SetArgs(args)
	return a.finish(root.ExecuteContext(ctx))
}

// easeCollector lets the heap grow fivefold between two collections, unless
// GOGC says otherwise, and returns what was set before. A herd of live attempts
// makes its garbage all at once, and a collection in its midst would spread it
// over time; the heap is small enough to afford it.
func easeCollector() (before int) {
	const percent = 400
	before = debug.SetGCPercent(percent)
	if os.Getenv("GOGC") != "" {
		debug.SetGCPercent(before)
	}
	return before
}

// app is the program's surroundings.
type app struct {
	in       io.Reader
	out, err io.Writer
	log      *tail
}

// root is the whole tree of commands.
func (a *app) root() *cobra.Command {
	root := a.dashboardCommand()
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.Version = version()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(a.helpCommand())
	root.AddCommand(a.runCommand(), a.serveCommand(), a.scenariosCommand(),
		a.knobsCommand(), a.presetsCommand(), a.versionCommand())
	return root
}
