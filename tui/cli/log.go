package cli

import (
	"fmt"
	"io"
	"log"
	"strings"
	"sync"
)

// tail keeps the last lines of what the HTTP layer logs, for the case that the
// program fails: nothing may write to the terminal while a screen is up. It is
// safe for concurrent use.
type tail struct {
	mu    sync.Mutex
	lines []string
}

// tailLines is how many lines a tail keeps.
const tailLines = 20

// Write keeps the lines of p; it never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, strings.TrimRight(string(p), "\n"))
	if extra := len(t.lines) - tailLines; extra > 0 {
		t.lines = append(t.lines[:0], t.lines[extra:]...)
	}
	return len(p), nil
}

// show writes the lines that were kept.
func (t *tail) show(w io.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, line := range t.lines {
		fmt.Fprintln(w, "  "+line)
	}
}

// logger is what the HTTP server and client may complain to.
func (a *app) logger() *log.Logger { return log.New(a.log, "", log.Ltime) }
