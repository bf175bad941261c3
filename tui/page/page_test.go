package page_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/muesli/termenv"

	"herdscope/engine/metrics"
	"herdscope/scenarios"
	"herdscope/tui/page"
	"herdscope/tui/page/pagetest"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

var sizes = []struct{ w, h int }{{200, 50}, {160, 45}, {120, 35}, {80, 24}, {40, 12}}

var (
	plain = theme.New(theme.Options{Profile: termenv.Ascii})
	color = theme.New(theme.Options{Profile: termenv.TrueColor})
	ascii = theme.New(theme.Options{Profile: termenv.Ascii, ASCII: true})
)

// frame draws a page on w by h cells.
func frame(t *theme.Theme, w, h int, p page.Page, v page.View) string {
	c := widget.NewCanvas(t)
	c.Reset(w, h)
	p.Draw(c.Area(), v)
	return c.String()
}

// viewFor is a view of a run with what p watches at that size.
func viewFor(p page.Page, w, h int, s scenarios.Scenario, d time.Duration, tuned bool) page.View {
	return pagetest.View(s, d, tuned, func(v page.View) metrics.Watch { return p.Watch(w, h, v) })
}

var runs = []struct {
	name  string
	run   func() scenarios.Scenario
	after time.Duration
	tuned bool
}{
	{"start", pagetest.Scenario, 0, false},
	{"restart", pagetest.Scenario, 14 * time.Second, false},
	{"tuned", pagetest.Scenario, 34 * time.Second, true},
	{"gateway", pagetest.Gateway, 14 * time.Second, false},
}

func TestPages(t *testing.T) {
	for _, size := range sizes {
		for _, r := range runs {
			for _, p := range page.Pages() {
				// The frame takes three rows.
				w, h := size.w, size.h-3
				t.Run(fmt.Sprintf("%dx%d/%s/%s", size.w, size.h, p.Title(), r.name), func(t *testing.T) {
					v := viewFor(p, w, h, r.run(), r.after, r.tuned)
					got := frame(plain, w, h, p, v)
					if strings.Contains(got, "\x1b") {
						t.Error("escapes without colour")
					}
					golden.RequireEqual(t, []byte(got))
				})
			}
		}
	}
}

func TestColoredPage(t *testing.T) {
	p := page.Pages()[0]
	v := viewFor(p, 120, 32, pagetest.Gateway(), 14*time.Second, true)
	golden.RequireEqual(t, []byte(frame(color, 120, 32, p, v)))
}

func TestASCIIIsSevenBit(t *testing.T) {
	for _, p := range page.Pages() {
		for range 9 {
			v := viewFor(p, 120, 32, pagetest.Gateway(), 34*time.Second, true)
			for i, r := range frame(ascii, 120, 32, p, v) {
				if r >= 0x80 {
					t.Fatalf("%s: %q at byte %d", p.Title(), r, i)
				}
			}
			p.NextPanel()
		}
	}
}

// Whatever the size, a page draws within it and shows no number that is none.
func TestEverySize(t *testing.T) {
	for _, p := range page.Pages() {
		v := viewFor(p, 120, 32, pagetest.Gateway(), 34*time.Second, true)
		empty := page.View{Snap: &metrics.Snapshot{}, Tune: &page.Tune{}, Span: page.DefaultSpan}
		for w := 0; w <= 200; w += 1 + w/6 {
			for h := 0; h <= 60; h += 1 + h/6 {
				for _, v := range []page.View{v, empty} {
					checkFrame(t, frame(color, w, h, p, v), w, h)
				}
			}
		}
	}
}

func checkFrame(t *testing.T, got string, w, h int) {
	t.Helper()
	lines := strings.Split(got, "\n")
	if len(lines) != max(h, 1) {
		t.Fatalf("%dx%d: %d lines", w, h, len(lines))
	}
	for y, l := range lines {
		if h > 0 && ansi.StringWidth(l) != w {
			t.Fatalf("%dx%d: line %d is %d wide", w, h, y, ansi.StringWidth(l))
		}
	}
	if text := ansi.Strip(got); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Fatalf("%dx%d: shows a number that is none:\n%s", w, h, text)
	}
}

// Each panel can be had alone, and all of them come back.
func TestPanelsOneByOne(t *testing.T) {
	for _, p := range page.Pages() {
		v := viewFor(p, 120, 32, pagetest.Gateway(), 14*time.Second, false)
		seen := map[string]bool{}
		if p.AllPanels() {
			t.Errorf("%s: begins with one panel alone", p.Title())
		}
		all := frame(plain, 120, 32, p, v)
		for p.NextPanel(); p.Alone(120, 32); p.NextPanel() {
			one := frame(plain, 120, 32, p, v)
			if seen[one] || one == all {
				t.Errorf("%s: a panel comes twice", p.Title())
			}
			seen[one] = true
		}
		p.NextPanel()
		if !p.AllPanels() || frame(plain, 120, 32, p, v) != all {
			t.Errorf("%s: the panels do not come back", p.Title())
		}
	}
}

// The tuning panel and the headline numbers are there on every page, since both
// are what a change is judged by.
func TestWhatIsOnEveryPage(t *testing.T) {
	for _, p := range page.Pages() {
		v := viewFor(p, 120, 32, pagetest.Scenario(), 34*time.Second, true)
		got := frame(plain, 120, 32, p, v)
		for _, want := range []string{"Tune", "peak/mean", "was", "▲", "retry.jitter = full", "outage"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", p.Title(), want, got)
			}
		}
	}
}

func TestNotEnoughIsSaid(t *testing.T) {
	v := page.View{
		Snap: &metrics.Snapshot{Clients: 3, Now: metrics.Headline{Count: 99, P50: time.Second}},
		Tune: &page.Tune{}, Span: page.DefaultSpan,
	}
	got := frame(plain, 120, 32, page.Pages()[0], v)
	for _, want := range []string{"n<100", "peak/mean", " - "} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// contains says which of some texts a frame lacks.
func contains(t *testing.T, got string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
