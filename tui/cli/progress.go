package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"

	"herdscope/engine/wire"
	"herdscope/scenarios/run"
)

// progress shows how far a run without a screen has come: a bar on a terminal,
// and elsewhere a plain line now and then that does no harm in a log.
type progress struct {
	w     io.Writer
	width func() int // columns of the terminal; nil if there is none
	now   func() time.Time

	shown  bool      // a bar stands on the current line
	spoke  time.Time // when the last line was written
	tenths int       // how many tenths were done then
}

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, now: time.Now}
	if f, ok := w.(*os.File); ok && isTerminal(f) {
		p.width = func() int { return columns(f) }
	}
	p.spoke = p.now()
	return p
}

// columns is the width of a terminal; 80 if it does not say.
func columns(f *os.File) int {
	width, _, err := term.GetSize(f.Fd())
	if err != nil || width <= 0 {
		return 80
	}
	return width
}

// show shows the present state. It is called about ten times a second.
func (p *progress) show(s run.Progress) {
	if p.width != nil {
		p.bar(s)
		return
	}
	p.line(s)
}

// done takes the bar off the terminal.
func (p *progress) done() {
	if p.shown {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.width()-1))
	}
}

// barCells is the length of the bar.
const barCells = 24

func (p *progress) bar(s run.Progress) {
	full := int(fraction(s) * barCells)
	text := fmt.Sprintf("[%s%s] %s", strings.Repeat("#", full), strings.Repeat("-", barCells-full), state(s))
	limit := p.width() - 1 // the last column would wrap on some terminals
	fmt.Fprintf(p.w, "\r%-*.*s", limit, limit, text)
	p.shown = true
}

// Lines come at each tenth, but not in quick succession, and not too far apart
// either, since some watchdogs take silence for death.
const (
	shortestGap = 5 * time.Second
	longestGap  = time.Minute
)

func (p *progress) line(s run.Progress) {
	tenths := int(10 * fraction(s))
	gap := p.now().Sub(p.spoke)
	if gap < shortestGap || tenths == p.tenths && gap < longestGap {
		return
	}
	p.spoke, p.tenths = p.now(), tenths
	fmt.Fprintln(p.w, state(s))
}

func fraction(s run.Progress) float64 {
	if s.Until <= 0 {
		return 0
	}
	return min(1, max(0, s.At.Seconds()/s.Until.Seconds()))
}

func state(s run.Progress) string {
	if s.At > s.Until && s.Snapshot != nil {
		return fmt.Sprintf("100 %%  %.1f s  draining: %d requests are still under way",
			s.At.Seconds(), s.Snapshot.Outcomes[wire.Unfinished])
	}
	text := fmt.Sprintf("%3.0f %%  %.1f of %.1f s", 100*fraction(s), s.At.Seconds(), s.Until.Seconds())
	if s.Snapshot == nil {
		return text
	}
	return text + fmt.Sprintf("  %d requests  %d attempts  %d in flight",
		s.Snapshot.Requests, s.Snapshot.Attempts, s.Snapshot.InFlight)
}
