package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/metrics"
	"herdscope/scenarios/run"
)

// at is a run of a hundred seconds that has come to second s.
func at(s int) run.Progress {
	return run.Progress{
		At: clock.Instant(time.Duration(s) * time.Second), Until: clock.Instant(100 * time.Second),
		Snapshot: &metrics.Snapshot{Requests: 12, Attempts: 34, InFlight: 5},
	}
}

// clockwork is a wall clock for progress, moved by hand.
type clockwork struct{ t time.Time }

func (c *clockwork) now() time.Time { return c.t }

func TestProgressLines(t *testing.T) {
	var out bytes.Buffer
	wall := &clockwork{}
	p := newProgress(&out)
	p.now, p.spoke = wall.now, wall.now()
	for s := range 101 {
		wall.t = wall.t.Add(time.Second)
		p.show(at(s))
	}
	p.done()
	text := out.String()
	if n := strings.Count(text, "\n"); n < 9 || n > 11 {
		t.Errorf("%d lines for a run of 100 s:\n%s", n, text)
	}
	if strings.ContainsAny(text, "\r\x1b") {
		t.Errorf("control characters in %q", text)
	}
}

func TestProgressOfAQuickRunIsSilent(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out)
	wall := &clockwork{}
	p.now, p.spoke = wall.now, wall.now()
	for s := range 101 {
		p.show(at(s))
	}
	if out.Len() > 0 {
		t.Errorf("%q", out.String())
	}
}

func TestProgressOfASlowRunIsAlive(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out)
	wall := &clockwork{}
	p.now, p.spoke = wall.now, wall.now()
	for range 600 { // ten minutes without coming further
		wall.t = wall.t.Add(time.Second)
		p.show(at(1))
	}
	if n := strings.Count(out.String(), "\n"); n != 10 {
		t.Errorf("%d lines in ten minutes", n)
	}
}

func TestProgressBarFits(t *testing.T) {
	for _, width := range []int{1, 2, 10, 40, 80, 200} {
		var out bytes.Buffer
		p := newProgress(&out)
		p.width = func() int { return width }
		for _, s := range []int{0, 50, 100, 120} {
			p.show(at(s))
		}
		p.show(run.Progress{})
		p.done()
		for part := range strings.SplitSeq(out.String(), "\r") {
			if len(part) > width-1 {
				t.Errorf("%d columns of %d: %q", len(part), width, part)
			}
		}
		if strings.Contains(out.String(), "\n") {
			t.Errorf("the bar breaks the line: %q", out.String())
		}
	}
}
