package knob

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var (
	count = Spec{Name: "retry.attempts", Kind: Int, Min: 1, Max: 100, Step: 1}
	limit = Spec{Name: "queue.limit", Kind: Int, Min: 1, Max: 1000, Step: 1, Zero: "unlimited"}
	wait  = Spec{
		Name: "retry.base", Kind: Duration, Min: int64(time.Millisecond), Max: int64(time.Hour),
		Step: int64(100 * time.Millisecond),
	}
	deadline = Spec{
		Name: "deadline", Kind: Duration, Min: int64(time.Millisecond), Max: int64(24 * time.Hour),
		Step: int64(time.Second), Zero: "off",
	}
	share  = Spec{Name: "share", Kind: Ratio, Max: 1000, Step: 50}
	rate   = Spec{Name: "arrival.rate", Kind: Rate, Min: 1, Max: 1_000_000_000}
	jitter = Spec{Name: "retry.jitter", Kind: Choice, Choices: []string{"none", "full", "equal"}}
	scoped = Spec{
		Name: "scopes.a.limit", Kind: Int, Min: 1, Max: 1000, Step: 1, Zero: "default",
		Words: []Word{{Name: "0", Value: -1, Means: "to pause"}, {Name: "unlimited", Value: -2}},
	}
	toggle = Spec{Name: "retry.network", Kind: Switch}
)

var all = []Spec{count, limit, wait, deadline, share, rate, jitter, toggle, scoped}

