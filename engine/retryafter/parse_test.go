package retryafter

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"herdscope/engine/wire"
)

// now is when the table's values are read: 2026-11-06T00:00:00Z.
const now = 1_793_923_200

func inSeconds(n int64) wire.Hint { return wire.Hint{Form: wire.HintSeconds, Value: n} }

// unixDate is the Unix time of a date written as in RFC 3339.
func unixDate(s string) int64 {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t.Unix()
}

func on(form wire.HintForm, date string) wire.Hint {
	return wire.Hint{Form: form, Value: unixDate(date)}
}

var (
	rfcDate = "1994-11-06T08:49:37Z"
	imf     = wire.HintIMFDate
	rfc850  = wire.HintRFC850Date
	asctime = wire.HintAsctimeDate
)

// N-E8: malformed hints that became "at once", a year, or a stall. Each value is
// read as the grammar says, or not at all.
func TestNE8WellFormed(t *testing.T) {
	for value, want := range map[string]wire.Hint{
		"120":                               inSeconds(120),
		"0":                                 inSeconds(0),
		"  120 ":                            inSeconds(120),
		"\t5\t":                             inSeconds(5),
		"007":                               inSeconds(7),
		"000":                               inSeconds(0),
		"10":                                inSeconds(10),
		"301":                               inSeconds(301),
		"86400":                             inSeconds(86400),
		"1000000":                           inSeconds(1e6),
		"9999999999":                        inSeconds(9999999999),
		"9223372036854775807":               inSeconds(math.MaxInt64),
		"9223372036854775808":               inSeconds(math.MaxInt64),
		"18446744073709551617":              inSeconds(math.MaxInt64),
		"99999999999999999999":              inSeconds(math.MaxInt64),
		strings.Repeat("9", 8192):           inSeconds(math.MaxInt64),
		strings.Repeat("0", 8192) + "7":     inSeconds(7),
		"Sun, 06 Nov 1994 08:49:37 GMT":     on(imf, rfcDate),
		" Sun, 06 Nov 1994 08:49:37 GMT\t":  on(imf, rfcDate),
		"sun, 06 nov 1994 08:49:37 gmt":     on(imf, rfcDate),
		"SUN, 06 NOV 1994 08:49:37 GMT":     on(imf, rfcDate),
		"Mon, 06 Nov 1994 08:49:37 GMT":     on(imf, rfcDate), // it was a Sunday
		"Fri, 31 Dec 2100 23:59:59 GMT":     on(imf, "2100-12-31T23:59:59Z"),
		"Thu, 29 Feb 2024 00:00:00 GMT":     on(imf, "2024-02-29T00:00:00Z"),
		"Sat, 31 Dec 2016 23:59:60 GMT":     on(imf, "2017-01-01T00:00:00Z"),
		"Thu, 01 Jan 1970 00:00:00 GMT":     on(imf, "1970-01-01T00:00:00Z"),
		"Sat, 01 Jan 0000 00:00:00 GMT":     on(imf, "0000-01-01T00:00:00Z"),
		"Fri, 31 Dec 9999 23:59:59 GMT":     on(imf, "9999-12-31T23:59:59Z"),
		"Sunday, 06-Nov-94 08:49:37 GMT":    on(rfc850, rfcDate),
		"sunday, 06-nov-94 08:49:37 gmt":    on(rfc850, rfcDate),
		"Wednesday, 06-Nov-94 08:49:37 GMT": on(rfc850, rfcDate),
		"Friday, 06-Nov-26 00:00:00 GMT":    on(rfc850, "2026-11-06T00:00:00Z"),
		"Sunday, 06-Nov-76 00:00:00 GMT":    on(rfc850, "2076-11-06T00:00:00Z"),
		"Sunday, 06-Nov-76 00:00:01 GMT":    on(rfc850, "1976-11-06T00:00:01Z"),
		"Monday, 01-Jan-77 00:00:00 GMT":    on(rfc850, "1977-01-01T00:00:00Z"),
		"Saturday, 01-Jan-00 00:00:00 GMT":  on(rfc850, "2000-01-01T00:00:00Z"),
		"Tuesday, 29-Feb-00 12:00:00 GMT":   on(rfc850, "2000-02-29T12:00:00Z"),
		"Saturday, 31-Dec-16 23:59:60 GMT":  on(rfc850, "2017-01-01T00:00:00Z"),
		"Sun Nov  6 08:49:37 1994":          on(asctime, rfcDate),
		"sun nov  6 08:49:37 1994":          on(asctime, rfcDate),
		"Sun Nov 06 08:49:37 1994":          on(asctime, rfcDate),
		"Wed Nov 16 08:49:37 1994":          on(asctime, "1994-11-16T08:49:37Z"),
		"Sat Dec 31 23:59:60 2016":          on(asctime, "2017-01-01T00:00:00Z"),
	} {
		got, err := Parse(value, now)
		if err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", quote(value), got, err, want)
		}
	}
}

