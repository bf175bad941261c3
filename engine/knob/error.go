package knob

import (
	"strconv"
	"strings"
)

// Error is a value that a knob does not take.
type Error struct {
	// Knob is the knob's name.
	Knob string
	// Value is the value as it was written.
	Value string
	// Problem says what is wrong with it, Allowed what would be right.
	Problem, Allowed string
	// Nearest is the choice that was probably meant; empty if none is near.
	Nearest string
}

// Error is the whole error in one line, the knob's name first.
func (e *Error) Error() string { return e.Knob + ": " + e.Message() }

// Message is the error without the knob's name, for callers that say where it
// stands in their own way.
func (e *Error) Message() string {
	text := Quote(e.Value) + " " + e.Problem + "; allowed: " + e.Allowed
	if e.Nearest != "" {
		text += "; did you mean " + Quote(e.Nearest) + "?"
	}
	return text
}

func (s Spec) fail(value, problem string) error {
	e := &Error{Knob: s.Name, Value: value, Problem: problem, Allowed: s.Allowed()}
	words := s.Choices
	if s.Zero != "" {
		words = []string{s.Zero}
	}
	for _, w := range s.Words {
		words = append(words, w.Name)
	}
	e.Nearest, _ = Nearest(value, words)
	return e
}

// quoteLimit is how many bytes of a value an error repeats.
const quoteLimit = 60

// Quote is text in double quotes with everything unprintable escaped, cut short
// if it is long.
func Quote(text string) string {
	if len(text) <= quoteLimit {
		return strconv.Quote(text)
	}
	return strconv.Quote(strings.ToValidUTF8(text[:quoteLimit], "")) + "..."
}