func TestParse(t *testing.T) {
	tests := []struct {
		spec Spec
		text string
		want int64
	}{
		{count, "1", 1},
		{count, "100", 100},
		{count, "007", 7},
		{count, "5.0", 5},
		{limit, "unlimited", 0},
		{limit, "4", 4},
		{wait, "1.2s", 1_200_000_000},
		{wait, "500ms", 500_000_000},
		{wait, "500 ms", 500_000_000},
		{wait, "1 m 30 s", 90_000_000_000},
		{wait, "1m30s", 90_000_000_000},
		{wait, "1h", 3_600_000_000_000},
		{deadline, "off", 0},
		{Spec{Kind: Duration, Max: 1}, "0", 0},
		{Spec{Kind: Duration, Max: 1}, "0s", 0},
		{share, "0", 0},
		{share, "1", 1000},
		{share, "0.1", 100},
		{share, ".125", 125},
		{share, "0.500000", 500},
		{rate, "200", 200_000},
		{rate, "0.1", 100},
		{rate, "1.5k", 1_500_000},
		{rate, "200/s", 200_000},
		{rate, "1.2345k/s", 1_234_500},
		{jitter, "equal", 2},
		{scoped, "0", -1}, {scoped, "unlimited", -2}, {scoped, "default", 0}, {scoped, "4", 4},
		{toggle, "on", 1}, {toggle, "yes", 1}, {toggle, "true", 1},
		{toggle, "off", 0}, {toggle, "no", 0}, {toggle, "false", 0},
	}
	for _, tt := range tests {
		if got, err := tt.spec.Parse(tt.text); err != nil || got != tt.want {
			t.Errorf("%s.Parse(%q) = %d, %v, want %d", tt.spec.Name, tt.text, got, err, tt.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	const (
		asCount    = "; allowed: 1 to 100"
		asDuration = "; allowed: 1ms to 1h"
		asRate     = "; allowed: 0.001/s to 1000000/s"
		asScoped   = "; allowed: 1 to 1000, 0 to pause, unlimited, or default"
		asChoice   = "; allowed: one of none, full, equal"
	)
	tests := []struct {
		spec Spec
		text string
		want string
	}{
		{count, "", `retry.attempts: "" is empty` + asCount},
		{count, "0", `retry.attempts: "0" is out of range` + asCount},
		{count, "101", `retry.attempts: "101" is out of range` + asCount},
		{count, "-1", `retry.attempts: "-1" is out of range` + asCount},
		{count, "2.5", `retry.attempts: "2.5" is not a whole number` + asCount},
		{count, "1e3", `retry.attempts: "1e3" is not a plain number` + asCount},
		{count, "1e9999", `retry.attempts: "1e9999" is not a plain number` + asCount},
		{count, "NaN", `retry.attempts: "NaN" is not a plain number` + asCount},
		{count, "Inf", `retry.attempts: "Inf" is not a plain number` + asCount},
		{count, "0x10", `retry.attempts: "0x10" is not a plain number` + asCount},
		{count, "3 tries", `retry.attempts: "3 tries" is not a plain number` + asCount},
		{count, "99999999999999999999", `retry.attempts: "99999999999999999999" is out of range` + asCount},
		{count, "-99999999999999999999", `retry.attempts: "-99999999999999999999" is out of range` + asCount},
		{limit, "0", `queue.limit: "0" could be read either way; write unlimited` +
			"; allowed: 1 to 1000, or unlimited"},
		{limit, "unlimitd", `queue.limit: "unlimitd" is not a plain number` +
			`; allowed: 1 to 1000, or unlimited; did you mean "unlimited"?`},
		{deadline, "0s", `deadline: "0s" could be read either way; write off` +
			"; allowed: 1ms to 24h, or off"},
		{wait, "1000", `retry.base: "1000" has no unit; write 1000ms or 1000s` + asDuration},
		{wait, "1.5", `retry.base: "1.5" has no unit; write 1.5ms or 1.5s` + asDuration},
		{wait, "1m30", `retry.base: "1m30" ` + notADuration + asDuration},
		{wait, "1 0s", `retry.base: "1 0s" ` + notADuration + asDuration},
		{wait, " 1s", `retry.base: " 1s" ` + notADuration + asDuration},
		{wait, "1s ", `retry.base: "1s " ` + notADuration + asDuration},
		{wait, "1d", `retry.base: "1d" ` + notADuration + asDuration},
		{wait, "NaNs", `retry.base: "NaNs" ` + notADuration + asDuration},
		{wait, "1e3s", `retry.base: "1e3s" ` + notADuration + asDuration},
		{wait, "1sx", `retry.base: "1sx" ` + notADuration + asDuration},
		{wait, "0", `retry.base: "0" is out of range` + asDuration},
		{wait, "-1s", `retry.base: "-1s" is out of range` + asDuration},
		{wait, "1ns", `retry.base: "1ns" is out of range` + asDuration},
		{wait, "9999999999h", `retry.base: "9999999999h" is out of range` + asDuration},
		{share, "1.5", `share: "1.5" is out of range; allowed: 0 to 1`},
		{share, "0.0001", `share: "0.0001" has too many decimals; allowed: 0 to 1`},
		{rate, "0", `arrival.rate: "0" is out of range` + asRate},
		{rate, "1e-9", `arrival.rate: "1e-9" is not a plain number` + asRate},
		{rate, "0.0001", `arrival.rate: "0.0001" has too many decimals` + asRate},
		{rate, "10 /s", `arrival.rate: "10 /s" is not a plain number` + asRate},
		{rate, "10/m", `arrival.rate: "10/m" is not a plain number` + asRate},
		{rate, "k", `arrival.rate: "k" is not a plain number` + asRate},
		{jitter, "ful", `retry.jitter: "ful" is not among the choices` + asChoice + `; did you mean "full"?`},
		{jitter, "FULL", `retry.jitter: "FULL" is not among the choices` + asChoice + `; did you mean "full"?`},
		{jitter, "1", `retry.jitter: "1" is not among the choices` + asChoice},
		{scoped, "-1", `scopes.a.limit: "-1" is out of range` + asScoped},
		{scoped, "-2", `scopes.a.limit: "-2" is out of range` + asScoped},
		{scoped, "00", `scopes.a.limit: "00" could be read either way; write default` + asScoped +
			`; did you mean "0"?`},
		{scoped, "unlimted", `scopes.a.limit: "unlimted" is not a plain number` + asScoped +
			`; did you mean "unlimited"?`},
		{toggle, "1", `retry.network: "1" is neither on nor off; allowed: on or off`},
		{toggle, "a\nb\x00", `retry.network: "a\nb\x00" is neither on nor off; allowed: on or off`},
	}
	for _, tt := range tests {
		_, err := tt.spec.Parse(tt.text)
		var refused *Error
		if !errors.As(err, &refused) || err.Error() != tt.want {
			t.Errorf("Parse(%q)\n got %v\nwant %s", tt.text, err, tt.want)
		}
	}
}

func TestLongValuesAreCutShort(t *testing.T) {
	_, err := jitter.Parse(strings.Repeat("ä", 10_000))
	if len(err.Error()) > 200 {
		t.Errorf("an error of %d bytes: %.300s", len(err.Error()), err)
	}
}

func TestFormat(t *testing.T) {
	tests := []struct {
		spec Spec
		v    int64
		want string
	}{
		{count, 7, "7"},
		{limit, 0, "unlimited"},
		{wait, int64(90 * time.Second), "1m30s"},
		{wait, int64(time.Minute), "1m"},
		{wait, int64(time.Hour), "1h"},
		{wait, int64(time.Hour + time.Second), "1h0m1s"},
		{wait, int64(1500 * time.Nanosecond), "1.5us"},
		{wait, 0, "0s"},
		{deadline, 0, "off"},
		{share, 0, "0"},
		{share, 1000, "1"},
		{share, 50, "0.05"},
		{rate, 1_500_000, "1500/s"},
		{rate, 1, "0.001/s"},
		{rate, -1500, "-1.5/s"},
		{jitter, 1, "full"},
		{jitter, 9, "9"},
		{scoped, -1, "0"}, {scoped, -2, "unlimited"}, {scoped, 0, "default"}, {scoped, 3, "3"},
		{toggle, 0, "off"},
		{toggle, 1, "on"},
	}
	for _, tt := range tests {
		if got := tt.spec.Format(tt.v); got != tt.want {
			t.Errorf("%s.Format(%d) = %q, want %q", tt.spec.Name, tt.v, got, tt.want)
		}
	}
}

func TestCheck(t *testing.T) {
	tests := []struct {
		spec Spec
		v    int64
		want string
	}{
		{count, 1, ""}, {count, 100, ""}, {limit, 0, ""}, {toggle, 1, ""}, {jitter, 2, ""},
		{count, 0, `retry.attempts: "0" is out of range; allowed: 1 to 100`},
		{limit, -1, `queue.limit: "-1" is out of range; allowed: 1 to 1000, or unlimited`},
		{jitter, 3, `retry.jitter: "3" is out of range; allowed: one of none, full, equal`},
		{jitter, -1, `retry.jitter: "-1" is out of range; allowed: one of none, full, equal`},
		{toggle, 2, `retry.network: "2" is out of range; allowed: on or off`},
		{wait, math.MinInt64, `retry.base: "-2562047h47m16.854775808s" is out of range; allowed: 1ms to 1h`},
	}
	for _, tt := range tests {
		got := ""
		if err := tt.spec.Check(tt.v); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s.Check(%d)\n got %s\nwant %s", tt.spec.Name, tt.v, got, tt.want)
		}
	}
}

// TestZeroWordNeedsNoMinimum: a table may leave Min at 0 where 0 has a word.
func TestZeroWordNeedsNoMinimum(t *testing.T) {
	s := Spec{Name: "workers", Kind: Int, Max: 10, Step: 1, Zero: "unlimited"}
	if got := s.Allowed(); got != "1 to 10, or unlimited" {
		t.Errorf("Allowed() = %q", got)
	}
	if got := s.Stepped(1, -1); got != 0 {
		t.Errorf("Stepped(1, -1) = %d, want the word's 0", got)
	}
}

func TestStepped(t *testing.T) {
	doubling := Spec{Kind: Int, Min: 1, Max: 1000, Zero: "unlimited"}
	thinking := Spec{Kind: Duration, Max: int64(time.Hour)}
	tests := []struct {
		name    string
		spec    Spec
		v       int64
		presses int
		want    int64
	}{
		{"adds", count, 3, 1, 4},
		{"takes away", count, 3, -2, 1},
		{"stays within", count, 3, -99, 1},
		{"stays within above", count, 3, math.MaxInt, 100},
		{"none", count, 3, 0, 3},
		{"brings back into range", count, 300, 0, 100},
		{"word to first", limit, 0, 1, 1},
		{"first to word", limit, 1, -1, 0},
		{"word is the end", limit, 0, -1, 0},
		{"word to step", deadline, 0, 1, int64(time.Second)},
		{"step to word", deadline, int64(time.Second), -1, 0},
		{"first to the first of the words", scoped, 2, -2, -1},
		{"the first of the words is the end", scoped, 1, -5, -1},
		{"words to first", scoped, -1, 1, 1},
		{"other words to first", scoped, -2, 1, 1},
		{"other words stay", scoped, -2, -1, -2},
		{"default stays", scoped, 0, -1, 0},
		{"adds time", wait, int64(1200 * time.Millisecond), 1, int64(1300 * time.Millisecond)},
		{"halves below a step", wait, int64(100 * time.Millisecond), -2, int64(25 * time.Millisecond)},
		{"doubles below a step", wait, int64(25 * time.Millisecond), 2, int64(100 * time.Millisecond)},
		{"ends at the minimum", wait, int64(25 * time.Millisecond), -50, int64(time.Millisecond)},
		{"doubles", doubling, 10, 2, 40},
		{"halves", doubling, 40, -2, 10},
		{"halves to the word", doubling, 2, -2, 0},
		{"doubles from the word", doubling, 0, 3, 4},
		{"doubles to the maximum", doubling, 600, 1, 1000},
		{"rises from zero", thinking, 0, 1, int64(time.Millisecond)},
		{"falls to zero", thinking, int64(time.Millisecond), -1, 0},
		{"next choice", jitter, 1, 1, 2},
		{"choices wrap", jitter, 2, 1, 0},
		{"choices wrap back", jitter, 0, -1, 2},
		{"toggles", toggle, 0, 1, 1},
		{"toggles back", toggle, 1, -1, 0},
		{"toggles twice", toggle, 1, 2, 1},
	}
	for _, tt := range tests {
		if got := tt.spec.Stepped(tt.v, tt.presses); got != tt.want {
			t.Errorf("%s: Stepped(%d, %d) = %d, want %d", tt.name, tt.v, tt.presses, got, tt.want)
		}
	}
}

// allowedValue draws a value that the spec takes.
func allowedValue(t *rapid.T, s Spec) int64 {
	switch s.Kind {
	case Choice:
		return rapid.Int64Range(0, int64(len(s.Choices))-1).Draw(t, "value")
	case Switch:
		return rapid.Int64Range(0, 1).Draw(t, "value")
	}
	if s.Zero != "" && rapid.Bool().Draw(t, "zero") {
		return 0
	}
	if len(s.Words) > 0 && rapid.Bool().Draw(t, "word") {
		return rapid.SampledFrom(s.Words).Draw(t, "word").Value
	}
	return rapid.Int64Range(s.low(), s.Max).Draw(t, "value")
}

func TestFormattedValuesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(all).Draw(t, "spec")
		v := allowedValue(t, s)
		if got, err := s.Parse(s.Format(v)); err != nil || got != v {
			t.Fatalf("%s: %d is written %q and read %d, %v", s.Name, v, s.Format(v), got, err)
		}
	})
}

