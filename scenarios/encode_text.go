package scenarios

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// textWidth is where the lines of a story are broken.
const textWidth = 78

// plain matches the texts that mean themselves in YAML without quotes.
var plain = regexp.MustCompile(`^[A-Za-z0-9/][A-Za-z0-9 ,.()/_+-]*$`)

// scalarText is a text as a YAML value on one line.
func scalarText(text string) string {
	switch strings.ToLower(text) {
	case "null", "nan", "true", "false":
		return quote(text)
	}
	if plain.MatchString(text) && !strings.HasSuffix(text, " ") {
		return text
	}
	return quote(text)
}

// quote is a text in the double quotes of YAML 1.2, section 7.3.1.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == ' ' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// story writes a text of several sentences as a folded block, in which a line
// break is a space and an empty line a line break; in quotes if it would not
// come back from one unchanged.
func (w *writer) story(text string) {
	if !foldable(text) {
		w.field(0, "story", quote(text))
		return
	}
	w.field(0, "story", ">-")
	for i, paragraph := range strings.Split(text, "\n") {
		if i > 0 {
			w.WriteByte('\n')
		}
		if paragraph != "" {
			w.paragraph(paragraph)
		}
	}
}

// paragraph breaks a line between words.
func (w *writer) paragraph(text string) {
	width := textWidth
	for i, word := range strings.Split(text, " ") {
		switch {
		case i > 0 && width+1+len(word) <= textWidth:
			w.WriteByte(' ')
			width += 1 + len(word)
		case i > 0:
			w.WriteByte('\n')
			fallthrough
		default:
			w.WriteString("  ")
			width = 2 + len(word)
		}
		w.WriteString(word)
	}
	w.WriteByte('\n')
}

// foldable says whether a folded block gives the text back: no space but single
// ones between words, and no other character that ends a line or is not shown.
func foldable(text string) bool {
	for _, r := range text {
		if r != '\n' && r != ' ' && (unicode.IsSpace(r) || !unicode.IsPrint(r)) {
			return false
		}
	}
	return !strings.Contains(text, "  ") && !strings.Contains(text, " \n") &&
		!strings.Contains(text, "\n ")
}
