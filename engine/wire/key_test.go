package wire_test

import (
	"testing"

	"pgregory.net/rapid"

	"herdscope/engine/wire"
)

func TestParseKey(t *testing.T) {
	for field, want := range map[string]uint64{
		"":                       0,
		`"00c0ffee00c0ffee"`:     0x00c0ffee00c0ffee,
		`"00C0FFEE00C0FFEE"`:     0x00c0ffee00c0ffee,
		"a":                      0xaf63dc4c8601ec8c, // FNV-1a of "a", from its authors' vectors
		`"0000000000000000"`:     wire.ParseKey(`"0000000000000000"`),
		"8e03978e-40d5-43dd-bc9": wire.ParseKey("8e03978e-40d5-43dd-bc9"),
	} {
		if got := wire.ParseKey(field); got != want || (got == 0) != (field == "") {
			t.Errorf("ParseKey(%q) = %#x, want %#x", field, got, want)
		}
	}
	if wire.ParseKey(`"00c0ffee00c0ffeg"`) == wire.ParseKey(`"00c0ffee00c0ffeh"`) {
		t.Error("two foreign keys are one")
	}
}

func TestKeyRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Uint64Min(1).Draw(t, "key")
		if got := wire.ParseKey(wire.FormatKey(want)); got != want {
			t.Fatalf("round trip of %#x: %#x as %s", want, got, wire.FormatKey(want))
		}
	})
}
