package tui

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"herdscope/engine/clock"
	"herdscope/engine/metrics"
	"herdscope/scenarios"
	"herdscope/tui/page/pagetest"
	"herdscope/tui/theme"
)

// fakeSource is a run of the model whose clock only the test moves.
type fakeSource struct {
	mu      sync.Mutex
	run     *pagetest.Run
	snap    *metrics.Snapshot
	status  Status
	watched metrics.Watch
	did     []scenarios.Action
	err     error
	closed  int
}

func newFake(s scenarios.Scenario, live bool) *fakeSource {
	f := &fakeSource{run: pagetest.New(s), status: Status{Live: live, Seed: s.Seed, Speed: 1}}
	f.snap = f.run.Snapshot()
	return f
}

// advance moves the run and publishes a snapshot.
func (f *fakeSource) advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.run.Advance(f.run.Now().Add(d))
	f.status.Elapsed = f.run.Now()
	f.snap = f.run.Snapshot()
}

func (f *fakeSource) Scenario() scenarios.Scenario { return f.run.Scenario() }

func (f *fakeSource) Status() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status
}

func (f *fakeSource) Latest() *metrics.Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snap
}

func (f *fakeSource) Watch(w metrics.Watch) { f.watched = w; f.run.Watch(w) }

func (f *fakeSource) Do(a scenarios.Action) error {
	f.did = append(f.did, a)
	if f.err != nil {
		return f.err
	}
	return f.run.Do(a)
}

func (f *fakeSource) Undo() (scenarios.Action, bool) { return f.run.Undo() }

func (f *fakeSource) Pause(p bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status.Paused = p
}

func (f *fakeSource) Save() (string, error) { return "restart-1.yaml", f.err }

func (f *fakeSource) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed++
	f.status.Done = true
	return nil
}

// fakeOpener opens fakes and remembers them.
type fakeOpener struct {
	opened []*fakeSource
	err    error
	panics bool
}

func (o *fakeOpener) Open(s scenarios.Scenario, live bool) (Source, error) {
	if o.panics {
		panic("no")
	}
	if o.err != nil {
		return nil, o.err
	}
	f := newFake(s, live)
	o.opened = append(o.opened, f)
	return f, nil
}

func (o *fakeOpener) Library() []scenarios.Scenario {
	return []scenarios.Scenario{pagetest.Scenario(), pagetest.Gateway()}
}

var plain = Options{Theme: theme.Options{Profile: termenv.Ascii}}

// screen is an App with a fake run of some seconds, at 120x35.
type screen struct {
	*App
	t    *testing.T
	src  *fakeSource
	open *fakeOpener
}

func newScreen(t *testing.T) *screen {
	t.Helper()
	src, open := newFake(pagetest.Scenario(), true), &fakeOpener{}
	src.advance(6 * time.Second)
	s := &screen{App: NewApp(open, src, plain), t: t, src: src, open: open}
	s.Update(tea.WindowSizeMsg{Width: 120, Height: 35})
	s.Update(frameMsg{})
	return s
}

// press sends keys, and what their commands answer.
func (s *screen) press(names ...string) (last tea.Msg) {
	for _, n := range names {
		_, cmd := s.Update(pagetest.Key(n))
		last = nil
		if cmd != nil {
			last = cmd()
			s.Update(last)
		}
	}
	return last
}

func (s *screen) shows(text string) {
	s.t.Helper()
	if got := s.View(); !strings.Contains(got, text) {
		s.t.Errorf("the screen does not show %q:\n%s", text, got)
	}
}

func (s *screen) hides(text string) {
	s.t.Helper()
	if got := s.View(); strings.Contains(got, text) {
		s.t.Errorf("the screen shows %q:\n%s", text, got)
	}
}

func isQuit(m tea.Msg) bool { _, ok := m.(tea.QuitMsg); return ok }

func TestQuitAsksOnce(t *testing.T) {
	for _, key := range []string{"q", "ctrl+c"} {
		s := newScreen(t)
		if isQuit(s.press(key)) {
			t.Fatalf("%s leaves at once while the run goes on", key)
		}
		s.shows("quit?")
		if s.press("x") != nil || s.overlay != nil {
			t.Error("the key that stays does something else as well")
		}
		s.hides("quit?")
		if !isQuit(s.press(key, key)) || !s.aborted {
			t.Errorf("%s twice does not leave, or is no abort", key)
		}
	}
}

func TestQuitWhenDone(t *testing.T) {
	s := newScreen(t)
	s.src.status.Done = true
	if !isQuit(s.press("q")) || s.aborted {
		t.Error("q does not leave at once when the run is over")
	}
}

