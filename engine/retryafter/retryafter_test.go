package retryafter

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

func TestVirtualEpoch(t *testing.T) {
	if got := time.Unix(0, VirtualEpochUnixNanos).UTC().Format(time.RFC3339); got !=
		"2020-01-01T00:00:00Z" {
		t.Errorf("virtual epoch is %s", got)
	}
}

func TestResolve(t *testing.T) {
	const epoch = VirtualEpochUnixNanos
	received := clock.Instant(1500 * time.Millisecond)
	for _, tc := range []struct {
		name  string
		h     wire.Hint
		epoch int64
		want  clock.Instant
	}{
		{"none", wire.Hint{Value: 99}, epoch, received},
		{"seconds from reception", inSeconds(3), epoch, clock.Instant(4500 * time.Millisecond)},
		{"zero", inSeconds(0), epoch, received},
		{"negative", inSeconds(-3), epoch, received},
		{"too many seconds", inSeconds(9_999_999_999), epoch, clock.Never},
		{"most seconds", inSeconds(math.MaxInt64), epoch, clock.Never},
		{"date", on(imf, "2020-01-01T00:00:05Z"), epoch, clock.Instant(5 * time.Second)},
		{"rfc850", on(rfc850, "2020-01-01T00:00:05Z"), epoch, clock.Instant(5 * time.Second)},
		{"asctime", on(asctime, "2020-01-01T00:00:05Z"), epoch, clock.Instant(5 * time.Second)},
		{"past date", on(imf, "2019-12-31T23:59:59Z"), epoch, clock.Instant(-time.Second)},
		{"epoch within a second", on(imf, "2020-01-01T00:00:05Z"), epoch + 3e8,
			clock.Instant(4700 * time.Millisecond)},
		{"epoch before 1970", wire.Hint{Form: imf, Value: 1}, -5e8,
			clock.Instant(1500 * time.Millisecond)},
		{"last date", on(imf, "9999-12-31T23:59:59Z"), epoch, clock.Never},
		{"first date", on(imf, "0000-01-01T00:00:00Z"), epoch, math.MinInt64},
		{"greatest value", wire.Hint{Form: imf, Value: math.MaxInt64}, math.MinInt64, clock.Never},
		{"least value", wire.Hint{Form: imf, Value: math.MinInt64}, math.MaxInt64, math.MinInt64},
	} {
		if got := Resolve(tc.h, received, tc.epoch); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
}

func TestFromDelayRoundsUp(t *testing.T) {
	now := clock.Instant(1500 * time.Millisecond)
	for _, tc := range []struct {
		form wire.HintForm
		wait time.Duration
		want int64
	}{
		{wire.HintNone, time.Second, 0},
		{wire.HintSeconds, -time.Second, 0},
		{wire.HintSeconds, 0, 0},
		{wire.HintSeconds, 1, 1},
		{wire.HintSeconds, time.Second, 1},
		{wire.HintSeconds, time.Second + 1, 2},
		{imf, 0, 2},
		{imf, 500 * time.Millisecond, 2},
		{rfc850, 500*time.Millisecond + 1, 3},
		{asctime, time.Second, 3},
	} {
		want := wire.Hint{Form: tc.form, Value: tc.want}
		if tc.form > wire.HintSeconds {
			want.Value += VirtualEpochUnixNanos / second
		}
		if got := FromDelay(tc.form, now, VirtualEpochUnixNanos, tc.wait); got != want {
			t.Errorf("%v for %v: %+v, want %+v", tc.form, tc.wait, got, want)
		}
	}
}

// Whoever obeys the hint is never too early, and late by less than a second.
func TestResolveObeysFromDelay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		form := wire.HintForm(rapid.IntRange(1, 4).Draw(t, "form"))
		now := clock.Instant(rapid.Int64().Draw(t, "now"))
		epoch := rapid.Int64().Draw(t, "epoch")
		wait := time.Duration(rapid.Int64Min(0).Draw(t, "wait"))
		due := now.Add(wait)
		got := Resolve(FromDelay(form, now, epoch, wait), now, epoch)
		if got < due || got != clock.Never && got.Sub(due) >= time.Second {
			t.Fatalf("asked for %d, got %d", due, got)
		}
	})
}

// The same through the text of the field, for times of practical length.
func TestObeysTheWrittenField(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		form := wire.HintForm(rapid.IntRange(1, 4).Draw(t, "form"))
		now := clock.Instant(rapid.Int64Range(0, int64(24*time.Hour)).Draw(t, "now"))
		wait := time.Duration(rapid.Int64Range(0, int64(24*time.Hour)).Draw(t, "wait"))
		flight := time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "flight"))
		const epoch = VirtualEpochUnixNanos
		field := Format(FromDelay(form, now, epoch, wait))
		h, err := Parse(field, epoch/second+now.Second())
		if err != nil {
			t.Fatal(err)
		}
		due := now.Add(wait)
		got := Resolve(h, now.Add(flight), epoch)
		if late := got.Sub(due); late < 0 || late >= time.Second+flight {
			t.Fatalf("%q is %v after the moment asked for", field, late)
		}
	})
}

func TestDoesNotAllocate(t *testing.T) {
	allocs := testing.AllocsPerRun(100, func() {
		Resolve(FromDelay(imf, 5, VirtualEpochUnixNanos, time.Second), 5, VirtualEpochUnixNanos)
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
