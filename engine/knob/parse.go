package knob

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Parse reads a value as people write it. Durations need a unit, which a space
// may precede (1.2s, 1m30s, 500 ms); Ratios and Rates have at most three
// decimals, a Share six, and none an exponent; a Rate may end in k, in /s, or in
// both; a Switch is on or off, yes or no, true or false. Where Zero is set, 0
// has to be written as that word, and -1 always as None. The error is an *Error.
func (s Spec) Parse(text string) (int64, error) {
	if s.Zero != "" && text == s.Zero {
		return 0, nil
	}
	for _, w := range s.Words {
		if text == w.Name {
			return w.Value, nil
		}
	}
	v, problem := s.read(text)
	if problem != "" {
		return 0, s.fail(text, problem)
	}
	if s.Zero != "" && v == 0 {
		return 0, s.fail(text, "could be read either way; write "+s.Zero)
	}
	if _, word := s.Word(v); word || !s.inRange(v) {
		return 0, s.fail(text, "is out of range")
	}
	return v, nil
}

// read turns text into a value that may still be out of range, or says what is
// wrong with it.
func (s Spec) read(text string) (v int64, problem string) {
	switch {
	case text == "":
		return 0, "is empty"
	case s.Kind == Choice:
		return readChoice(text, s.Choices)
	case s.Kind == Switch:
		return readSwitch(text)
	case s.Kind == Duration:
		return readDuration(text)
	case s.Kind == Rate:
		return readRate(text)
	case s.Kind == Ratio:
		return readDecimal(text, 3)
	case s.Kind == Share:
		return readDecimal(text, 6)
	}
	return readDecimal(text, 0)
}

func readChoice(text string, choices []string) (int64, string) {
	for i, c := range choices {
		if c == text {
			return int64(i), ""
		}
	}
	return 0, "is not among the choices"
}

func readSwitch(text string) (int64, string) {
	switch text {
	case "on", "yes", "true":
		return 1, ""
	case "off", "no", "false":
		return 0, ""
	}
	return 0, "is neither on nor off"
}

func readRate(text string) (int64, string) {
	text = strings.TrimSuffix(text, "/s")
	if number, ok := strings.CutSuffix(text, "k"); ok {
		return readDecimal(number, 6)
	}
	return readDecimal(text, 3)
}

// readDecimal reads a plain decimal number as a count of its last allowed
// decimal place: with 3 places, "1.5" is 1500. It goes through no float, so
// that what was written is what is meant. Too large a number saturates.
func readDecimal(text string, places int) (int64, string) {
	digits, negative := strings.CutPrefix(text, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	if whole+fraction == "" || !isDigits(whole+fraction) {
		return 0, "is not a plain number"
	}
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > places {
		if places == 0 {
			return 0, "is not a whole number"
		}
		return 0, "has too many decimals"
	}
	fraction += strings.Repeat("0", places-len(fraction))
	v, err := strconv.ParseInt(whole+fraction, 10, 64)
	if err != nil {
		v = math.MaxInt64
	}
	if negative {
		v = -v
	}
	return v, ""
}

func isDigits(text string) bool {
	return strings.Trim(text, "0123456789") == ""
}

func readDuration(text string) (int64, string) {
	number := strings.TrimPrefix(text, "-")
	if v, problem := readDecimal(number, 9); problem == "" && v != 0 {
		return 0, "has no unit; write " + number + "ms or " + number + "s"
	}
	compact, ok := joinUnits(text)
	if !ok {
		return 0, notADuration
	}
	if d, err := time.ParseDuration(compact); err == nil {
		return int64(d), ""
	}
	if overflows(compact) {
		return math.MaxInt64, ""
	}
	return 0, notADuration
}

const notADuration = "is not a duration with a unit, such as 1.2s or 500ms"

// joinUnits takes the spaces out of "1 m 30 s"; it reports false for "1 0s",
// where a space splits a number.
func joinUnits(text string) (string, bool) {
	var b strings.Builder
	for i, part := range strings.Split(text, " ") {
		before := b.String()
		if i > 0 && (part == "" || before == "" || endsInDigit(before) && startsWithDigit(part)) {
			return "", false
		}
		b.WriteString(part)
	}
	return b.String(), true
}

func endsInDigit(text string) bool { return isDigitOrDot(text[len(text)-1]) }

func startsWithDigit(text string) bool { return isDigitOrDot(text[0]) }

func isDigitOrDot(c byte) bool { return c == '.' || '0' <= c && c <= '9' }

// overflows says whether text is a number with one unit that
// time.ParseDuration refuses only for its size.
func overflows(text string) bool {
	number := strings.TrimRight(text, "hmnsuµ")
	if len(number) == len(text) {
		return false
	}
	if _, err := time.ParseDuration("1" + text[len(number):]); err != nil {
		return false
	}
	v, problem := readDecimal(number, 9)
	return problem == "" && v > 0
}