func TestNE8Malformed(t *testing.T) {
	for _, value := range []string{
		"", " ", "\t", "garbage", "-5", "+5", "-0", "- 5", "1.5", "5.", ".5", "1,5", "1e3", "0x10",
		"Infinity", "NaN", "null", "true", "5s", "5 s", "120 seconds", "1_000", "1 000", "1:00",
		"１２０", "٥", "½", "\u00a05", "\n5", "5\r\n", "5\x00", "\x00", "\x00\x00\x00",
		"120, 60", "5, 10", "5,5", "5;q=1", `"5"`, "P5S", "2026-11-06T00:00:00Z",
		"1994-11-06", strings.Repeat("x", 8192), strings.Repeat("1", 8192) + "x",
		"Sun, 06 Nov 1994 08:49:37 +0200", "Sun, 06 Nov 1994 08:49:37 +0000",
		"Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 EST",
		"Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 ", "Sun, 06 Nov 1994 08:49:37GMT",
		"06 Nov 1994 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT", "Sun,06 Nov 1994 08:49:37 GMT",
		"Sun, 6 Nov 1994 08:49:37 GMT", "Sun,  6 Nov 1994 08:49:37 GMT",
		"Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 19940 08:49:37 GMT",
		"Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT",
		"Sunday, 06-Nov-1994 08:49:37 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT",
		"Sun, 06 Nox 1994 08:49:37 GMT", "Sun, 06 NNN 1994 08:49:37 GMT",
		"Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
		"Wed, 29 Feb 2023 08:49:37 GMT", "Monday, 29-Feb-10 08:49:37 GMT",
		"Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
		"Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
		"Sun, 06 Nov 1994 08:49:37.5 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 0６ov 1994 08:49:37 GMT",
		"Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 1994 GMT", "Sun Nov    08:49:37 1994",
		"Sun, Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 GMT, 60",
		"Sun, DD Nov YYYY hh:mm:ss GMT", "Sun, 0: Nov 1994 08:49:37 GMT",
	} {
		h, err := Parse(value, now)
		if !errors.Is(err, ErrMalformed) || h != (wire.Hint{}) {
			t.Errorf("%s: %v, %v, want no hint and ErrMalformed", quote(value), h, err)
		}
	}
}

func TestErrorQuotesTheBeginningOfTheValue(t *testing.T) {
	_, err := Parse("-5\x00", now)
	want := `parse Retry-After "-5\x00": neither a number of seconds nor an HTTP date`
	if err == nil || err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
	if _, err = Parse(strings.Repeat("\x00", 8192), now); len(err.Error()) > 300 {
		t.Errorf("error of %d bytes", len(err.Error()))
	}
}

// The century of a two-digit year depends on when it is read (RFC 9110, section
// 5.6.7): with the epoch of virtual runs, 70 is still ahead for one instant.
func TestNE8FiftyYearRule(t *testing.T) {
	for _, tc := range []struct{ now, value, want string }{
		{"2020-01-01T00:00:00Z", "Tuesday, 01-Jan-69 00:00:00 GMT", "2069-01-01T00:00:00Z"},
		{"2020-01-01T00:00:00Z", "Thursday, 01-Jan-70 00:00:00 GMT", "2070-01-01T00:00:00Z"},
		{"2020-01-01T00:00:00Z", "Thursday, 01-Jan-70 00:00:01 GMT", "1970-01-01T00:00:01Z"},
		{"2020-01-01T00:00:00Z", "Friday, 01-Jan-71 00:00:00 GMT", "1971-01-01T00:00:00Z"},
		{"1994-11-06T00:00:00Z", "Friday, 06-Nov-44 00:00:00 GMT", "2044-11-06T00:00:00Z"},
		{"1994-11-06T00:00:00Z", "Monday, 07-Nov-44 00:00:00 GMT", "1944-11-07T00:00:00Z"},
		{"2099-12-31T23:59:00Z", "Friday, 01-Jan-00 00:00:00 GMT", "2100-01-01T00:00:00Z"},
		{"2024-02-29T00:00:00Z", "Sunday, 01-Mar-74 00:00:00 GMT", "2074-03-01T00:00:00Z"},
	} {
		got, err := Parse(tc.value, unixDate(tc.now))
		if err != nil || got != on(rfc850, tc.want) {
			t.Errorf("%s read at %s: %v, %v, want %s", tc.value, tc.now,
				time.Unix(got.Value, 0).UTC(), err, tc.want)
		}
	}
}

