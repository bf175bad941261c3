// Package knob describes settings that people tune: a name, a kind, a unit, a
// range, a step and a one-line meaning each, in tables that serve scenario
// files, flags, the tuning panel, the timeline and the docs alike.
//
// A value travels as an int64: nanoseconds for a Duration, thousandths for a
// Ratio or a Rate, millionths for a Share, the index for a Choice, 0 or 1 for a Switch. The package
// imports nothing of this module.
package knob

// Kind is how a knob's value is read and written.
type Kind uint8

// The kinds of knob.
const (
	// Int is a whole number.
	Int Kind = iota
	// Duration is a time with its unit, such as 1.2s or 500ms.
	Duration
	// Ratio is a plain number with up to three decimals.
	Ratio
	// Rate is a number per second with up to three decimals; the suffixes k
	// and /s are understood.
	Rate
	// Choice is one of a list of words.
	Choice
	// Switch is on or off.
	Switch
	// Share is a part of a whole: a plain number from 0 to 1 with up to six
	// decimals.
	Share
)

// Spec describes one knob.
type Spec struct {
	// Name is the dotted path of the knob, as in retry.base.
	Name string
	Kind Kind
	// Unit is what a bare number counts, such as "attempts"; empty for kinds
	// that write their own.
	Unit string
	// Min and Max are the allowed range, both ends included.
	Min, Max int64
	// Step is what one key press in the tuning panel adds or takes away. If it
	// is 0, a press doubles or halves; see Stepped.
	Step int64
	// Zero is the word for the value 0, such as "off" or "unlimited". Where it
	// is set, 0 is written as that word only, since a bare 0 could be read
	// either way. The lowest other value is then Min, or 1 if that is 0.
	Zero string
	// Words are values outside of the range that are written as words.
	Words []Word
	// Choices are the words of a Choice, in the order of their values.
	Choices []string
	// Fixed knobs cannot be changed while a run goes on.
	Fixed bool
	// Doc says in one line what the knob does.
	Doc string
}

// Word is one value that is written as a word.
type Word struct {
	Name  string
	Value int64
	// Means says in a few words what the name does not, as in "to pause"; it may
	// be empty.
	Means string
}

// Field is a knob of a configuration C: its description and its place.
type Field[C any] struct {
	Spec
	Get func(*C) int64
	Set func(*C, int64)
}
