package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"herdscope/engine/wire"
	"herdscope/scenarios"
	"herdscope/scenarios/report"
	"herdscope/scenarios/run"
)

// runOptions is the flags of the run command.
type runOptions struct {
	experiment
	virtual  bool
	duration lengthFlag
	json     bool
	events   string
}

func (a *app) runCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run NAME|FILE",
		Short: "Run a scenario to its end without a screen and print a summary",
		Long: "Run a scenario to its end without a screen and print a summary.\n\n" +
			"The summary goes to the standard output, progress to the standard error.\n" +
			"Ctrl+c ends the run early: the summary then covers what there was, and the\n" +
			"exit code is 3.",
		Args:              exactlyOne,
		ValidArgsFunction: completeScenario,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.events == "" && cmd.Flags().Changed("events") {
				return usage("--events wants a file, got no name") // of an unset variable, mostly
			}
			return a.run(cmd.Context(), args[0], o)
		},
	}
	o.register(cmd)
	cmd.Flags().BoolVar(&o.virtual, "virtual", false,
		"simulate: no sockets, no waiting; the same seed gives the same result")
	cmd.Flags().Var(&o.duration, "duration",
		"run for this long, as in 90s, instead of the scenario's own time")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the summary as one JSON object")
	cmd.Flags().StringVar(&o.events, "events", "", "write what happens to this `FILE`, one JSON object per line")
	return cmd
}

func (a *app) run(ctx context.Context, ref string, o runOptions) error {
	s, err := o.load(a, ref)
	if err != nil {
		return err
	}
	if o.duration > 0 {
		s.Duration = time.Duration(o.duration)
	}
	if !o.virtual {
		if err := allowLive(s); err != nil {
			return err
		}
	}
	events, err := openEvents(o.events, s)
	if err != nil {
		return err
	}
	result, err := a.headless(ctx, s, o, events)
	if err != nil {
		return errors.Join(err, events.close())
	}
	if err := errors.Join(events.close(), a.summarise(result, o.json)); err != nil {
		return err
	}
	return stopped(result, s)
}

// headless runs the scenario and shows its progress meanwhile.
func (a *app) headless(
	ctx context.Context, s scenarios.Scenario, o runOptions, events *eventFile,
) (run.Result, error) {
	p := newProgress(a.err)
	defer p.done()
	return run.Headless(ctx, s, run.Options{
		Live: !o.virtual, Observers: events.observers(), Progress: p.show, Log: a.logger(),
	})
}

func (a *app) summarise(r run.Result, asJSON bool) error {
	if asJSON {
		return report.JSON(a.out, r)
	}
	return report.Text(a.out, r)
}

func stopped(r run.Result, s scenarios.Scenario) error {
	if !r.Aborted {
		return nil
	}
	return &abortedError{at: r.Summary.Duration, of: s.Duration}
}

// eventFile is where the events of a run go; nil if they are not wanted.
type eventFile struct {
	*report.Events
	file io.Closer
}

func openEvents(path string, s scenarios.Scenario) (*eventFile, error) {
	switch path {
	case "":
		return nil, nil
	case "-":
		return nil, usage("--events wants a file; /dev/stdout is one too")
	}
	// Not os.Create: that opens a pipe for reading as well, so that a writer to
	// it would never learn that its reader has gone.
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, usage("--events: %w", err)
	}
	return &eventFile{report.NewEvents(file, s), file}, nil
}

func (e *eventFile) close() error {
	if e == nil {
		return nil
	}
	if err := errors.Join(e.Events.Close(), e.file.Close()); err != nil {
		return fmt.Errorf("--events: %w", err)
	}
	return nil
}

func (e *eventFile) observers() []wire.Observer {
	if e == nil {
		return nil
	}
	return []wire.Observer{e.Events}
}
