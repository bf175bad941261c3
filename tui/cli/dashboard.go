package cli

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/muesli/termenv"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"herdscope/engine/knob"
	"herdscope/scenarios"
	"herdscope/scenarios/report"
	"herdscope/scenarios/run"
	"herdscope/tui"
	"herdscope/tui/theme"
)

// dashboardOptions is the flags of the dashboard.
type dashboardOptions struct {
	experiment
	screenOptions
	virtual bool
}

// screenOptions is the flags that fit the screen to the terminal.
type screenOptions struct {
	noMouse bool
	ascii   bool
	noColor bool
	fps     countFlag
}

func newScreenOptions() screenOptions {
	return screenOptions{fps: countFlag{tui.DefaultFPS, fewestFrames, mostFrames}}
}

func (o *screenOptions) register(f *pflag.FlagSet) {
	f.Var(&o.fps, "fps", "frames per second")
	f.BoolVar(&o.noMouse, "no-mouse", false, "leave the mouse to the terminal")
	f.BoolVar(&o.ascii, "ascii", false, "draw with 7-bit characters only")
	f.BoolVar(&o.noColor, "no-color", false, "draw without colours, as NO_COLOR does")
}

// The range of --fps.
const (
	fewestFrames, mostFrames = 1, 60
)

func (a *app) dashboardCommand() *cobra.Command {
	o := dashboardOptions{screenOptions: newScreenOptions()}
	cmd := &cobra.Command{
		Use:   "herdscope [NAME|FILE]",
		Short: "Watch a fleet of HTTP clients retry against a server that fails",
		Long: "Watch a fleet of HTTP clients retry against a server that fails, and tune it.\n\n" +
			"Without a command, the dashboard opens on a scenario: the name of a built-in\n" +
			"one, a YAML file, or " + firstScenario + " if none is named. It runs over real HTTP on a free\n" +
			"loopback port, or in virtual time with --virtual. Press ? there for the keys.",
		Args:              rootArguments,
		ValidArgsFunction: completeScenario,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.dashboard(cmd.Context(), append(args, firstScenario)[0], o)
		},
	}
	o.experiment.register(cmd)
	cmd.Flags().BoolVar(&o.virtual, "virtual", false, "begin in virtual time instead of over real HTTP")
	o.screenOptions.register(cmd.Flags())
	return cmd
}

// rootArguments takes a misspelt command for what it is, and not for a scenario.
func rootArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && misspeltCommand(cmd, args[0], len(args) > 1) {
		return unknownCommand(cmd, args[0])
	}
	return atMostOne(cmd, args)
}

// misspeltCommand says whether a word that is neither scenario nor file looks
// like a command; followed by more words, it can be nothing else.
func misspeltCommand(root *cobra.Command, word string, followed bool) bool {
	names := scenarioNames()
	if isFile(word) || slices.Contains(names, word) {
		return false
	}
	near, ok := knob.Nearest(word, append(names, commandNames(root)...))
	return followed || ok && !slices.Contains(names, near)
}

func (a *app) dashboard(ctx context.Context, ref string, o dashboardOptions) error {
	s, err := o.load(a, ref)
	if err != nil {
		return err
	}
	if err := a.needScreen("herdscope run " + ref); err != nil {
		return err
	}
	screen := a.screen(o.screenOptions) // may ask the terminal, so before the run begins
	open := opener{a}
	first, err := open.Open(s, !o.virtual)
	if err != nil {
		return err
	}
	// The screen hears of signals by itself. Its framework would hang if it were
	// told twice: its signal handler would wait for a loop that has ended.
	left, err := tui.Run(context.WithoutCancel(ctx), open, first, screen)
	return errors.Join(err, left.Status.Err, a.lastWords(left), interrupted(ctx))
}

// screen is how the dashboard is shown.
func (a *app) screen(o screenOptions) tui.Options {
	look := theme.Detect(termenv.NewOutput(a.out), os.Getenv)
	look.ASCII = look.ASCII || o.ascii
	if o.noColor {
		look.Profile = termenv.Ascii
	}
	return tui.Options{
		FPS: o.fps.value, Input: a.in, Output: a.out, NoMouse: o.noMouse, Theme: look,
	}
}

// lastWords leaves the summary of the run that was shown last in the scrollback.
func (a *app) lastWords(left tui.Result) error {
	s, ok := left.Source.(source)
	if !ok {
		return nil
	}
	return report.Text(a.out, s.Session.Result())
}

// interrupted is an error if the dashboard was ended from outside. To leave it
// by its own key is no abort, since its runs have no end.
func interrupted(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return errInterrupted
}

// opener begins runs for the screen.
type opener struct{ app *app }

// Open begins a run of a scenario.
func (o opener) Open(s scenarios.Scenario, live bool) (tui.Source, error) {
	if live {
		if err := allowLive(s); err != nil {
			return nil, err
		}
	}
	session, err := run.Open(s, run.Options{Live: live, Log: o.app.logger()})
	if err != nil {
		return nil, err
	}
	return source{session}, nil
}

// Library lists the built-in scenarios.
func (o opener) Library() []scenarios.Scenario { return scenarios.Library() }

// source is a session as the screen sees it.
type source struct{ *run.Session }

// Status is the session's status in the screen's words.
func (s source) Status() tui.Status { return tui.Status(s.Session.Status()) }
