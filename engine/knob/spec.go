package knob

import (
	"strconv"
	"strings"
	"time"
)

// Format writes a value as Parse reads it: 1.2s, 0.25, 200/s, full, on, or the
// word for 0.
func (s Spec) Format(v int64) string {
	if word, ok := s.Word(v); ok {
		return word
	}
	switch {
	case s.Kind == Duration:
		return formatDuration(time.Duration(v))
	case s.Kind == Ratio:
		return formatThousandths(v)
	case s.Kind == Share:
		return formatDecimal(v, 6)
	case s.Kind == Rate:
		return formatThousandths(v) + "/s"
	case s.Kind == Choice && v >= 0 && v < int64(len(s.Choices)):
		return s.Choices[v]
	case s.Kind == Switch && v == 0:
		return "off"
	case s.Kind == Switch && v == 1:
		return "on"
	}
	return strconv.FormatInt(v, 10)
}

// Word is the word that a value is written as; false if it is written otherwise,
// and has the unit.
func (s Spec) Word(v int64) (string, bool) {
	if v == 0 && s.Zero != "" {
		return s.Zero, true
	}
	for _, w := range s.Words {
		if v == w.Value {
			return w.Name, true
		}
	}
	return "", false
}

// formatDuration is d.String() in ASCII and without parts that are zero: 1m,
// not 1m0s.
func formatDuration(d time.Duration) string {
	text := strings.Replace(d.String(), "µ", "u", 1)
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func formatThousandths(v int64) string { return formatDecimal(v, 3) }

// formatDecimal writes a count of the last of so many decimal places.
func formatDecimal(v int64, places int) string {
	sign := ""
	if v < 0 {
		sign, v = "-", -v
	}
	unit := int64(1)
	for range places {
		unit *= 10
	}
	whole := strconv.FormatInt(v/unit, 10)
	fraction := strings.TrimRight(strconv.FormatInt(unit+v%unit, 10)[1:], "0")
	if fraction == "" {
		return sign + whole
	}
	return sign + whole + "." + fraction
}

// Check says whether the value is allowed; the error is an *Error.
func (s Spec) Check(v int64) error {
	if s.inRange(v) {
		return nil
	}
	return s.fail(s.Format(v), "is out of range")
}

func (s Spec) inRange(v int64) bool {
	switch s.Kind {
	case Choice:
		return v >= 0 && v < int64(len(s.Choices))
	case Switch:
		return v == 0 || v == 1
	}
	_, word := s.Word(v)
	return word || v >= s.low() && v <= s.Max
}

// low is the lowest value apart from the one that Zero stands for.
func (s Spec) low() int64 {
	if s.Zero != "" && s.Min <= 0 {
		return 1
	}
	return s.Min
}

// Allowed says in words which values are allowed: "1ms to 1h", "1 to 100, or
// off", "1 to 100, 0 to pause, or unlimited", "one of none, full, equal", "on or off".
func (s Spec) Allowed() string {
	switch s.Kind {
	case Choice:
		return "one of " + strings.Join(s.Choices, ", ")
	case Switch:
		return "on or off"
	}
	text := s.Format(s.low()) + " to " + s.Format(s.Max)
	for _, w := range s.Words {
		text += strings.TrimSuffix(", "+w.Name+" "+w.Means, " ")
	}
	if s.Zero != "" {
		text += ", or " + s.Zero
	}
	return text
}

// Stepped is the value after that many key presses; negative presses go down.
// It stays within the range. Below one step, and where Step is 0, a press
// doubles or halves, so that a small value is not lost in one press. A value
// that can be 0 goes there below its first step, and rises from 0 to that step.
// Where there are Words, the first is what
// lies below, and the others have to be written. Choices wrap around; a Switch
// toggles.
func (s Spec) Stepped(v int64, presses int) int64 {
	switch s.Kind {
	case Choice:
		n := int64(len(s.Choices))
		return ((v+int64(presses)%n)%n + n) % n
	case Switch:
		return (v + int64(presses&1)) & 1
	}
	move := s.up
	if presses < 0 {
		move, presses = s.down, -presses
	}
	for v = s.clamp(v); presses > 0; presses-- {
		next := s.clamp(move(v))
		if next == v {
			break
		}
		v = next
	}
	return v
}

func (s Spec) up(v int64) int64 {
	_, word := s.Word(v)
	switch {
	case v == 0 || word:
		return s.first()
	case s.Step == 0 || v < s.Step:
		if s.Step > 0 {
			return min(2*v, s.Step)
		}
		return 2 * v
	}
	return v + s.Step
}

func (s Spec) down(v int64) int64 {
	_, word := s.Word(v)
	switch {
	case word:
		return v
	case v <= s.first() && len(s.Words) > 0:
		return s.Words[0].Value
	case v <= s.first() && s.canBeZero():
		return 0
	case s.Step == 0 || v <= s.Step:
		return v / 2
	}
	return v - s.Step
}

// first is the lowest value above 0 that presses reach.
func (s Spec) first() int64 {
	switch {
	case s.Step > 0:
		return max(s.low(), s.Step)
	case s.Kind == Duration:
		return max(s.low(), int64(time.Millisecond))
	case s.Kind == Ratio || s.Kind == Rate:
		return max(s.low(), 100)
	case s.Kind == Share:
		return max(s.low(), 100_000)
	}
	return max(s.low(), 1)
}

func (s Spec) canBeZero() bool { return s.Zero != "" || s.Min <= 0 }

func (s Spec) clamp(v int64) int64 {
	if _, word := s.Word(v); word || v == 0 && s.canBeZero() {
		return v
	}
	return min(max(v, s.low()), s.Max)
}
