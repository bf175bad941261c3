package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// root is the module's root as seen from this package.
const root = "../.."

// imports is the house: each package, and those of ours that it may import. A
// new package adds its row; an edge that a row lacks is a mistake in the code,
// or a decision that belongs here.
var imports = map[string][]string{
	"engine/clock": nil,
	"engine/knob":  nil,
	"engine/rng":   nil,
	"engine/wire":  {"engine/clock"},

	"engine/backoff":    {"engine/clock", "engine/rng", "engine/wire"},
	"engine/breaker":    {"engine/clock", "engine/rng", "engine/wire"},
	"engine/budget":     {"engine/clock", "engine/rng", "engine/wire"},
	"engine/limiter":    nil,
	"engine/queue":      {"engine/clock", "engine/rng", "engine/wire"},
	"engine/retryafter": {"engine/clock", "engine/rng", "engine/wire"},

	"engine": {
		"engine/backoff", "engine/breaker", "engine/budget", "engine/clock", "engine/knob",
		"engine/limiter", "engine/queue", "engine/retryafter", "engine/rng", "engine/wire",
	},
	"engine/preset": {"engine", "engine/backoff", "engine/budget", "engine/knob"},
	"engine/fleet": {
		"engine", "engine/budget", "engine/clock", "engine/knob", "engine/preset", "engine/rng", "engine/wire",
	},
	"engine/metrics": {"engine", "engine/clock", "engine/rng", "engine/wire"},
	"engine/sim":     {"engine", "engine/clock", "engine/fleet", "engine/retryafter", "engine/rng", "engine/wire"},
	"engine/live":    {"engine", "engine/clock", "engine/fleet", "engine/retryafter", "engine/rng", "engine/wire"},
	"engine/enginetest": {
		"engine", "engine/backoff", "engine/breaker", "engine/clock", "engine/fleet", "engine/knob", "engine/limiter",
		"engine/metrics", "engine/queue", "engine/retryafter", "engine/rng", "engine/sim", "engine/wire",
	},
	"engine/enginetest/twins": nil,

	"faultserver/fault": {"engine/clock", "engine/knob", "engine/queue", "engine/retryafter", "engine/rng", "engine/wire"},
	"faultserver/adhoc": {"engine/clock", "engine/knob", "engine/retryafter", "engine/rng", "engine/wire"},
	"faultserver": {
		"engine/clock", "engine/knob", "engine/retryafter", "engine/wire", "faultserver/adhoc", "faultserver/fault",
	},

	"scenarios": {
		"engine", "engine/backoff", "engine/breaker", "engine/clock", "engine/fleet", "engine/knob",
		"engine/queue", "engine/wire", "faultserver/fault",
	},
	"scenarios/run": {
		"engine", "engine/clock", "engine/fleet", "engine/live", "engine/metrics", "engine/retryafter",
		"engine/sim", "engine/wire", "faultserver", "faultserver/fault", "scenarios",
	},
	"scenarios/report": {"engine/clock", "engine/metrics", "engine/wire", "scenarios", "scenarios/run"},

	"tui/theme":  nil,
	"tui/keymap": nil,
	"tui/widget": {"engine/clock", "engine/metrics", "engine/wire", "tui/keymap", "tui/theme"},
	"tui/page": {
		"engine/clock", "engine/knob", "engine/metrics", "engine/wire", "scenarios",
		"tui/keymap", "tui/theme", "tui/widget",
	},
	"tui/page/pagetest": {
		"engine/backoff", "engine/clock", "engine/knob", "engine/metrics", "engine/wire",
		"faultserver/fault", "scenarios", "tui/page",
	},
	"tui": {
		"engine/clock", "engine/knob", "engine/metrics", "engine/wire", "scenarios",
		"tui/keymap", "tui/page", "tui/theme", "tui/widget",
	},
	"tui/cli": {
		"engine/clock", "engine/knob", "engine/metrics", "engine/preset", "engine/live", "engine/queue", "engine/wire", "faultserver", "faultserver/fault",
		"scenarios", "scenarios/report", "scenarios/run", "tui", "tui/theme",
	},
	"": {"tui/cli"},
}

// testOnly is the packages that only tests may import.
var testOnly = []string{"engine/enginetest", "engine/enginetest/twins", "tui/page/pagetest"}

