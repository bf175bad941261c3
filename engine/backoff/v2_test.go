package backoff

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The formula as it is published, with the standard library's functions.
func publishedV2(t float64) float64 { return math.Exp2(t) * math.Tanh(math.Sqrt(4*t)) }

func TestV2FollowsTheFormula(t *testing.T) {
	c := Config{Jitter: V2, Base: time.Second}
	for i := range 2000 {
		carry, before := time.Duration(0), 0.0
		for n := 1; n <= 20; n++ {
			u := draw(n, i)
			w := c.Delay(n, carry, u)
			at := publishedV2(float64(n-1) + fraction(u))
			want := (at - before) * 1e9 / 1.4
			if math.Abs(float64(w.Delay)-want) > 100+want*1e-9 {
				t.Fatalf("retry %d: %v, want %v", n, w.Delay, time.Duration(want))
			}
			carry, before = w.Carry, at
		}
	}
}

// V2 telescopes: the sum of all delays is the last point of the curve.
func TestV2DelaysAddUpToTheCurve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Config{Jitter: V2, Base: time.Duration(rapid.Int64Range(1, 1e12).Draw(t, "base"))}
		var w Wait
		var sum time.Duration
		for n := 1; n <= rapid.IntRange(1, 12).Draw(t, "retries"); n++ {
			w = c.Delay(n, w.Carry, rapid.Uint64().Draw(t, "u"))
			sum += w.Delay
			if slack := time.Duration(n) + sum>>40; sum > w.Carry+slack || sum < w.Carry-slack {
				t.Fatalf("after retry %d: waited %d in all, carries %d", n, sum, w.Carry)
			}
		}
	})
}

// A carry from another Config is taken for the nearest that this one can have.
func TestV2BoundsTheCarry(t *testing.T) {
	c := Config{Jitter: V2, Base: time.Second}
	point := func(t float64) time.Duration { return time.Duration(1e9 / 1.4 * publishedV2(t)) }
	for _, tc := range []struct {
		n     int
		carry time.Duration
		want  time.Duration // without luck, at U = 0
	}{
		{1, 0, 0},
		{1, time.Hour, 0},
		{3, -1, point(2) - point(1)},
		{3, 0, point(2) - point(1)},
		{3, time.Hour, 0},
	} {
		if got := c.Delay(tc.n, tc.carry, 0).Delay; got < tc.want-10 || got > tc.want+10 {
			t.Errorf("retry %d with carry %v: %v, want %v", tc.n, tc.carry, got, tc.want)
		}
	}
}

// Under CapBefore a draw keeps its place in the span that the cap cuts short.
func TestV2ShrinksToFitTheCap(t *testing.T) {
	free := Config{Jitter: V2, Base: time.Second}
	capped := free
	capped.Cap = 30 * time.Second
	for n := 8; n <= 15; n++ {
		for i := range 100 {
			carry := free.Delay(n-1, 0, draw(n-1, i)).Carry
			f, c := free.Delay(n, carry, draw(n, i)), capped.Delay(n, carry, draw(n, i))
			want := float64(f.Delay) / float64(f.Ceiling) * 30e9
			if math.Abs(float64(c.Delay)-want) > 10 || c.Ceiling != capped.Cap || c.Carry != f.Carry {
				t.Fatalf("retry %d: %+v, want a delay of %v", n, c, time.Duration(want))
			}
		}
	}
}

func TestExp2(t *testing.T) {
	for x := -140.0; x <= 140; x += 0.0625 {
		if got, want := exp2(x), math.Exp2(x); math.Abs(got-want) > want*1e-14 {
			t.Errorf("2^%v = %v, want %v", x, got, want)
		}
	}
}
