package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"herdscope/engine/metrics"
	"herdscope/tui/theme"
)

// Options say how the screen is shown.
type Options struct {
	// FPS is how many frames per second are drawn, 1 to 60; 0 is DefaultFPS.
	FPS int
	// Input and Output are the terminal; nil is that of the process.
	Input  io.Reader
	Output io.Writer
	// NoMouse leaves the mouse to the terminal.
	NoMouse bool
	// Theme is the look, as theme.Detect finds it.
	Theme theme.Options
}

// DefaultFPS is the usual number of frames per second.
const DefaultFPS = 25

func (o Options) fps() int {
	if o.FPS <= 0 {
		return DefaultFPS
	}
	return min(o.FPS, 60)
}

// Result is what is left when the screen is gone.
type Result struct {
	// Source is the run that was shown last. It is closed, but what it knows
	// can still be read.
	Source Source
	// Snapshot and Status are the last ones of it.
	Snapshot *metrics.Snapshot
	Status   Status
	// Aborted says that the run was not over when the hand left it.
	Aborted bool
}

// closeTimeout is how long the end of a run that is just being opened is
// waited for when the program leaves.
const closeTimeout = 3 * time.Second

// Run shows a run until the hand leaves, the context ends, or the process is
// told to end. It takes first over and closes every run that it had. The
// terminal is as it was before on every way out; a panic in the screen becomes
// an error that wraps tea.ErrProgramPanic.
func Run(ctx context.Context, opener Opener, first Source, o Options) (Result, error) {
	a := NewApp(opener, first, o)
	p := tea.NewProgram(a, o.program(ctx)...)
	stop := quitOnHangup(p)
	defer stop()
	_, err := p.Run()
	return a.end(err)
}

func (o Options) program(ctx context.Context) []tea.ProgramOption {
	os := []tea.ProgramOption{tea.WithContext(ctx), tea.WithAltScreen()}
	if o.Input != nil {
		os = append(os, tea.WithInput(o.Input))
	}
	if o.Output != nil {
		os = append(os, tea.WithOutput(o.Output))
	}
	if !o.NoMouse {
		os = append(os, tea.WithMouseCellMotion())
	}
	return os
}

// quitOnHangup makes the program end in good order when its terminal is gone.
// The framework does so for an interrupt and a request to terminate.
func quitOnHangup(p *tea.Program) (stop func()) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		select {
		case <-hup:
			p.Quit()
		case <-done:
		}
	}()
	return func() {
		signal.Stop(hup)
		close(done)
	}
}

// end closes whatever runs and collects what is left.
func (a *App) end(err error) (Result, error) {
	r := Result{Aborted: a.aborted || (!a.quit && !a.src.Status().Done)}
	closeErr := a.closeAll()
	r.Source, r.Snapshot, r.Status = a.src, a.src.Latest(), a.src.Status()
	if errors.Is(err, tea.ErrProgramPanic) {
		return r, fmt.Errorf("the screen failed: %w", err)
	}
	if err != nil && !errors.Is(err, tea.ErrInterrupted) && !errors.Is(err, context.Canceled) {
		return r, fmt.Errorf("show the screen: %w", err)
	}
	if closeErr != nil {
		return r, fmt.Errorf("end the run: %w", closeErr)
	}
	return r, nil
}

// closeAll closes the run, and the one that is just being opened.
func (a *App) closeAll() error {
	if a.opening == nil {
		return a.src.Close()
	}
	select {
	case <-a.opening.done:
	case <-time.After(closeTimeout):
		return errors.New("a run that was being opened did not end in time")
	}
	if a.opening.src == nil {
		return a.opening.err
	}
	a.src = a.opening.src
	return a.src.Close()
}
