package widget

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"pgregory.net/rapid"

	"herdscope/engine/clock"
	"herdscope/engine/metrics"
	"herdscope/tui/theme"
)

func second(s float64) clock.Instant { return clock.Instant(math.Round(s*1000) * 1e6) }

// hill is columns that rise and fall, with more and more retries.
func hill(n int) []Column {
	cs := make([]Column, n)
	for i := range cs {
		up := float64(min(i, n-1-i)) * 20 / float64(n)
		cs[i] = Column{Lower: up, Upper: up * float64(i) / float64(n)}
	}
	return cs
}

func TestStack(t *testing.T) {
	for _, th := range []struct {
		name  string
		theme *theme.Theme
	}{{"plain", plain()}, {"color", color()}} {
		for _, w := range []int{12, 30, 60} {
			t.Run(fmt.Sprint(th.name, w), func(t *testing.T) {
				golden.RequireEqual(t, []byte(draw(th.theme, w+6, 8, func(a Area) {
					scale, chart := a.Cols(6)
					s := Stack{Top: 16}
					s.Scale(scale)
					s.Draw(chart, hill(w))
					s.Threshold(chart, 12, "capacity 12/s")
				})))
			})
		}
	}
}

// Without colour, retries are told from first tries by their texture alone: no
// cell of them is drawn as a part of a block.
func TestRetriesAreNoBlocksWithoutColour(t *testing.T) {
	for upper := 0.5; upper <= 32; upper += 0.5 {
		got := draw(plain(), 1, 4, func(a Area) {
			Stack{Top: 32}.Draw(a, []Column{{Upper: upper}})
		})
		if !strings.Contains(got, "▒") || strings.ContainsAny(got, "▁▂▃▄▅▆▇█") {
			t.Errorf("retries of %v of 32:\n%s", upper, got)
		}
	}
}

// What is not zero can be seen, and nothing grows beyond the chart.
func TestStackUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Stack{Top: rapid.Float64Range(1, 1e6).Draw(t, "top")}
		h := rapid.IntRange(1, 40).Draw(t, "h")
		c := Column{
			Lower: rapid.Float64Range(0, s.Top).Draw(t, "lower"),
			Upper: rapid.Float64Range(0, s.Top).Draw(t, "upper"),
		}
		lower, total := s.units(c, h)
		if lower > total || (c.Lower > 0 && lower == 0) || (c.Upper > 0 && total == lower) {
			t.Fatalf("%+v is %d of %d", c, lower, total)
		}
	})
}

func TestRoundUp(t *testing.T) {
	for _, c := range []struct{ v, want float64 }{{0, 1}, {1, 1}, {1.1, 1.2}, {950, 1000}, {2500, 3000}, {601, 800}} {
		if got := RoundUp(c.v); got != c.want {
			t.Errorf("RoundUp(%v) = %v, want %v", c.v, got, c.want)
		}
	}
}

func TestAxis(t *testing.T) {
	for _, c := range []struct {
		name       string
		now        float64
		cols       int
		start, col float64
		at         int
	}{
		{"young", 2, 100, 0, 0.3, 6},
		{"old", 60, 100, 33.3, 0.3, 89},
		{"narrow", 60, 5, 44, 4, 4},
		{"none", 60, 0, 60, 20, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := NewAxis(second(c.now), 20*time.Second, 100*time.Millisecond, c.cols)
			if c.cols > 0 && (x.Start != second(c.start) || x.Width != time.Duration(second(c.col)) || x.Now != c.at) {
				t.Errorf("got start %v, width %v, now %d", x.Start.Seconds(), x.Width, x.Now)
			}
			if x.Col(second(c.now)) != min(x.Now, c.cols) {
				t.Errorf("now is in column %d, want %d", x.Col(second(c.now)), x.Now)
			}
		})
	}
}

