package tui

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"herdscope/engine/clock"
	"herdscope/tui/page/pagetest"
	"herdscope/tui/theme"
)

func TestNotices(t *testing.T) {
	s := newScreen(t)
	s.src.status.Notice = "sender 12 % behind schedule: CPU"
	s.src.status.Speed = 0.42
	_, body := s.bodySize()
	s.Update(frameMsg{})
	s.shows("! sender 12 % behind schedule: CPU")
	s.shows("×0.42")
	if _, now := s.bodySize(); now != body {
		t.Error("the page jumps under a notice that has room beside the tabs")
	}
	s.src.status.Err = errors.New(strings.Repeat("out of sockets ", 9))
	s.Update(frameMsg{})
	s.shows("! the run ended early: out of sockets")
	checkFrame(t, s.View(), 120, 35)
}

// A narrow header says in whole words what is most needed.
func TestNarrowHeader(t *testing.T) {
	s := newScreen(t)
	s.Update(tea.WindowSizeMsg{Width: 40, Height: 12})
	s.press("space", "f")
	s.shows(" LIVE restart")
	s.shows(" FROZEN, PAUSED ")
	s.src.status.Live = false
	s.press("f")
	s.shows(" VIRTUAL restart ")
}

// However narrow the screen, the tabs name the page that is on it.
func TestTabsNameThePageOnANarrowScreen(t *testing.T) {
	s := newScreen(t)
	s.Update(tea.WindowSizeMsg{Width: 40, Height: 12})
	for _, want := range []string{"[1 Overview]  2", "[3 Breakers]  4", "[5 Latency]"} {
		s.press(want[1:2])
		s.shows(want)
	}
}

func TestNothingChangesWithoutNews(t *testing.T) {
	s := newScreen(t)
	s.View()
	for range 3 {
		s.Update(frameMsg{})
		if s.stale {
			t.Fatal("a frame without news is drawn again")
		}
	}
	s.src.status.Elapsed += clock.Instant(10 * time.Millisecond)
	s.Update(frameMsg{})
	if s.stale {
		t.Error("a change that is not shown is drawn")
	}
}

// Before the first size, and at every size, the frame is exact.
func TestEverySize(t *testing.T) {
	src, open := newFake(pagetest.Gateway(), true), &fakeOpener{}
	src.advance(34 * time.Second)
	src.status.Notice = "view 3 s behind"
	a := NewApp(open, src, plain)
	if got := a.View(); got != "" {
		t.Errorf("before the first size: %q", got)
	}
	for w := 0; w <= 300; w += 1 + w/8 {
		for h := 0; h <= 80; h += 1 + h/8 {
			a.Update(tea.WindowSizeMsg{Width: w, Height: h})
			a.Update(frameMsg{})
			checkFrame(t, a.View(), w, h)
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
}

// After any series of sizes the frame is that of a fresh screen.
func TestResizeLeavesNothing(t *testing.T) {
	s := newScreen(t)
	for _, size := range [][2]int{{200, 50}, {20, 5}, {80, 24}, {1, 1}, {300, 80}, {120, 35}} {
		s.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		s.Update(frameMsg{})
		s.View()
	}
	s.src.advance(100 * time.Millisecond)
	s.Update(frameMsg{})
	if got, want := s.View(), NewApp(s.open, s.src, plain); got != fresh(want) {
		t.Errorf("left over:\n%s", got)
	}
}

func fresh(a *App) string {
	a.Update(tea.WindowSizeMsg{Width: 120, Height: 35})
	a.Update(frameMsg{})
	return a.View()
}

func BenchmarkView(b *testing.B) {
	for _, name := range []string{"1", "2"} {
		b.Run(name, func(b *testing.B) {
			src := newFake(pagetest.Gateway(), true)
			a := NewApp(&fakeOpener{}, src, Options{Theme: theme.Options{Profile: termenv.TrueColor}})
			a.Update(tea.WindowSizeMsg{Width: 200, Height: 50})
			a.Update(pagetest.Key(name))
			src.advance(34 * time.Second)
			a.Update(frameMsg{})
			b.ReportAllocs()
			for b.Loop() {
				a.stale = true
				_ = a.View()
			}
		})
	}
}

func BenchmarkFrameTick(b *testing.B) {
	src := newFake(pagetest.Gateway(), true)
	a := NewApp(&fakeOpener{}, src, plain)
	a.Update(tea.WindowSizeMsg{Width: 200, Height: 50})
	b.ReportAllocs()
	for b.Loop() {
		src.status.Elapsed += clock.Instant(time.Second)
		a.Update(frameMsg{})
	}
}
