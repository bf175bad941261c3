package theme

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Detect finds out what a terminal can show, from its environment. Its
// background is what lipgloss was told when the program began: to ask again would
// wait again for a terminal that does not answer.
func Detect(out *termenv.Output, getenv func(string) string) Options {
	o := Options{Profile: out.EnvColorProfile(), ASCII: WantsASCII(getenv)}
	if getenv("TERM") == "dumb" {
		o.Profile = termenv.Ascii
	}
	if o.Profile != termenv.Ascii {
		o.Light = !lipgloss.HasDarkBackground()
	}
	return o
}

// WantsASCII says whether the environment promises no more than 7-bit text: a
// locale that is named and not UTF-8, or a terminal known to lack the glyphs.
// An environment without any locale is taken for UTF-8, as nearly all terminals
// are by now.
func WantsASCII(getenv func(string) string) bool {
	switch getenv("TERM") {
	case "dumb", "linux":
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := getenv(name); v != "" {
			v = strings.ToLower(v)
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return false
}
