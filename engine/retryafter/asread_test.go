package retryafter

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// What a virtual run makes of a hint is what a live one makes of its bytes.
func TestEveryFormIsReadAsItsBytesAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := wire.Hint{
			Form:  wire.HintForm(rapid.IntRange(0, wire.NumHintForms-1).Draw(t, "form")),
			Value: rapid.Int64().Draw(t, "value") >> rapid.IntRange(0, 62).Draw(t, "shift"),
		}
		nowUnix := rapid.Int64Range(firstSecond, lastSecond).Draw(t, "now")
		fields := func(name string) []string {
			if name == NameOf(h.Form) {
				return Fields(h)
			}
			return nil
		}
		want := ParseFields(fields, nowUnix)
		if got := AsRead(h, nowUnix); got != want {
			t.Fatalf("%+v is read %+v; its fields %q are %+v", h, got, Fields(h), want)
		}
		if h.Form.Pushback() {
			return
		}
		if _, err := ParseValues(Fields(h), nowUnix); Malformed(h.Form) != (err != nil) {
			t.Fatalf("%v: malformed %v, error %v", h.Form, Malformed(h.Form), err)
		}
	})
}

// Each form of one wait of 2.5 s, asked for 1.5 s into a virtual run: what is on
// the wire, and how long a reader of it waits.
func TestEachFormOfOneWait(t *testing.T) {
	const epoch, wait = VirtualEpochUnixNanos, 2500 * time.Millisecond
	asked := clock.Instant(1500 * time.Millisecond)
	none, long := time.Duration(0), clock.Never.Sub(asked)
	for _, tc := range []struct {
		form   wire.HintForm
		fields []string
		waits  time.Duration
	}{
		{wire.HintNone, nil, none},
		{wire.HintSeconds, []string{"3"}, 3 * time.Second},
		{wire.HintIMFDate, []string{"Wed, 01 Jan 2020 00:00:04 GMT"}, wait},
		{wire.HintRFC850Date, []string{"Wednesday, 01-Jan-20 00:00:04 GMT"}, wait},
		{wire.HintAsctimeDate, []string{"Wed Jan  1 00:00:04 2020"}, wait},
		{wire.HintNegative, []string{"-3"}, none},
		{wire.HintFraction, []string{"2.5"}, none},
		{wire.HintSigned, []string{"+3"}, none},
		{wire.HintPast, []string{"Tue, 31 Dec 2019 23:59:58 GMT"}, -3500 * time.Millisecond},
		{wire.HintHuge, []string{"99999999999999999999"}, long},
		{wire.HintGarbage, []string{"in a while"}, none},
		{wire.HintEmpty, []string{""}, none},
		{wire.HintTwice, []string{"3", "6"}, 6 * time.Second},
		{wire.HintPadded, []string{" 3 "}, 3 * time.Second},
		{wire.HintPushback, []string{"2500"}, wait},
		{wire.HintPushbackStop, []string{"-1"}, long},
	} {
		h := FromDelay(tc.form, asked, epoch, wait)
		if diff := cmp.Diff(tc.fields, Fields(h)); diff != "" {
			t.Errorf("%v: fields (-want +got):\n%s", tc.form, diff)
		}
		read := AsRead(h, epoch/second+asked.Second())
		for _, hint := range []wire.Hint{h, read} {
			if got := Resolve(hint, asked, epoch).Sub(asked); got != tc.waits {
				t.Errorf("%v: %+v waits %v, want %v", tc.form, hint, got, tc.waits)
			}
		}
	}
}

func TestFractionsHaveTheDecimalsTheyNeed(t *testing.T) {
	for ms, want := range map[int64]string{
		-5: "0.0", 0: "0.0", 3000: "3.0", 3500: "3.5", 50: "0.05", 1: "0.001",
	} {
		if got := Format(wire.Hint{Form: wire.HintFraction, Value: ms}); got != want {
			t.Errorf("%d ms is written %q, want %q", ms, got, want)
		}
	}
	h := FromDelay(wire.HintFraction, 0, 0, 2*time.Millisecond+1)
	if h.Value != 3 {
		t.Errorf("2 ms and a bit are %d ms, want 3", h.Value)
	}
}