func TestQuitUnderAnOverlayAndWithoutRoom(t *testing.T) {
	s := newScreen(t)
	if !isQuit(s.press(":", "ctrl+c", "ctrl+c")) {
		t.Error("ctrl+c does not leave under the palette")
	}
	s = newScreen(t)
	s.Update(tea.WindowSizeMsg{Width: 5, Height: 1})
	s.press("q")
	s.shows("quit?")
	if !isQuit(s.press("q")) {
		t.Error("q does not leave a screen of 5x1")
	}
}

func TestFreezeKeepsTheFrame(t *testing.T) {
	s := newScreen(t)
	s.press("f")
	s.shows("FROZEN")
	before := s.View()
	s.src.advance(3 * time.Second)
	s.Update(frameMsg{})
	if got := s.View(); got != before {
		t.Errorf("the frozen view changed:\n%s", got)
	}
	s.press("f")
	s.hides("FROZEN")
	s.shows("00:09.0")
}

func TestEscGoesUpOneLevel(t *testing.T) {
	s := newScreen(t)
	s.press("f", "z", "?")
	s.press("esc")
	if s.overlay != nil || !s.page().Alone(120, 32) || !s.frozen {
		t.Fatal("the first esc closes more or less than the help")
	}
	s.press("esc")
	if s.page().Alone(120, 32) || !s.frozen {
		t.Fatal("the second esc does not bring the panels back, or does more")
	}
	s.press("esc")
	if s.frozen {
		t.Error("the third esc does not end the frozen view")
	}
	if isQuit(s.press("esc", "esc")) {
		t.Error("esc quits")
	}
}

func TestPause(t *testing.T) {
	s := newScreen(t)
	s.press("space")
	s.shows("PAUSED")
	s.press("space")
	s.hides("PAUSED")
	s.shows("running")
}

func TestTuneActsAtOnce(t *testing.T) {
	s := newScreen(t)
	s.press("l")
	if len(s.src.did) != 1 || s.src.did[0].Knob != s.view.Knobs[0].Name {
		t.Fatalf("did %+v", s.src.did)
	}
	s.shows("‹ full ›")
	s.Update(frameMsg{})
	s.src.advance(100 * time.Millisecond)
	s.Update(frameMsg{})
	s.shows("▲retry.jitter = full")
	s.press("u")
	s.shows("‹ none ›")
	s.shows("undone: retry.jitter")
	s.press("u")
	s.shows("nothing to undo")
}

func TestErrorsAreShown(t *testing.T) {
	s := newScreen(t)
	s.src.err = errors.New("no slots to spare")
	for _, key := range []string{"l", "s"} {
		s.press(key)
		s.shows("no slots to spare")
	}
	s.press("j")
	s.hides("no slots to spare")
}

func TestPagesAndSpans(t *testing.T) {
	s := newScreen(t)
	s.press("2")
	s.shows("[2 Herd]")
	if s.src.watched.RasterRows == 0 {
		t.Error("the herd page does not watch the raster")
	}
	s.press("tab")
	s.shows("[1 Overview]")
	if s.src.watched.RasterRows != 0 {
		t.Error("the overview watches the raster")
	}
	s.press("shift+tab")
	s.shows("[2 Herd]")
	span := s.src.watched.Span
	s.press("-")
	if s.src.watched.Span <= span {
		t.Errorf("- does not show more time: %v after %v", s.src.watched.Span, span)
	}
	s.press("+", "+")
	if s.src.watched.Span >= span {
		t.Errorf("+ does not show less time: %v after %v", s.src.watched.Span, span)
	}
	s.press("a")
	if s.src.watched.Span != span {
		t.Errorf("a does not show the usual time: %v, not %v", s.src.watched.Span, span)
	}
}

func TestOpen(t *testing.T) {
	s := newScreen(t)
	s.press("o", "j", "enter")
	if len(s.open.opened) != 1 || s.src.closed != 1 {
		t.Fatalf("opened %d runs, closed the first %d times", len(s.open.opened), s.src.closed)
	}
	s.shows("gateway-down")
	s.press("v")
	s.shows("VIRTUAL")
	s.press("r")
	s.shows("VIRTUAL")
	if n := len(s.open.opened); n != 3 || s.open.opened[1].closed != 1 || s.open.opened[2].closed != 0 {
		t.Errorf("%d runs opened, or not all but the last closed", n)
	}
}

func TestOpeningIsShown(t *testing.T) {
	s := newScreen(t)
	_, cmd := s.Update(pagetest.Key("r"))
	s.shows("opening restart")
	s.Update(pagetest.Key("l"))
	s.shows("not while another run is being opened")
	if len(s.src.did) != 0 {
		t.Error("a run that is ending was changed")
	}
	s.Update(pagetest.Key("r"))
	s.shows("already opening")
	s.Update(cmd())
	s.hides("opening")
}