// Two lines: the longest valid wait counts.
func TestNE8SeveralFields(t *testing.T) {
	inAnHour := "Fri, 06 Nov 2026 01:00:00 GMT"
	for _, tc := range []struct {
		values []string
		want   wire.Hint
	}{
		{nil, wire.Hint{}},
		{[]string{"5"}, inSeconds(5)},
		{[]string{"5", "10"}, inSeconds(10)},
		{[]string{"10", "5"}, inSeconds(10)},
		{[]string{"garbage", "5", "-9"}, inSeconds(5)},
		{[]string{"0", "garbage"}, inSeconds(0)},
		{[]string{"3599", inAnHour}, on(imf, "2026-11-06T01:00:00Z")},
		{[]string{inAnHour, "3601"}, inSeconds(3601)},
		{[]string{"Sun, 06 Nov 1994 08:49:37 GMT", "0"}, inSeconds(0)},
		{[]string{inAnHour, strings.Repeat("9", 30)}, inSeconds(math.MaxInt64)},
	} {
		got, err := ParseValues(tc.values, now)
		if err != nil || got != tc.want {
			t.Errorf("%q: %v, %v, want %v", tc.values, got, err, tc.want)
		}
	}
	h, err := ParseValues([]string{"first", "second"}, now)
	if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "first") || h.Form != 0 {
		t.Errorf("%v, %v, want the first error", h, err)
	}
}

func TestFormatOfEachForm(t *testing.T) {
	moment := unixDate(rfcDate)
	got := map[string]string{}
	for i, name := range wire.HintNames() {
		got[name] = Format(wire.Hint{Form: wire.HintForm(i), Value: moment})
	}
	want := map[string]string{
		"none": "", "seconds": fmt.Sprint(moment),
		"date":    "Sun, 06 Nov 1994 08:49:37 GMT",
		"rfc850":  "Sunday, 06-Nov-94 08:49:37 GMT",
		"asctime": "Sun Nov  6 08:49:37 1994",

		"negative": "-" + fmt.Sprint(moment), "signed": "+" + fmt.Sprint(moment),
		"fraction": "784111.777", "past": "Sun, 06 Nov 1994 08:49:37 GMT",
		"huge": "99999999999999999999", "garbage": "in a while", "empty": "",
		"twice": fmt.Sprint(moment), "padded": " " + fmt.Sprint(moment) + " ",
		"pushback": fmt.Sprint(moment), "pushback-stop": "-1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := Format(inSeconds(-3)); got != "0" {
		t.Errorf("negative seconds are written %q", got)
	}
}

// drawHint draws any hint that its form can write.
func drawHint(t *rapid.T) wire.Hint {
	form := wire.HintForm(rapid.IntRange(1, 4).Draw(t, "form"))
	least, most := int64(firstSecond), int64(lastSecond)
	switch form {
	case wire.HintSeconds:
		least, most = 0, math.MaxInt64
	case wire.HintRFC850Date:
		least, most = unixDate("1976-11-06T00:00:01Z"), unixDate("2076-11-06T00:00:00Z")
	}
	return wire.Hint{Form: form, Value: rapid.Int64Range(least, most).Draw(t, "value")}
}

func TestParseReversesFormat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawHint(t)
		got, err := Parse(Format(want), now)
		if err != nil || got != want {
			t.Fatalf("%+v is written %q and read %+v, %v", want, Format(want), got, err)
		}
	})
}

// Out of range, a date is written as the nearest one, so it can be read.
func TestFormatAlwaysWritesWhatParseReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := wire.Hint{
			Form:  wire.HintForm(rapid.IntRange(1, 4).Draw(t, "form")),
			Value: rapid.Int64().Draw(t, "value"),
		}
		if _, err := Parse(Format(h), now); err != nil {
			t.Fatalf("%+v: %v", h, err)
		}
	})
}

// What is accepted is in the canonical form, up to case, the day's name and the
// likes: written again, it reads the same.
func FuzzParse(f *testing.F) {
	for _, value := range []string{
		"120", " 007", "-5", "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
		"Sun Nov  6 08:49:37 1994", "Sat, 31 Dec 2016 23:59:60 GMT", "120, 60", "\x00",
	} {
		f.Add(value, int64(now))
	}
	f.Fuzz(func(t *testing.T, value string, nowUnix int64) {
		h, err := Parse(value, nowUnix)
		if (err == nil) == (h.Form == wire.HintNone) || err != nil && !errors.Is(err, ErrMalformed) {
			t.Fatalf("%q: %+v, %v", value, h, err)
		}
		if h.Form == wire.HintSeconds && h.Value < 0 {
			t.Fatalf("%q: negative %+v", value, h)
		}
		if nowUnix != now || h.Form == wire.HintNone || h.Value > lastSecond {
			return
		}
		if again, err := Parse(Format(h), nowUnix); err != nil || again != h {
			t.Fatalf("%q: %+v, again %+v, %v", value, h, again, err)
		}
	})
}

func BenchmarkParseSeconds(b *testing.B) {
	b.ReportAllocs()
	for range b.N {
		_, _ = Parse("120", now)
	}
}

func BenchmarkParseDate(b *testing.B) {
	b.ReportAllocs()
	for range b.N {
		_, _ = Parse("Sun, 06 Nov 1994 08:49:37 GMT", now)
	}
}
