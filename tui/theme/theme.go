// Package theme turns the roles that things play on the screen (first try,
// retry, open breaker ...) into terminal escape sequences, and the glyphs that
// widgets draw into those that the terminal can show.
//
// A Theme is resolved once at the start of the program and never changes, so
// that nothing builds a style while it draws. No role relies on its colour: each
// has a letter, a word or a shape of its own as well, which the widgets draw
// whether there is colour or not. The package imports nothing of this module.
package theme

import (
	"strconv"
	"strings"

	"github.com/muesli/termenv"
)

// Style is how a cell is drawn: the role of its foreground, the role of its
// background (Plain for the terminal's own), and whether it is bold.
type Style struct {
	FG, BG Role
	Bold   bool
}

// On is s with the background of another role.
func (s Style) On(bg Role) Style { s.BG = bg; return s }

// Strong is s in bold.
func (s Style) Strong() Style { s.Bold = true; return s }

// Of is the style of a role on the terminal's own background.
func Of(fg Role) Style { return Style{FG: fg} }

// Options choose a Theme.
type Options struct {
	// Profile is what the terminal can show; termenv.Ascii is no colour at all.
	Profile termenv.Profile
	// Light says that the terminal's background is light.
	Light bool
	// ASCII restricts all output to 7-bit characters.
	ASCII bool
}

// Theme is the resolved look of the program. It is safe for concurrent use.
type Theme struct {
	o        Options
	prefixes [NumRoles * NumRoles * 2]string
}

// New resolves a theme.
func New(o Options) *Theme {
	t := &Theme{o: o}
	if o.Profile == termenv.Ascii {
		return t
	}
	for fg := range Role(NumRoles) {
		for bg := range Role(NumRoles) {
			s := Style{FG: fg, BG: bg}
			t.prefixes[s.index()] = t.sequence(s)
			t.prefixes[s.Strong().index()] = t.sequence(s.Strong())
		}
	}
	return t
}

func (s Style) index() int {
	i := (int(s.FG)*NumRoles + int(s.BG)) * 2
	if s.Bold {
		i++
	}
	return i
}

// Color says whether the theme has colours.
func (t *Theme) Color() bool { return t.o.Profile != termenv.Ascii }

// ASCII says whether only 7-bit characters may be written.
func (t *Theme) ASCII() bool { return t.o.ASCII }

// TwoTone says whether one cell can show two values, the one below as a block
// in the foreground colour and the one above as the background.
func (t *Theme) TwoTone() bool { return t.Color() && !t.o.ASCII }

// Bands says whether a role's background can be used behind a chart without
// hiding it: a matter of having more than 16 colours.
func (t *Theme) Bands() bool {
	return t.o.Profile == termenv.TrueColor || t.o.Profile == termenv.ANSI256
}

// Prefix is what switches the terminal to a style; empty if the style is the
// terminal's own.
func (t *Theme) Prefix(s Style) string { return t.prefixes[s.index()] }

// Suffix is what ends any style for which Prefix is not empty.
const Suffix = "\x1b[0m"

func (t *Theme) sequence(s Style) string {
	var codes []string
	if s.Bold {
		codes = append(codes, "1")
	}
	if c := t.code(s.FG, false); c != "" {
		codes = append(codes, c)
	}
	if c := t.code(s.BG, true); c != "" {
		codes = append(codes, c)
	}
	if len(codes) == 0 {
		return ""
	}
	return "\x1b[" + strings.Join(codes, ";") + "m"
}

// code is the SGR parameters of a role, empty for the terminal's own colour.
func (t *Theme) code(r Role, background bool) string {
	d := roles[r]
	if t.o.Profile == termenv.ANSI {
		return d.ansi(background)
	}
	hex := d.dark
	if t.o.Light {
		hex = d.light
	}
	if hex == "" {
		return ""
	}
	return t.o.Profile.Color(hex).Sequence(background)
}

// ansi is the SGR parameters among the terminal's own 16 colours.
func (d def) ansi(background bool) string {
	if !background {
		return d.sgr
	}
	if d.sgrBack != "" {
		return d.sgrBack
	}
	n, err := strconv.Atoi(d.sgr)
	if err != nil || n < 30 {
		return ""
	}
	return strconv.Itoa(n + 10)
}
