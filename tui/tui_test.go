package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"herdscope/tui/page/pagetest"
)

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

// Ageing is one key on any page, is a change like any other, and can be undone.
func TestAgeingIsOneKey(t *testing.T) {
	s := newScreen(t)
	s.press("4", "A")
	is := func(want string) {
		t.Helper()
		if got := s.src.run.Scenario().Fleet.Policy.Queue.Order.String(); got != want {
			t.Errorf("the order is %s, want %s", got, want)
		}
	}
	is("ageing")
	s.press("A")
	is("strict")
	s.press("A", "u")
	is("strict")
	if n := len(s.src.did); n != 3 || s.src.did[0].Knob != "queue.order" {
		t.Errorf("did %+v", s.src.did)
	}
}

// What a page has to filter or to leaf through, others say they have not.
func TestOnlyBreakersAreFiltered(t *testing.T) {
	s := newScreen(t)
	s.press("b")
	s.shows("nothing to filter")
	s.press("3", "b")
	s.shows("breakers: not closed")
	if s.src.watched.BreakerFilter == 0 {
		t.Error("the source is not told of the filter")
	}
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
	s.press("shift+tab")
	s.shows("[1 Overview]")
	if s.src.watched.RasterRows != 0 {
		t.Error("the overview watches the raster")
	}
	s.press("tab")
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
	s.Update(pagetest.Key("s"))
	s.Update(cmd())
	s.hides("opening")
	s.shows("saved restart-1.yaml")
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