func TestOpenFails(t *testing.T) {
	for name, o := range map[string]*fakeOpener{
		"port 80: in use": {err: errors.New("port 80: in use")}, "panic: no": {panics: true},
	} {
		s := newScreen(t)
		s.App.opener = o
		s.press("r")
		s.shows(name)
		if isQuit(s.press("q")) != true {
			t.Error("a run that could not be opened is asked about")
		}
	}
}

func TestSaveTellsThePath(t *testing.T) {
	s := newScreen(t)
	s.press("s")
	s.shows("restart-1.yaml")
}

func TestFaultMenuStaysOpen(t *testing.T) {
	s := newScreen(t)
	s.press("x", "n")
	if s.overlay == nil || len(s.src.did) != 1 || s.src.did[0].Fault != "outage" {
		t.Errorf("did %+v", s.src.did)
	}
}

func TestPromptFromEnter(t *testing.T) {
	s := newScreen(t)
	s.press(":")
	s.press(strings.Split("set retry.base", "")...)
	s.press("enter", "2", "s", "enter")
	if len(s.src.did) != 1 || s.src.did[0].Knob != "retry.base" || s.src.did[0].Value != int64(2*time.Second) {
		t.Errorf("did %+v", s.src.did)
	}
	if k, _ := s.view.Tune.Selected(s.view); k.Name != "retry.base" {
		t.Errorf("%s is selected", k.Name)
	}
}

func TestSuspendPausesTheRun(t *testing.T) {
	s := newScreen(t)
	if _, ok := s.press("ctrl+z").(tea.SuspendMsg); !ok {
		t.Fatal("ctrl+z does not suspend")
	}
	if !s.src.status.Paused {
		t.Error("the run goes on while suspended")
	}
	s.Update(tea.ResumeMsg{})
	if s.src.status.Paused {
		t.Error("the run stays paused after the suspension")
	}
	s.press("space", "ctrl+z")
	s.Update(tea.ResumeMsg{})
	if !s.src.status.Paused {
		t.Error("a suspension ends a pause that the hand made")
	}
}

func TestMouse(t *testing.T) {
	s := newScreen(t)
	s.View()
	s.Update(tea.MouseMsg{X: s.tabs[1].from + 1, Y: 1, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
	s.shows("[2 Herd]")
	s.Update(tea.MouseMsg{Button: tea.MouseButtonWheelDown, Action: tea.MouseActionPress})
	if k, _ := s.view.Tune.Selected(s.view); k.Name != s.view.Knobs[1].Name {
		t.Errorf("the wheel selects %s", k.Name)
	}
	if fmt.Sprintf("%T", s.press("m")) != fmt.Sprintf("%T", tea.DisableMouse()) {
		t.Error("m does not give the mouse away")
	}
	if fmt.Sprintf("%T", s.press("m")) != fmt.Sprintf("%T", tea.EnableMouseCellMotion()) {
		t.Error("m does not take the mouse back")
	}
}

func TestUnknownKeysDoNothing(t *testing.T) {
	s := newScreen(t)
	before := s.View()
	for _, k := range []string{"9", "Z", "ß", "ctrl+w", "0", "漢"} {
		if s.press(k) != nil || s.View() != before {
			t.Errorf("%q does something", k)
		}
	}
	s.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("q"), Paste: true})
	s.hides("quit?")
}

// Every binding of a page does something that can be told from outside: it asks
// for something, or changes the screen.
func TestEveryBindingDoesSomething(t *testing.T) {
	for _, b := range newScreen(t).keys.Commands() {
		for _, k := range b.Keys() {
			s := newScreen(t)
			s.press("2", "f", "-", "j", "j", "l", "f", "f")
			if b.Help().Desc == "Herd" {
				s.press("1")
			}
			before, did := s.View(), len(s.src.did)
			msg := s.press(k)
			if s.View() == before && msg == nil && len(s.src.did) == did {
				t.Errorf("%q (%s) does nothing", k, b.Help().Desc)
			}
		}
	}
}

// A terminal hands keys that come fast over as one.
func TestKeysThatComeTogether(t *testing.T) {
	s := newScreen(t)
	s.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("jjl")})
	if len(s.src.did) != 1 || s.src.did[0].Knob != s.view.Knobs[2].Name {
		t.Errorf("did %+v", s.src.did)
	}
	s.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("qq")})
	if !s.quit {
		t.Error("qq does not leave")
	}
}

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