func TestSteppedStaysAllowed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(all).Draw(t, "spec")
		v := allowedValue(t, s)
		presses := rapid.IntRange(-100, 100).Draw(t, "presses")
		got := s.Stepped(v, presses)
		if err := s.Check(got); err != nil {
			t.Fatalf("Stepped(%d, %d) = %d: %v", v, presses, got, err)
		}
		if s.Kind != Choice && s.Kind != Switch && presses > 0 && got < v && v > 0 {
			t.Fatalf("Stepped(%d, %d) = %d went down", v, presses, got)
		}
	})
}

func TestParsedValuesAreAllowed(t *testing.T) {
	text := rapid.StringMatching(`-?[0-9]{0,20}\.?[0-9]{0,10}(k|/s|ms|s|h| s|m3)?`)
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(all).Draw(t, "spec")
		if v, err := s.Parse(text.Draw(t, "text")); err == nil && s.Check(v) != nil {
			t.Fatalf("%s: %d was read, but is not allowed", s.Name, v)
		}
	})
}

func TestNearest(t *testing.T) {
	names := []string{"restart", "rate-limit", "gateway-down", "retry.jitter", "retry.base"}
	tests := []struct{ name, want string }{
		{"restrat", "restart"},
		{"RESTART", "restart"},
		{"gateway", "gateway-down"},
		{"ratelimit", "rate-limit"},
		{"jitter", "retry.jitter"},
		{"retyr.jiter", "retry.jitter"},
		{"zebra", ""},
		{"", ""},
		{strings.Repeat("r", 100_000), ""},
	}
	for _, tt := range tests {
		got, ok := Nearest(tt.name, names)
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("Nearest(%.20q) = %q, %v, want %q", tt.name, got, ok, tt.want)
		}
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"abc", "abc", 0},
		{"flaw", "lawn", 2},
	}
	for _, tt := range tests {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestFields(t *testing.T) {
	type config struct {
		n  int
		on bool
	}
	fields := []Field[config]{
		At(count, func(c *config) *int { return &c.n }),
		AtBool(toggle, func(c *config) *bool { return &c.on }),
	}
	c := config{}
	for i, v := range []int64{7, 1} {
		fields[i].Set(&c, v)
		if got := fields[i].Get(&c); got != v {
			t.Errorf("%s = %d after setting %d", fields[i].Name, got, v)
		}
	}
	if want := (config{7, true}); c != want {
		t.Errorf("config = %+v, want %+v", c, want)
	}
	if i, ok := Index(fields, "retry.network"); i != 1 || !ok {
		t.Errorf("Index = %d, %v", i, ok)
	}
	if _, ok := Index(fields, "other"); ok {
		t.Error("Index finds a name that is not there")
	}
	if err := CheckAll(fields, &c); err != nil {
		t.Error(err)
	}
	c.n = 0
	if err := CheckAll(fields, &c); err == nil {
		t.Error("CheckAll accepts 0 attempts")
	}
}
