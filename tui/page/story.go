package page

import (
	"fmt"
	"strings"
	"time"

	"herdscope/engine/metrics"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// noteBin is the width of the bins in which herds are counted.
const noteBin = 100 * time.Millisecond

// drawStory tells what happened, the newest at the foot.
func drawStory(a widget.Area, v View) {
	in := widget.Panel(a, "Story", "")
	notes := notable(v.Snap)
	if len(notes) == 0 {
		in.TextCut(0, 0, in.W, "nothing notable so far", theme.Of(theme.Dim))
		return
	}
	notes = notes[max(len(notes)-in.H, 0):]
	for y, n := range notes {
		in.TextRight(8, y, widget.Moment(n.At), theme.Of(theme.Dim))
		text, role := Sentence(n)
		short, _, _ := strings.Cut(text, " (")
		drawLongest(in.Sub(10, y, in.W-10, 1), role, text, short)
	}
}

// notable is the notes without those of less than a fiftieth of the breakers,
// which would push what matters off a small panel.
func notable(s *metrics.Snapshot) []metrics.Note {
	notes := make([]metrics.Note, 0, len(s.Notes))
	for _, n := range s.Notes {
		if n.Kind != metrics.NoteBreakersOpened || n.N*50 >= s.Breakers.Total {
			notes = append(notes, n)
		}
	}
	return notes
}

// Sentence says what a note tells, and the role that fits it.
func Sentence(n metrics.Note) (string, theme.Role) {
	switch n.Kind {
	case metrics.NoteFaultBegan:
		return n.Text + " began", theme.Bad
	case metrics.NoteFaultEnded:
		if n.N == 0 {
			return n.Text + " ended; it hit nobody", theme.Dim
		}
		return fmt.Sprintf("%s ended; it hit %s attempts", n.Text, widget.Count(n.N)), theme.Good
	case metrics.NoteHerd:
		text := fmt.Sprintf("herd: %s attempts in %s", widget.Count(n.N), widget.Span(noteBin))
		if n.Times > 0 {
			text += fmt.Sprintf(" (%s the mean before)", widget.Times(n.Times))
		}
		return text, theme.Retry
	case metrics.NoteBreakersOpened:
		if n.N == 1 {
			return "a breaker opened", theme.Bad
		}
		return fmt.Sprintf("%s breakers opened within %s", widget.Count(n.N), widget.Span(n.Delay)), theme.Bad
	case metrics.NoteStarving:
		return fmt.Sprintf("%s starves; its oldest has waited %s", n.Text, widget.Span(n.Delay)), theme.Bad
	case metrics.NoteFed:
		return fmt.Sprintf("%s is served again, after starving %s", n.Text, widget.Span(n.Delay)), theme.Good
	case metrics.NoteRecovered:
		return fmt.Sprintf("recovered %s after the end of %s", widget.Span(n.Delay), n.Text), theme.Good
	}
	return "changed: " + n.Text, theme.Accent
}
