package widget

import (
	"math"
	"testing"
	"time"

	"herdscope/engine/clock"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(0), "0"}, {Count(999), "999"}, {Count(1000), "1,000"}, {Count(614_005), "614,005"},
		{Count(1_234_567), "1.23M"}, {Count(-1500), "-1,500"},
		{Short(0), "0"}, {Short(8.4), "8.4"}, {Short(200), "200"}, {Short(999.6), "1k"}, {Short(1234), "1.23k"},
		{Short(12_345), "12.3k"}, {Short(2e9), "2G"}, {Short(math.NaN()), "-"}, {Short(math.Inf(1)), "-"},
		{Rate(236.4), "236/s"}, {Times(1.127), "1.13×"}, {Times(12.34), "12.3×"}, {Times(1234), "1.23k×"},
		{Percent(0), "0.0 %"}, {Percent(0.385), "38 %"}, {Percent(0.0004), "<0.1 %"}, {Percent(1), "100 %"},
		{Percent(math.NaN()), "-"}, {Fixed(math.Inf(1)), "-"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestTimes(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	for _, c := range []struct{ got, want string }{
		{Span(0), "0 ms"}, {Span(420 * time.Microsecond), "0.42 ms"}, {Span(4200 * time.Microsecond), "4.2 ms"},
		{Span(41 * ms), "41 ms"}, {Span(999 * ms), "999 ms"}, {Span(999900 * time.Microsecond), "1.00 s"},
		{Span(1240 * ms), "1.24 s"}, {Span(14200 * ms), "14.2 s"}, {Span(123 * s), "2m03s"},
		{Span(3720 * s), "1h02m"}, {Span(-41 * ms), "-41 ms"}, {Span(math.MinInt64), "-2562047h47m"},
		{Clock(clock.Instant(32400 * ms)), "00:32.4"}, {Clock(clock.Instant(3723 * s)), "62:03.0"}, {Clock(-1), "00:00.0"},
		{Moment(clock.Instant(12990 * ms)), "12.9 s"}, {Moment(clock.Instant(83400 * ms)), "1:23.4"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
