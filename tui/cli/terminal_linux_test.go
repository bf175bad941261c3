package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDashboardNeedsATerminal is field bug P-T6: without a terminal there is no
// crash and no escape sequence, but one line that names the way to go.
func TestDashboardNeedsATerminal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out")
	for name, script := range map[string]string{
		"no input":                  `exec "$0" </dev/null`,
		"no input, a new session":   `exec setsid -w "$0" </dev/null`,
		"closed input":              `exec "$0" <&-`,
		"closed output":             `exec "$0" >&-`,
		"into a file":               `exec "$0" >` + file,
		"into a pipe":               `{ "$0"; echo $? >` + file + `; } | cat; exit $(cat ` + file + `)`,
		"from a pipe":               `echo q | "$0"`,
		"TERM not set":              `unset TERM; exec "$0"`,
		"TERM empty":                `TERM= exec "$0"`,
		"TERM dumb":                 `TERM=dumb exec "$0"`,
		"no input, with a scenario": `exec "$0" rate-limit --virtual </dev/null`,
	} {
		t.Run(name, func(t *testing.T) {
			term := newTerminal(t, 80, 24)
			cmd := shell(t, script)
			var complaint bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = term.screen, term.screen, &complaint
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if code := ended(t, cmd); code != exitUsage {
				t.Errorf("code %d, want %d", code, exitUsage)
			}
			line := complaint.String()
			if strings.Count(line, "\n") != 1 || !strings.Contains(line, "herdscope run ") || strings.Contains(line, "\x1b") {
				t.Errorf("stderr is %q", line)
			}
			if text := term.text(); text != "" {
				t.Errorf("the terminal shows %q", text)
			}
		})
	}
}

// TestDashboardComesAndGoes starts the screen, leaves it, and looks at what is
// left: the summary, and the terminal as it was.
func TestDashboardComesAndGoes(t *testing.T) {
	term := newTerminal(t, 120, 40)
	before := term.modes(t)
	cmd := program(t, "restart", "--virtual", "--no-color")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = term.screen, term.screen, term.screen
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the screen shows the run", func() bool { return strings.Contains(term.text(), "VIRTUAL") })
	term.press(t, "q")
	eventually(t, "the screen asks", func() bool { return strings.Contains(term.text(), question) })
	term.press(t, "q")
	if code := ended(t, cmd); code != exitOK {
		t.Errorf("code %d", code)
	}
	checkLeftBehind(t, term)
	if after := term.modes(t); after != before {
		t.Errorf("the terminal is not as it was: %+v, before %+v", after, before)
	}
}

func TestDashboardEndedByASignal(t *testing.T) {
	term := newTerminal(t, 120, 40)
	before := term.modes(t)
	cmd := program(t, "restart", "--virtual")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = term.screen, term.screen, term.screen
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the screen shows the run", func() bool { return strings.Contains(term.text(), "VIRTUAL") })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := ended(t, cmd); code != exitAborted {
		t.Errorf("code %d, want %d", code, exitAborted)
	}
	checkLeftBehind(t, term)
	if after := term.modes(t); after != before {
		t.Errorf("the terminal is not as it was: %+v, before %+v", after, before)
	}
}

// question is what the screen asks before it leaves a run that goes on.
const question = "q again"

// The sequences that enter and leave the alternate screen, and show the cursor.
const (
	enterAlternate = "\x1b[?1049h"
	leaveAlternate = "\x1b[?1049l"
	showCursor     = "\x1b[?25h"
)

// checkLeftBehind wants the summary after the screen is gone, in plain text.
func checkLeftBehind(t *testing.T, term *terminal) {
	t.Helper()
	eventually(t, "the summary is left", func() bool { return strings.Contains(term.text(), "workers busy") })
	text := term.text()
	if !strings.Contains(text, enterAlternate) {
		t.Error("the screen was never up")
	}
	_, after, left := strings.Cut(text, leaveAlternate)
	if !left || !strings.Contains(after, "amplification") {
		t.Errorf("no summary after the screen: %q", after)
	}
	if !strings.Contains(text[strings.LastIndex(text, enterAlternate):], showCursor) {
		t.Error("the cursor stays hidden")
	}
}

// TestProgressBarOnATerminal: the bar goes to stderr and is taken away.
func TestProgressBarOnATerminal(t *testing.T) {
	term := newTerminal(t, 60, 24)
	cmd := program(t, "run", "restart", "--set", "fleet.clients=5",
		"--set", "server.service.mean=10ms", "--duration", "500ms", "--json")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, term.screen
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if code := ended(t, cmd); code != exitOK {
		t.Errorf("code %d", code)
	}
	eventually(t, "the bar goes", func() bool { return strings.HasSuffix(term.text(), " \r") })
	if text := term.text(); !strings.Contains(text, "#") || strings.Contains(text, "\n") {
		t.Errorf("no bar, or one that breaks the line: %q", text)
	}
	if !bytes.HasPrefix(out.Bytes(), []byte("{\n")) || !bytes.HasSuffix(out.Bytes(), []byte("\n}\n")) {
		t.Errorf("not the JSON alone: %q", out.String())
	}
}
