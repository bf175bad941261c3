package wire_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"herdscope/engine/wire"
)

func TestFormatAttempt(t *testing.T) {
	a := wire.Attempt{
		ID:    wire.AttemptID{Client: 417, Request: 12, Try: 3},
		Class: wire.Background, Scope: 2,
	}
	for _, c := range []struct {
		warm, probe bool
		want        string
	}{
		{false, false, "417.12.3.background.2.-"},
		{true, false, "417.12.3.background.2.w"},
		{false, true, "417.12.3.background.2.p"},
		{true, true, "417.12.3.background.2.wp"},
	} {
		a.Warm, a.Probe = c.warm, c.probe
		if got := wire.FormatAttempt(a); got != c.want {
			t.Errorf("FormatAttempt(%+v) = %q, want %q", a, got, c.want)
		}
	}
}

func TestParseAttemptNamesTheBadPart(t *testing.T) {
	for field, part := range map[string]string{
		"":                             "1 parts",
		"1.2.3":                        "3 parts",
		"x.1.1.critical.0.-":           `client "x"`,
		"-1.1.1.critical.0.-":          `client "-1"`,
		"4294967296.1.1.critical.0.-":  "client",
		"1.0.1.critical.0.-":           `request "0"`,
		"1.1.0.critical.0.-":           `try "0"`,
		"1.1.65536.critical.0.-":       `try "65536"`,
		"1.1.1.urgent.0.-":             `class "urgent"`,
		"1.1.1.critical.4.-":           `scope "4"`,
		"1.1.1.critical.0.":            `flags ""`,
		"1.1.1.critical.0.pw":          `flags "pw"`,
		"1.1.1.critical.0.r":           `flags ""`,
		"1.1.1.critical.0.wr0":         `flags "0"`,
		"1.1.1.critical.0.-r7":         `parse`,
		"1.1.1.critical.0.-.":          "7 parts",
		"1.1.1.critical.0.- ":          `flags "- "`,
		" 1.1.1.critical.0.-":          `client " 1"`,
		"9.9.9.critical.99999999999.-": "scope",
	} {
		_, err := wire.ParseAttempt(field)
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("ParseAttempt(%q): error %v, want one that names %s", field, err, part)
		}
	}
}

func TestAttemptRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := wire.Attempt{
			ID: wire.AttemptID{
				Client:  wire.ClientID(rapid.Uint32().Draw(t, "client")),
				Request: wire.RequestID(rapid.Uint32Min(1).Draw(t, "request")),
				Try:     rapid.Uint16Min(1).Draw(t, "try"),
			},
			Class:   wire.Class(rapid.IntRange(0, wire.NumClasses-1).Draw(t, "class")),
			Scope:   uint8(rapid.IntRange(0, wire.MaxScopes-1).Draw(t, "scope")),
			Probe:   rapid.Bool().Draw(t, "probe"),
			Warm:    rapid.Bool().Draw(t, "warm"),
			Repeats: wire.RequestID(rapid.Uint32().Draw(t, "repeats")),
		}
		got, err := wire.ParseAttempt(wire.FormatAttempt(want))
		if err != nil || got != want {
			t.Fatalf("round trip of %+v: %+v, %v", want, got, err)
		}
	})
}

func FuzzParseAttempt(f *testing.F) {
	f.Add("417.12.3.critical.0.-")
	f.Add("0.1.1.background.3.wp")
	f.Fuzz(func(t *testing.T, field string) {
		a, err := wire.ParseAttempt(field)
		if err != nil {
			return
		}
		again, err := wire.ParseAttempt(wire.FormatAttempt(a))
		if err != nil || again != a {
			t.Fatalf("%q parses as %+v, which comes back as %+v, %v", field, a, again, err)
		}
	})
}
