package cli

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herdscope/engine/knob"
	"herdscope/engine/preset"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
	"herdscope/scenarios"
)

var rewrite = flag.Bool("rewrite", false, "write the table of features into the README")

// The lines of the README between which the table of features stands.
const (
	featuresBegin = "<!-- features: `go test ./tui/cli -run Features -rewrite` makes the table from the registries -->\n"
	featuresEnd   = "<!-- end of features -->\n"
)

// TestReadmeHasTheFeatures: the table of what can be chosen is what the
// registries of knobs, presets and faults hold, and nothing else.
func TestReadmeHasTheFeatures(t *testing.T) {
	text := readme(t)
	before, rest, began := strings.Cut(text, featuresBegin)
	got, after, ended := strings.Cut(rest, featuresEnd)
	if !began || !ended {
		t.Fatal("the README has no place for the table of features")
	}
	want := featureTable()
	if *rewrite {
		whole := before + featuresBegin + want + featuresEnd + after
		if err := os.WriteFile("../../README.md", []byte(whole), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the table of features is out of date; run the test with -rewrite (-want +got):\n%s", diff)
	}
}

// featureTable lists, section by section, what can be chosen and what can be
// switched on. Plain figures are left to `herdscope knobs`.
func featureTable() string {
	var b strings.Builder
	b.WriteString("| section | choices | can be off |\n|---|---|---|\n")
	for _, section := range sections() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", section.name,
			strings.Join(section.choices, "<br>"), strings.Join(section.switches, " "))
	}
	fmt.Fprintf(&b, "| faults | %s | |\n", strings.Join(fault.KindNames(), " · "))
	fmt.Fprintf(&b, "| presets | %s | |\n", strings.Join(preset.Names(), " · "))
	return b.String()
}

// featureSection is one row: the knobs whose names begin alike.
type featureSection struct {
	name              string
	choices, switches []string
}

func sections() []featureSection {
	var all []featureSection
	for _, k := range scenarios.Knobs() {
		choice, switched := feature(k)
		if choice == "" && switched == "" {
			continue
		}
		name, _, _ := strings.Cut(k.Name, ".")
		i := slices.IndexFunc(all, func(s featureSection) bool { return s.name == name })
		if i < 0 {
			i, all = len(all), append(all, featureSection{name: name})
		}
		all[i].choices = addOnce(all[i].choices, choice)
		all[i].switches = addOnce(all[i].switches, switched)
	}
	return all
}

// addOnce adds what is not empty and not there yet: knobs of each class are told
// once.
func addOnce(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// feature is how a knob stands in the table: as a choice, as something that can
// be off, or a limit that there may be none of, or, as most figures, not at all.
func feature(k knob.Spec) (choice, switched string) {
	_, short, _ := strings.Cut(k.Name, ".")
	if class, rest, _ := strings.Cut(short, "."); slices.Contains(wire.ClassNames(), class) {
		short = "CLASS." + rest
	}
	switch {
	case k.Name == "retry.preset":
		return "", "" // a row of its own
	case k.Kind == knob.Choice:
		return fmt.Sprintf("`%s` %s", short, strings.Join(k.Choices, " · ")), ""
	case k.Kind == knob.Switch, k.Zero == "off", k.Zero == "unlimited":
		return "", "`" + short + "`"
	}
	return "", ""
}
