package theme

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/lucasb-eyer/go-colorful"
	"github.com/muesli/termenv"
)

func TestNoColorHasNoPrefix(t *testing.T) {
	th := New(Options{Profile: termenv.Ascii})
	for fg := range Role(NumRoles) {
		for bg := range Role(NumRoles) {
			if p := th.Prefix(Of(fg).On(bg).Strong()); p != "" {
				t.Errorf("role %d on %d: prefix %q without colours", fg, bg, p)
			}
		}
	}
	if th.TwoTone() || th.Bands() || th.Color() {
		t.Error("a theme without colours claims to have some")
	}
}

func TestPrefix(t *testing.T) {
	for _, c := range []struct {
		name    string
		profile termenv.Profile
		style   Style
		want    string
	}{
		{"plain", termenv.TrueColor, Style{}, ""},
		{"true colour", termenv.TrueColor, Of(First), "\x1b[38;2;86;179;233m"},
		{"bold on a background", termenv.TrueColor, Of(First).On(Retry).Strong(),
			"\x1b[1;38;2;86;179;233;48;2;230;159;0m"},
		{"16 colours", termenv.ANSI, Of(First).On(Retry), "\x1b[36;43m"},
		{"bright among 16", termenv.ANSI, Of(Plain).On(Limited), "\x1b[103m"},
		{"reverse among 16", termenv.ANSI, Of(Plain).On(Fault), "\x1b[7m"},
		{"no band among 16", termenv.ANSI, Of(Plain).On(Band), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := New(Options{Profile: c.profile}).Prefix(c.style); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Text has to be readable on its background: a contrast of 4.5 as WCAG 2.1
// defines it. Borders, grooves and backgrounds are no text.
func TestContrast(t *testing.T) {
	least := func(r Role) float64 {
		switch r {
		case Border, RetryDeep, RetryEdge, Fault, Band, Selected, Heat1, Heat2:
			return 0
		case Ink:
			return 0
		}
		return 4.5
	}
	for r := range Role(NumRoles) {
		d := roles[r]
		if d.dark == "" || least(r) == 0 {
			continue
		}
		if c := contrast(t, d.dark, "#121216"); c < least(r) {
			t.Errorf("role %d: contrast %.2f on dark", r, c)
		}
		if c := contrast(t, d.light, "#FFFFFF"); c < least(r) {
			t.Errorf("role %d: contrast %.2f on light", r, c)
		}
	}
	for _, d := range []struct{ fg, bg string }{
		{roles[Ink].dark, roles[Banner].dark}, {roles[Ink].light, roles[Banner].light},
		{"#D4D4D4", roles[Fault].dark}, {"#1A1A1A", roles[Fault].light},
		{roles[Accent].dark, roles[Selected].dark}, {roles[Accent].light, roles[Selected].light},
	} {
		if c := contrast(t, d.fg, d.bg); c < 4.5 {
			t.Errorf("%s on %s: contrast %.2f", d.fg, d.bg, c)
		}
	}
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	la, lb := luminance(t, a), luminance(t, b)
	return (math.Max(la, lb) + 0.05) / (math.Min(la, lb) + 0.05)
}

func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	c, err := colorful.Hex(hex)
	if err != nil {
		t.Fatal(err)
	}
	r, g, b := c.LinearRgb()
	return 0.2126*r + 0.7152*g + 0.0722*b
}

func TestGlyphIsSevenBit(t *testing.T) {
	th := New(Options{Profile: termenv.Ascii, ASCII: true})
	for r := rune(0); r < 0x30000; r++ {
		if g := th.Glyph(r); g >= 0x80 {
			t.Fatalf("%q becomes %q", r, g)
		}
	}
}

// What can stand side by side in one chart has to stay apart.
func TestGlyphsStayApart(t *testing.T) {
	th := New(Options{Profile: termenv.Ascii, ASCII: true})
	for _, set := range []string{"█▒ ┄", "·•░▒▓ ", "▸·", "▲●▽", "✓✗", "·░▒▓█ ", "░─█~!·"} {
		seen := map[rune]rune{}
		for _, r := range set {
			g := th.Glyph(r)
			if other, ok := seen[g]; ok {
				t.Errorf("%q and %q both become %q", other, r, g)
			}
			seen[g] = r
		}
	}
}

func TestWantsASCII(t *testing.T) {
	for _, c := range []struct {
		env  string
		want bool
	}{
		{"TERM=xterm-256color LANG=en_US.UTF-8", false},
		{"TERM=xterm LANG=de_DE.utf8", false},
		{"TERM=xterm LC_ALL=C LANG=en_US.UTF-8", true},
		{"TERM=xterm LANG=POSIX", true},
		{"TERM=xterm LC_CTYPE=en_US.UTF-8 LANG=C", false},
		{"TERM=linux LANG=en_US.UTF-8", true},
		{"TERM=dumb", true},
		{"TERM=xterm", false},
	} {
		env := map[string]string{}
		for _, kv := range strings.Fields(c.env) {
			k, v, _ := strings.Cut(kv, "=")
			env[k] = v
		}
		if got := WantsASCII(func(k string) string { return env[k] }); got != c.want {
			t.Errorf("%s: got %v", c.env, got)
		}
	}
}

func TestDetectHonoursNoColor(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	out := termenv.NewOutput(os.Stdout)
	if o := Detect(out, os.Getenv); o.Profile != termenv.Ascii {
		t.Errorf("profile %v with NO_COLOR", o.Profile)
	}
}
