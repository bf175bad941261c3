package cli

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal: what a person sits at, without the person.
type terminal struct {
	keyboard *os.File // what is typed goes in here
	screen   *os.File // the program's side

	mu    sync.Mutex
	shown bytes.Buffer
	gone  chan struct{} // closed when nothing more can be shown
}

// newTerminal opens a terminal of the given size.
func newTerminal(t *testing.T, columns, rows uint16) *terminal {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	fd := int(keyboard.Fd())
	number, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows}); err != nil {
		t.Fatal(err)
	}
	term := &terminal{keyboard: keyboard, screen: screen, gone: make(chan struct{})}
	t.Cleanup(func() {
		screen.Close()
		keyboard.Close()
	})
	go term.watch()
	return term
}

// watch keeps what is shown, until all programs have left the terminal.
func (term *terminal) watch() {
	defer close(term.gone)
	buf := make([]byte, 1<<16)
	for {
		n, err := term.keyboard.Read(buf)
		term.mu.Lock()
		term.shown.Write(buf[:n])
		term.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// text is all that was ever written to the terminal.
func (term *terminal) text() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.shown.String()
}

// press types keys.
func (term *terminal) press(t *testing.T, keys string) {
	t.Helper()
	if _, err := term.keyboard.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// modes is the terminal's settings: echo, line buffering, signals.
func (term *terminal) modes(t *testing.T) unix.Termios {
	t.Helper()
	m, err := unix.IoctlGetTermios(int(term.screen.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *m
}
