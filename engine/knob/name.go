package knob

import "strings"

// MaxName is the length of the longest name, in bytes.
const MaxName = 64

// IsName says whether a text is a name as people give one to a scenario or a
// fault: lower case words of letters and digits with hyphens between them, of at
// most MaxName bytes.
func IsName(text string) bool {
	if len(text) > MaxName {
		return false
	}
	for word := range strings.SplitSeq(text, "-") {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return true
}
