package cli_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Limits of size, in lines; that of a line is in characters, a tab being one.
const (
	longestFunction = 60
	longestFile     = 450
	longestLine     = 120
)

// longFunctions are switches that make a machine readable in one place, with
// the length beyond which they may not grow.
var longFunctions = map[string]int{}

// goFile is one source file of the module.
type goFile struct {
	path  string // below the root, with slashes
	lines []string
	fset  *token.FileSet
	ast   *ast.File
}

// test says whether the file is compiled into tests only.
func (f goFile) test() bool {
	return strings.HasSuffix(f.path, "_test.go") || slices.Contains(testOnly, f.pkg())
}

// pkg is the path of the file's package.
func (f goFile) pkg() string { return path.Dir(f.path) }

// at is the place of a node, for messages.
func (f goFile) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.path, f.fset.Position(n.Pos()).Line)
}

// height is how many lines a node takes.
func (f goFile) height(n ast.Node) int {
	return f.fset.Position(n.End()).Line - f.fset.Position(n.Pos()).Line + 1
}

// goFiles is every source file of the module, parsed into one set of positions.
func goFiles(t *testing.T) []goFile {
	t.Helper()
	var files []goFile
	fset := token.NewFileSet()
	walk(t, func(path string, text []byte) {
		if !strings.HasSuffix(path, ".go") {
			return
		}
		f := goFile{path: path, fset: fset, lines: strings.Split(string(text), "\n")}
		var err error
		if f.ast, err = parser.ParseFile(f.fset, path, text, parser.ParseComments); err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	})
	return files
}

// walk shows every file of the repository that is not hidden.
func walk(t *testing.T, show func(path string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		hidden := strings.HasPrefix(d.Name(), ".") && path != root
		switch {
		case err != nil:
			return err
		case hidden && d.IsDir():
			return filepath.SkipDir
		case hidden || !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		show(filepath.ToSlash(rel), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSizes(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test() {
			continue
		}
		if n := len(f.lines) - 1; n > longestFile {
			t.Errorf("%s has %d lines, more than %d", f.path, n, longestFile)
		}
		for i, line := range f.lines {
			if n := len([]rune(line)); n > longestLine {
				t.Errorf("%s:%d has %d characters, more than %d", f.path, i+1, n, longestLine)
			}
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				checkHeight(t, f, fn)
			}
		}
	}
}

func checkHeight(t *testing.T, f goFile, fn *ast.FuncDecl) {
	t.Helper()
	key := f.pkg() + "." + fn.Name.Name
	limit := max(longestFunction, longFunctions[key])
	if n := f.height(fn); n > limit {
		t.Errorf("%s: %s has %d lines, more than %d", f.at(fn), fn.Name.Name, n, limit)
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test() {
			continue
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				checkFuncDoc(t, f, d)
			case *ast.GenDecl:
				checkGroupDoc(t, f, d)
			}
		}
	}
}

var getter = regexp.MustCompile(`^Get[A-Z]`)

func checkFuncDoc(t *testing.T, f goFile, d *ast.FuncDecl) {
	t.Helper()
	if !d.Name.IsExported() || !exportedReceiver(d) {
		return
	}
	if d.Doc == nil {
		t.Errorf("%s: %s has no doc comment", f.at(d), d.Name.Name)
	}
	if getter.MatchString(d.Name.Name) {
		t.Errorf("%s: %s needs no Get", f.at(d), d.Name.Name)
	}
}

// exportedReceiver says whether a function is reachable by its receiver's name;
// those without a receiver are.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	exported := true
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			exported = name.IsExported()
			return false
		}
		return exported
	})
	return exported
}

// checkGroupDoc wants a comment on each exported type, and on each exported
// constant and variable or on the group that it stands in.
func checkGroupDoc(t *testing.T, f goFile, d *ast.GenDecl) {
	t.Helper()
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && s.Doc == nil && d.Doc == nil {
				t.Errorf("%s: type %s has no doc comment", f.at(s), s.Name.Name)
			}
		case *ast.ValueSpec:
			if s.Names[0].IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
				t.Errorf("%s: %s has no doc comment", f.at(s), s.Names[0].Name)
			}
		}
	}
}

func TestNothingIsLeftForLater(t *testing.T) {
	later := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X` + `XX)\b`)
	walk(t, func(path string, text []byte) {
		if bytes.IndexByte(text, 0) >= 0 { // not a text
			return
		}
		if word := later.Find(text); word != nil {
			t.Errorf("%s says %s", path, word)
		}
	})
}
