package widget

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"herdscope/engine/clock"
)

// None is what stands where there is no number.
const None = "-"

// Count writes a whole number with separators, or shortened from a million on.
func Count(n int64) string {
	if n < 0 {
		return "-" + Count(-n)
	}
	if n >= 1_000_000 {
		return Short(float64(n))
	}
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// Short writes a number with at most three digits and a suffix k, M or G.
func Short(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return None
	}
	if v < 0 {
		return "-" + Short(-v)
	}
	for _, s := range []struct {
		unit float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= s.unit*0.9995 {
			return digits(v/s.unit) + s.name
		}
	}
	return digits(v)
}

// digits writes three significant digits, without zeros after the point.
func digits(v float64) string {
	prec := 0
	switch {
	case v < 9.995:
		prec = 2
	case v < 99.95:
		prec = 1
	}
	s := strconv.FormatFloat(v, 'f', prec, 64)
	for prec > 0 && s[len(s)-1] == '0' {
		s, prec = s[:len(s)-1], prec-1
	}
	if s[len(s)-1] == '.' {
		s = s[:len(s)-1]
	}
	return s
}

// Rate writes a number per second.
func Rate(v float64) string { return Short(v) + "/s" }

// Times writes a factor with two decimals, less if it is large.
func Times(v float64) string { return Fixed(v) + "×" }

// Fixed writes a number with as many decimals as three digits have room for,
// zeros included, so that it keeps its width.
func Fixed(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return None
	case v < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return Short(v)
}

// Percent writes a share of one.
func Percent(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return None
	case v > 0 && v < 0.001:
		return "<0.1 %"
	case v < 0.0995:
		return strconv.FormatFloat(v*100, 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(v*100, 'f', 0, 64) + " %"
}

// Span writes a length of time with three digits and its unit.
func Span(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Span(-max(d, -math.MaxInt64))
	case d < 999500*time.Nanosecond:
		if d == 0 {
			return "0 ms"
		}
		return strconv.FormatFloat(float64(d)/1e6, 'f', 2, 64) + " ms"
	case d < 9995*time.Microsecond:
		return strconv.FormatFloat(float64(d)/1e6, 'f', 1, 64) + " ms"
	case d < 999500*time.Microsecond:
		return strconv.FormatFloat(float64(d)/1e6, 'f', 0, 64) + " ms"
	case d < 9995*time.Millisecond:
		return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + " s"
	case d < 99950*time.Millisecond:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Hour:
		d = d.Round(time.Second)
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	d = d.Round(time.Minute)
	return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
}

// Clock writes a moment of the run as minutes, seconds and tenths.
func Clock(t clock.Instant) string {
	tenths := int64(max(t, 0)) / int64(100*time.Millisecond)
	return fmt.Sprintf("%02d:%02d.%d", tenths/600, tenths/10%60, tenths%10)
}

// Moment writes a moment of the run in a text: seconds and tenths in the first
// minute, minutes as well after it.
func Moment(t clock.Instant) string {
	if t < clock.Instant(time.Minute) {
		return fmt.Sprintf("%.1f s", math.Floor(t.Seconds()*10)/10)
	}
	tenths := int64(t) / int64(100*time.Millisecond)
	return fmt.Sprintf("%d:%02d.%d", tenths/600, tenths/10%60, tenths%10)
}