// twins is the libraries that only tests may import: the engine is held against
// them, and stands on none.
var twins = []string{
	"github.com/sony/gobreaker", "github.com/cenkalti/backoff", "github.com/failsafe-go/failsafe-go",
	"github.com/hashicorp/go-retryablehttp", "pgregory.net/rapid",
}

// topLevel is all that may stand at the top of the repository, hidden files
// apart.
var topLevel = []string{
	"go.mod", "go.sum", "main.go", "tui", "engine", "faultserver", "scenarios", "README.md", "Makefile",
}

// listed is what `go list` says of a package.
type listed struct {
	ImportPath string
	Name       string
	Doc        string
	GoFiles    []string
	Imports    []string
}

// rel is a package of this module by its path below the root.
func (p listed) rel() string { return below(p.ImportPath) }

const module = "herdscope"

func below(importPath string) string {
	return strings.TrimPrefix(strings.TrimPrefix(importPath, module), "/")
}

func ours(importPath string) bool {
	return importPath == module || strings.HasPrefix(importPath, module+"/")
}

// list is all packages of the module.
func list(t *testing.T) []listed {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(command(t, "go", "list", "-e", "-json=ImportPath,Name,Doc,GoFiles,Imports", "./...")))
	var all []listed
	for {
		var p listed
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatal(err)
		}
		if len(p.GoFiles) > 0 {
			all = append(all, p)
		}
	}
}

// command runs a program at the root and returns what it prints.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = root
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, complaint.String())
	}
	return string(out)
}

func TestImportsGoOneWay(t *testing.T) {
	for _, p := range list(t) {
		allowed, known := imports[p.rel()]
		if !known {
			t.Errorf("package %s has no row in the table of imports", p.rel())
			continue
		}
		for _, imported := range p.Imports {
			if ours(imported) && !slices.Contains(allowed, below(imported)) {
				t.Errorf("%s must not import %s", name(p.rel()), below(imported))
			}
		}
	}
}

func TestTwinsStayInTests(t *testing.T) {
	for _, p := range list(t) {
		for _, imported := range p.Imports {
			if slices.ContainsFunc(twins, func(twin string) bool { return strings.HasPrefix(imported, twin) }) {
				t.Errorf("%s must not import %s outside its tests", name(p.rel()), imported)
			}
		}
	}
}

func TestTableOfImportsIsSound(t *testing.T) {
	for from, to := range imports {
		for _, imported := range to {
			if _, known := imports[imported]; !known {
				t.Errorf("the row of %s names %s, which has none", name(from), imported)
			}
			if slices.Contains(testOnly, imported) {
				t.Errorf("%s is for tests, but the row of %s names it", imported, name(from))
			}
		}
		if strings.HasPrefix(from+"/", "engine/") {
			for _, imported := range to {
				if !strings.HasPrefix(imported+"/", "engine/") {
					t.Errorf("engine must stand alone, but the row of %s names %s", from, imported)
				}
			}
		}
	}
}

func name(rel string) string {
	if rel == "" {
		return "main"
	}
	return rel
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for _, p := range list(t) {
		if p.Doc == "" {
			t.Errorf("package %s has no doc comment", name(p.rel()))
		}
		if base := path.Base(p.ImportPath); slices.Contains([]string{"utils", "util", "common", "helpers", "misc"}, base) {
			t.Errorf("package %s is a drawer, not a name", p.rel())
		}
	}
}

func TestReadmeMapsTheHouse(t *testing.T) {
	readme, err := os.ReadFile(path.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list(t) {
		if p.rel() != "" && !slices.Contains(testOnly, p.rel()) && !bytes.Contains(readme, []byte("`"+p.rel()+"`")) {
			t.Errorf("the README's map lacks %s", p.rel())
		}
	}
}

func TestTopLevelIsFixed(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	if err := exec.Command("git", "-C", root, "rev-parse").Run(); err != nil {
		t.Skip("not a git checkout")
	}
	for file := range strings.Lines(command(t, "git", "ls-files")) {
		entry, _, _ := strings.Cut(strings.TrimSpace(file), "/")
		if !strings.HasPrefix(entry, ".") && !slices.Contains(topLevel, entry) {
			t.Errorf("%s does not belong at the top level", entry)
		}
	}
}
