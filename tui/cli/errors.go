package cli

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"herdscope/engine/knob"
	"herdscope/scenarios"
)

// The exit codes. 1 is kept for expectations that a run fails.
const (
	exitOK          = 0
	exitUsage       = 2
	exitAborted     = 3
	exitEnvironment = 4
)

// usageError is a mistake in how the program was called or in what it was given
// to read.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usage(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// abortedError is a run that was stopped before its end, or, if at is not before
// of, while it drained.
type abortedError struct{ at, of time.Duration }

func (e *abortedError) Error() string {
	if e.at >= e.of {
		return "stopped while the last requests ended; what was left of them is unfinished"
	}
	return fmt.Sprintf("stopped at %v of %v; the summary covers that much",
		e.at.Round(100*time.Millisecond), e.of)
}

// errInterrupted is a dashboard that was ended by a signal.
var errInterrupted = errors.New("ended by a signal")

// exitCode is the one place where errors become exit codes. What is neither the
// user's mistake nor wish is put down to the environment: a limit, a port that
// is taken, a full disk.
func exitCode(err error) int {
	var (
		misused  *usageError
		unread   *scenarios.Error
		unknown  *knob.Error
		stopped  *abortedError
		readable = err == nil || errors.Is(err, syscall.EPIPE)
	)
	switch {
	case readable: // a reader that has seen enough is no failure
		return exitOK
	case errors.As(err, &misused), errors.As(err, &unread), errors.As(err, &unknown):
		return exitUsage
	case errors.As(err, &stopped), errors.Is(err, errInterrupted):
		return exitAborted
	}
	return exitEnvironment
}

// finish says in one line what went wrong, if anything did, and returns the
// exit code.
func (a *app) finish(err error) int {
	code := exitCode(err)
	if code != exitOK {
		fmt.Fprintf(a.err, "herdscope: %s\n", oneLine(err.Error()))
	}
	if code == exitEnvironment {
		a.log.show(a.err)
	}
	return code
}

func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// flagError words the flag parser's errors and names the flag that was probably
// meant.
func flagError(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
	)
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown)
	case errors.As(err, &missing):
		return usage("flag --%s needs a value", missing.GetSpecifiedName())
	case errors.As(err, &invalid) && invalid.GetFlag().Value.Type() == "bool":
		return usage("--%s %s: want true or false", invalid.GetFlag().Name, knob.Quote(invalid.GetValue()))
	case errors.As(err, &invalid):
		return usage("--%s %s: %w", invalid.GetFlag().Name, knob.Quote(invalid.GetValue()), invalid.Unwrap())
	}
	return &usageError{err}
}

func unknownFlag(cmd *cobra.Command, e *pflag.NotExistError) error {
	if short := e.GetSpecifiedShortnames(); short != "" {
		return usage("unknown flag -%s; %s", short, seeHelp(cmd))
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if near, ok := knob.Nearest(e.GetSpecifiedName(), names); ok {
		return usage("unknown flag --%s; did you mean --%s?", e.GetSpecifiedName(), near)
	}
	return usage("unknown flag --%s; %s", e.GetSpecifiedName(), seeHelp(cmd))
}

func seeHelp(cmd *cobra.Command) string {
	return "see " + cmd.CommandPath() + " --help"
}

// unknownCommand names the command of parent that was probably meant.
func unknownCommand(parent *cobra.Command, name string) error {
	if near, ok := knob.Nearest(name, commandNames(parent)); ok {
		return usage("unknown command %s; did you mean %s?", knob.Quote(name), near)
	}
	return usage("unknown command %s; %s", knob.Quote(name), seeHelp(parent))
}

func commandNames(parent *cobra.Command) []string {
	var names []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// noArguments and atMostOne check the number of arguments.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s takes no argument, got %s", cmd.Name(), knob.Quote(args[0]))
	}
	return nil
}

func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage("one scenario at a time, got %s as well", knob.Quote(args[1]))
	}
	return nil
}

func exactlyOne(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage("%s wants the name of a scenario or a file; %s", cmd.Name(), listHint)
	}
	return atMostOne(cmd, args)
}
