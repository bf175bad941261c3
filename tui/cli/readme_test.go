package cli

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"herdscope/faultserver/fault"
	"herdscope/scenarios"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReadmeScenarioIsOne: what people copy must work.
func TestReadmeScenarioIsOne(t *testing.T) {
	_, rest, _ := strings.Cut(readme(t), "```yaml\n")
	text, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("no YAML in the README")
	}
	s, err := scenarios.Parse("README.md", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
}

// TestReadmeNamesEveryKey: every key of the summary, at any depth, is explained.
func TestReadmeNamesEveryKey(t *testing.T) {
	code, out, complaint := call("run", "restart", "--virtual", "--duration", "1s", "--json")
	if code != exitOK {
		t.Fatalf("code %d: %s", code, complaint)
	}
	var summary map[string]any
	if err := json.Unmarshal([]byte(out), &summary); err != nil {
		t.Fatal(err)
	}
	delete(summary, "statuses")                      // its keys are numbers
	delete(summary["herd"].(map[string]any), "fano") // its keys are widths
	text := readme(t)
	for _, key := range append(keys(summary), "statuses", "fano") {
		if !strings.Contains(text, key) {
			t.Errorf("the README does not explain %s", key)
		}
	}
}

func keys(object map[string]any) []string {
	var all []string
	for key, value := range object {
		all = append(all, key)
		if inner, ok := value.(map[string]any); ok {
			all = append(all, keys(inner)...)
		}
	}
	return all
}

func TestReadmeNamesEveryFieldOfFaults(t *testing.T) {
	text := readme(t)
	for i, kind := range fault.KindNames() {
		s := scenarios.Default()
		s.Server.Faults = []fault.Fault{{Name: "x", Kind: fault.Kind(i)}}
		names := []string{kind}
		for _, k := range s.FaultKnobs() {
			names = append(names, strings.TrimPrefix(k.Name, "fault.x."))
		}
		for _, name := range names {
			if !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, "`"+name+": ") {
				t.Errorf("the README does not explain %s of %s", name, kind)
			}
		}
	}
}

func TestReadmeNamesEveryFlag(t *testing.T) {
	text := readme(t)
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(text, "--"+f.Name) {
				t.Errorf("the README does not name --%s of %s", f.Name, cmd.CommandPath())
			}
		})
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(new(app).root())
}
