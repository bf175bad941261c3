package widget

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
	"pgregory.net/rapid"

	"herdscope/tui/theme"
)

func plain() *theme.Theme { return theme.New(theme.Options{Profile: termenv.Ascii}) }

func color() *theme.Theme { return theme.New(theme.Options{Profile: termenv.TrueColor}) }

// draw is what do draws on w by h cells, spaces at the ends of lines cut off.
func draw(t *theme.Theme, w, h int, do func(Area)) string {
	c := NewCanvas(t)
	c.Reset(w, h)
	do(c.Area())
	lines := strings.Split(c.String(), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

// A frame has exactly its size, whatever is written where.
func TestFrameIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(0, 40).Draw(t, "w"), rapid.IntRange(0, 6).Draw(t, "h")
		th := theme.New(theme.Options{
			Profile: rapid.SampledFrom([]termenv.Profile{termenv.Ascii, termenv.TrueColor}).Draw(t, "profile"),
			ASCII:   rapid.Bool().Draw(t, "ascii"),
		})
		c := NewCanvas(th)
		c.Reset(w, h)
		for range rapid.IntRange(1, 8).Draw(t, "texts") {
			x, y := rapid.IntRange(-9, 50).Draw(t, "x"), rapid.IntRange(-2, 8).Draw(t, "y")
			text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
				"漢字と仮名", "👩‍👩‍👧 🇩🇪 ⌚", "e\u0301a\u200bb", "tab\there\nand\x1b[31mred", "█▒░·",
			})).Draw(t, "text")
			c.Area().Sub(x, y, 20, 3).Text(rapid.IntRange(-3, 9).Draw(t, "in"), 0, text, theme.Of(theme.Retry))
		}
		checkSize(t, c.String(), w, h)
	})
}

func checkSize(t interface{ Fatalf(string, ...any) }, frame string, w, h int) {
	lines := strings.Split(frame, "\n")
	if h == 0 {
		h = 1 // An empty frame is one empty line.
		w = 0
	}
	if len(lines) != h {
		t.Fatalf("%d lines, want %d", len(lines), h)
	}
	for y, l := range lines {
		if n := ansi.StringWidth(l); n != w {
			t.Fatalf("line %d is %d wide, want %d: %q", y, n, w, l)
		}
	}
}

func TestRunsShareTheirEscapes(t *testing.T) {
	got := draw(color(), 8, 1, func(a Area) {
		a.Text(0, 0, "abc", theme.Of(theme.First))
		a.Text(3, 0, "def", theme.Of(theme.First))
	})
	if n := strings.Count(got, "\x1b["); n != 2 {
		t.Errorf("%d escapes in %q, want 2", n, got)
	}
}

func TestWideCharacterAtTheEdge(t *testing.T) {
	got := draw(plain(), 4, 1, func(a Area) { a.Text(0, 0, "abc漢", theme.Style{}) })
	if got != "abc" {
		t.Errorf("got %q", got)
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text string
		w    int
		want string
	}{
		{"hello", 5, "hello"}, {"hello", 4, "hel…"}, {"hello", 1, "…"}, {"hello", 0, ""},
		{"漢字漢字", 5, "漢字…"}, {"漢字漢字", 4, "漢…"}, {"", 3, ""}, {"hello", -2, ""},
	} {
		if got := Cut(c.text, c.w); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.text, c.w, got, c.want)
		}
	}
}

func TestCutHead(t *testing.T) {
	for _, c := range []struct {
		text string
		w    int
		want string
	}{{"queue.limit", 11, "queue.limit"}, {"queue.limit", 6, "…limit"}, {"x", 0, ""}, {"漢字", 3, "…字"}, {"ab", 1, "…"}} {
		if got := CutHead(c.text, c.w); got != c.want {
			t.Errorf("CutHead(%q, %d) = %q, want %q", c.text, c.w, got, c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	got := strings.Join(Wrap("all came back at once, extraordinarily", 9), "|")
	if want := "all came|back at|once,|extraord…"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if Wrap("x", 0) != nil {
		t.Error("a text without room has lines")
	}
}
