package cli_test

import (
	"go/ast"
	"go/importer"
	"go/types"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pure says whether a package holds machines, or what they are made of: nothing
// there may depend on when, where and beside what it runs.
func pure(pkg string) bool {
	switch {
	case pkg == "engine/live", strings.HasPrefix(pkg, "engine/live/testdata/"):
		return false // drivers, and the program that tries one as a library
	case pkg == "engine", strings.HasPrefix(pkg, "engine/"), pkg == "faultserver/fault":
		return true
	}
	return false
}

// impure is the packages that a pure one may not import.
var impure = []string{
	"context", "crypto/rand", "log", "log/slog", "math/rand", "math/rand/v2",
	"net", "os", "runtime", "sync", "sync/atomic",
}

// wordsOfHTTP is what a pure package may use of net/http: names of numbers and
// the reading and writing of dates.
var wordsOfHTTP = regexp.MustCompile(`^(Status[A-Z]\w+|Method[A-Z]\w+|ParseTime|TimeFormat)$`)

// impureNames is what a pure package may not use of those that it may import:
// clocks, and sorting that leaves equals in any order.
var impureNames = map[string][]string{
	"time": {"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"},
	"sort": {"Slice", "Sort"},
}

func TestMachinesArePure(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test() || !pure(f.pkg()) {
			continue
		}
		checkImports(t, f)
		ast.Inspect(f.ast, func(n ast.Node) bool {
			checkNode(t, f, n)
			return true
		})
	}
}

func checkImports(t *testing.T, f goFile) {
	t.Helper()
	for _, spec := range f.ast.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(impure, imported) {
			t.Errorf("%s: a machine must not import %s", f.at(spec), imported)
		}
	}
}

func checkNode(t *testing.T, f goFile, n ast.Node) {
	t.Helper()
	switch n := n.(type) {
	case *ast.GoStmt:
		t.Errorf("%s: a machine must not start a goroutine", f.at(n))
	case *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
		t.Errorf("%s: a machine must not use channels", f.at(n))
	case *ast.SelectorExpr:
		if x, ok := n.X.(*ast.Ident); ok && !pureName(x.Name, n.Sel.Name) {
			t.Errorf("%s: a machine must not use %s.%s", f.at(n), x.Name, n.Sel.Name)
		}
	}
}

func pureName(pkg, name string) bool {
	if pkg == "http" {
		return wordsOfHTTP.MatchString(name)
	}
	return !slices.Contains(impureNames[pkg], name)
}

// orderless are the files that may range over maps, since no order comes of it.
var orderless = []string{
	"engine/metrics/check.go", // adds up counts
}

// TestMachinesDoNotRangeOverMaps needs types, which it reads from the export
// data that the compiler left in the build cache.
func TestMachinesDoNotRangeOverMaps(t *testing.T) {
	exports := exportData(t)
	byPackage := map[string][]goFile{}
	for _, f := range goFiles(t) {
		if pkg := f.pkg(); !f.test() && pure(pkg) {
			byPackage[pkg] = append(byPackage[pkg], f)
		}
	}
	for pkg, files := range byPackage {
		t.Run(strings.ReplaceAll(pkg, "/", "."), func(t *testing.T) {
			checkRanges(t, pkg, files, exports)
		})
	}
}

// exportData maps import paths to the files with their export data.
func exportData(t *testing.T) map[string]string {
	t.Helper()
	out := command(t, "go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}",
		"./engine/...", "./faultserver/fault")
	exports := map[string]string{}
	for line := range strings.Lines(out) {
		pkg, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		exports[pkg] = file
	}
	return exports
}

func checkRanges(t *testing.T, pkg string, files []goFile, exports map[string]string) {
	t.Helper()
	fset := files[0].fset
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", func(pkg string) (io.ReadCloser, error) {
		return os.Open(exports[pkg])
	})}
	var parsed []*ast.File
	for _, f := range files {
		parsed = append(parsed, f.ast)
	}
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	if _, err := conf.Check(pkg, fset, parsed, &info); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			r, ok := n.(*ast.RangeStmt)
			if ok && overMap(info.TypeOf(r.X)) && !slices.Contains(orderless, f.path) {
				t.Errorf("%s: a machine must not range over a map", f.at(r))
			}
			return true
		})
	}
}

func overMap(t types.Type) bool {
	_, ok := t.Underlying().(*types.Map)
	return ok
}
