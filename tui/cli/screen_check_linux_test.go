//go:build check

package cli

import (
	"cmp"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTwentyStartsAndQuits is field bug P-T15: leaving never hangs, whatever the
// fleet is doing, and the terminal is as it was.
func TestTwentyStartsAndQuits(t *testing.T) {
	var slowest time.Duration
	for i := range 20 {
		term := newTerminal(t, 160, 45)
		before := term.modes(t)
		cmd := program(t)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = term.screen, term.screen, term.screen
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the screen is up", func() bool { return strings.Contains(term.text(), "LIVE") })
		time.Sleep(rand.N(2 * time.Second))
		term.press(t, "qq")
		pressed := time.Now()
		if code := ended(t, cmd); code != exitOK {
			t.Errorf("start %d: code %d", i, code)
		}
		slowest = max(slowest, time.Since(pressed))
		checkLeftBehind(t, term)
		if after := term.modes(t); after != before {
			t.Errorf("start %d: the terminal is not as it was", i)
		}
	}
	t.Logf("the slowest of 20 took %v to leave", slowest)
	if slowest > 2*time.Second {
		t.Errorf("leaving took up to %v", slowest)
	}
}

// TestKeysAreAnsweredInTime presses 200 keys while 1,000 clients run live and
// two outages make herds of them.
func TestKeysAreAnsweredInTime(t *testing.T) {
	const (
		pairs = 100
		pause = 170 * time.Millisecond // 200 keys then take 34 s, two outages
		limit = 50 * time.Millisecond
	)
	term := newTerminal(t, 160, 45)
	cmd := program(t)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = term.screen, term.screen, term.screen
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the screen is up", func() bool { return strings.Contains(term.text(), "LIVE") })
	var took []time.Duration
	for range pairs {
		for _, key := range []struct{ press, shows string }{
			{"?", "pause the run, and let it go on"}, {"q", "Arrivals at the server"},
		} {
			took = append(took, answer(t, term, key.press, key.shows))
			time.Sleep(pause)
		}
	}
	term.press(t, "qq")
	if code := ended(t, cmd); code != exitOK {
		t.Errorf("code %d", code)
	}
	slices.SortFunc(took, cmp.Compare)
	p95, longest := took[len(took)*95/100], took[len(took)-1]
	t.Logf("%d keys: p50 %v, p95 %v, max %v", len(took), took[len(took)/2], p95, longest)
	if p95 > limit {
		t.Errorf("p95 is %v, more than %v", p95, limit)
	}
}

// answer is how long a key takes to have something shown.
func answer(t *testing.T, term *terminal, key, shows string) time.Duration {
	t.Helper()
	mark := term.length()
	term.press(t, key)
	pressed := time.Now()
	for !strings.Contains(term.since(mark), shows) {
		if time.Since(pressed) > patience {
			t.Fatalf("%q is not answered with %q", key, shows)
		}
		time.Sleep(time.Millisecond)
	}
	return time.Since(pressed)
}

// since is what was written after the first n bytes.
func (term *terminal) since(n int) string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return string(term.shown.Bytes()[n:])
}

// length is how many bytes were ever written to the terminal.
func (term *terminal) length() int {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.shown.Len()
}

// TestInTmux is the way of a stranger, in a real terminal emulator.
func TestInTmux(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "tmux")
	tmux := func(args ...string) string {
		cmd := exec.Command("tmux", append([]string{"-f", "/dev/null", "-S", socket}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	pane := func() string { return tmux("capture-pane", "-p", "-S", "-200") }
	shows := func(what string) {
		t.Helper()
		eventually(t, what, func() bool { return strings.Contains(pane(), what) })
	}
	tmux("new-session", "-d", "-x", "160", "-y", "45")
	t.Cleanup(func() { tmux("kill-server") })
	tmux("send-keys", asProgram+"=1 "+self+"; echo code=$?", "Enter")

	shows("LIVE")
	shows("restart began")
	shows("herd: ")
	tmux("send-keys", "l")
	shows("jitter=full")
	for _, size := range [][2]string{{"60", "20"}, {"20", "6"}, {"1", "1"}, {"200", "60"}} {
		tmux("resize-window", "-x", size[0], "-y", size[1])
		time.Sleep(200 * time.Millisecond)
	}
	shows("LIVE")
	tmux("send-keys", "v")
	shows("VIRTUAL")
	tmux("send-keys", "q")
	shows(question)
	tmux("send-keys", "q")
	shows("code=0")
	if text := pane(); !strings.Contains(text, "amplification") {
		t.Errorf("no summary is left: %s", text)
	}
}
