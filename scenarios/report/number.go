package report

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// milli is a number that JSON writes with three decimals, micro one with six.
// One that is not finite is written as null: no reader can use it.
type (
	milli float64
	micro float64
)

// MarshalJSON writes three decimals.
func (v milli) MarshalJSON() ([]byte, error) { return appendFixed(nil, float64(v), 3), nil }

// MarshalJSON writes six decimals.
func (v micro) MarshalJSON() ([]byte, error) { return appendFixed(nil, float64(v), 6), nil }

func appendFixed(out []byte, v float64, decimals int) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(out, "null"...)
	}
	return strconv.AppendFloat(out, v, 'f', decimals, 64)
}

// only is v where it was measured, else nil, which is written as null.
func only[T any](measured bool, v T) *T {
	if !measured {
		return nil
	}
	return &v
}

func inMS(d time.Duration) milli { return milli(float64(d) / float64(time.Millisecond)) }

// grouped writes a count with commas between thousands.
func grouped(n int64) string {
	if n < 0 {
		return "-" + grouped(-n)
	}
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// share writes n of all as a percentage; a dash if there are none.
func share(n, all int64) string {
	return when(all > 0, "%5.1f %%", 100*float64(n)/float64(max(all, 1)))
}

// when formats a number that was measured; a dash stands for one that was not.
func when(measured bool, format string, v float64) string {
	if !measured || math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return fmt.Sprintf(format, v)
}

// span writes a time with its unit and about three digits.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + span(-d)
	case d == 0:
		return "0 ms"
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.2f ms", inMS(d))
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", inMS(d))
	case d < 10*time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	minutes := d / time.Minute
	return fmt.Sprintf("%dm%02ds", minutes, (d-minutes*time.Minute)/time.Second)
}