// The columns hold the span that was asked for, and now is always among them.
func TestAxisCoversItsSpan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := clock.Instant(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "now"))
		span := time.Duration(rapid.Int64Range(int64(time.Second), int64(10*time.Minute)).Draw(t, "span"))
		cols := rapid.IntRange(1, 300).Draw(t, "cols")
		x := NewAxis(now, span, 100*time.Millisecond, cols)
		if x.Past() < span {
			t.Fatalf("covers %v of %v", x.Past(), span)
		}
		if x.Now < 0 || x.Now >= cols || x.Col(now) != x.Now {
			t.Fatalf("now is in column %d or %d of %d", x.Now, x.Col(now), cols)
		}
	})
}

func TestStrip(t *testing.T) {
	windows := []Window{
		{Name: "outage", Label: "outage", From: second(5), Until: second(9)},
		{Name: "429", Label: "429", From: second(12), Until: second(12.2)},
		{Name: "outage", Label: "outage in 7 s", From: second(21), Until: second(25), Coming: true},
		{Name: "gone", Label: "gone", From: second(-9), Until: second(-5)},
	}
	labels := []Label{{second(1), "base = 1s"}, {second(2), "hidden"}, {second(4), "jitter = full"}, {second(22), "late = 1"}}
	for _, w := range []int{20, 60, 120} {
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			golden.RequireEqual(t, []byte(draw(plain(), w, 4, func(a Area) {
				x := NewAxis(second(14), 20*time.Second, 100*time.Millisecond, w)
				x.Line(a)
				x.Labels(a.Sub(0, 1, w, 1))
				Windows(a.Sub(0, 2, w, 1), x, windows)
				Labels(a.Sub(0, 3, w, 1), x, labels)
			})))
		})
	}
}

func TestRaster(t *testing.T) {
	r := &metrics.Raster{
		Rows: 3, Cols: 5, Start: 0, Width: time.Second,
		First: []uint16{1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0},
		Retry: []uint16{0, 1, 0, 3, 9, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0},
	}
	axis := Axis{Start: second(-1), Width: time.Second, Cols: 7, Now: 5}
	got := draw(plain(), 7, 3, func(a Area) { Raster(a, axis, r, 30) })
	if want := " ·░•▒▓\n\n ░··"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRasterThatIsBroken(t *testing.T) {
	for _, r := range []*metrics.Raster{nil, {}, {Rows: 2, Cols: 2}, {Rows: 1, Cols: 1, First: []uint16{1}}} {
		if got := draw(plain(), 3, 1, func(a Area) { Raster(a, Axis{Width: 1, Cols: 3}, r, 10) }); got != "" {
			t.Errorf("%+v draws %q", r, got)
		}
	}
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		share float64
		want  string
	}{{0, "┄┄┄┄"}, {0.001, "▏┄┄┄"}, {0.5, "██┄┄"}, {0.6, "██▍┄"}, {1, "████"}, {7, "████"}, {-1, "┄┄┄┄"}} {
		got := draw(plain(), 4, 1, func(a Area) { Bar(a, c.share, theme.Style{}) })
		if got != c.want {
			t.Errorf("%v: got %q, want %q", c.share, got, c.want)
		}
	}
}

func TestSpark(t *testing.T) {
	got := draw(plain(), 4, 2, func(a Area) { Spark(a, []float64{9, 0, 0.01, 0.5, 1}, 1, theme.Style{}) })
	if want := "   █\n ▁██"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPanel(t *testing.T) {
	got := draw(plain(), 24, 3, func(a Area) {
		in := Panel(a, "Queues", "waiting")
		in.Text(0, 0, fmt.Sprint(in.W, "x", in.H), theme.Style{})
	})
	want := "╭─ Queues ─── waiting ─╮\n│ 20x1                 │\n╰──────────────────────╯"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := draw(plain(), 8, 3, func(a Area) { Panel(a, "Queues", "waiting") }); got != "╭─ Q… ─╮\n│      │\n╰──────╯" {
		t.Errorf("narrow: got\n%s", got)
	}
}
