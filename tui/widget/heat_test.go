package widget

import (
	"testing"
	"time"

	"github.com/muesli/termenv"

	"herdscope/engine/metrics"
	"herdscope/tui/theme"
)

// TestHeat: few and many are told apart without colour, and low latencies are at
// the foot.
func TestHeat(t *testing.T) {
	c := NewCanvas(theme.New(theme.Options{Profile: termenv.Ascii}))
	c.Reset(12, 2)
	scale, plot := c.Area().Cols(6)
	h := &metrics.Heat{
		Rows: 2, Cols: 6, Width: time.Second, Low: time.Millisecond, High: 100 * time.Millisecond,
		Counts: []uint16{1, 2, 5, 15, 50, 0, 0, 0, 0, 0, 49, 1},
	}
	HeatScale(scale, h)
	Heat(plot, Axis{Width: time.Second, Cols: 6, Now: 5}, h)
	if got, want := c.String(), " 10ms┤    ▓·\n  1ms┤·░▒▓█ "; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSegments(t *testing.T) {
	c := NewCanvas(theme.New(theme.Options{Profile: termenv.Ascii}))
	for _, tc := range []struct {
		shares []float64
		want   string
	}{
		{[]float64{0.5, 0, 0.25}, "aaaaaccc··"},
		{[]float64{0.001, 0.001, 0.998}, "abcccccccc"},
		{[]float64{1, 0.001, 0.001}, "aaaaaaaabc"},
		{nil, "··········"},
	} {
		c.Reset(10, 1)
		var parts []Segment
		for i, s := range tc.shares {
			parts = append(parts, Segment{Share: s, Glyph: rune('a' + i)})
		}
		Segments(c.Area(), parts)
		if got := c.String(); got != tc.want {
			t.Errorf("%v: %s, want %s", tc.shares, got, tc.want)
		}
	}
}
