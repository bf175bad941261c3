package scenarios

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// position is a place in a file; both count from 1.
type position struct{ line, column int }

// shape is what a node of a file is.
type shape uint8

const (
	scalar shape = iota
	mapping
	list
	nothing
)

var shapeNames = [...]string{"a value", "fields of its own", "a list", "nothing"}

func (s shape) String() string { return shapeNames[s] }

// node is a part of a file, free of the parser's types.
type node struct {
	position
	shape shape
	text  string  // of a scalar, as it was written
	pairs []pair  // of a mapping
	items []*node // of a list
}

type pair struct {
	position
	key   string
	value *node
}

// parseTree reads a file's text into a tree. It checks the form alone.
func parseTree(text string) (root *node, err *Error) {
	// The parser is the one part that is not ours; a file must not end a run.
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, &Error{Msg: fmt.Sprintf("cannot be read as YAML: %v", p)}
		}
	}()
	tokens := lexer.Tokenize(text)
	if err := checkTokens(text, tokens); err != nil {
		return nil, err
	}
	file, failed := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if failed != nil {
		return nil, syntaxError(text, failed)
	}
	return soleDocument(file)
}

func soleDocument(file *ast.File) (*node, *Error) {
	var root *node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		at := placeOf(doc.Body)
		if root != nil {
			return nil, &Error{Line: at.line, Column: at.column,
				Msg: "a second document begins here; a file holds one scenario"}
		}
		n, err := convert(doc.Body, "")
		if err != nil {
			return nil, err
		}
		root = n
	}
	if root == nil {
		return nil, &Error{Msg: "is empty; a scenario has at least version: 1 and a name"}
	}
	return root, nil
}

// syntaxError gives a parser's error its place and a plain message.
func syntaxError(text string, err error) *Error {
	e := &Error{Msg: "is not YAML: " + err.Error(), err: err}
	var placed yaml.Error
	if !errors.As(err, &placed) {
		return e
	}
	e.Msg = "is not YAML: " + placed.GetMessage()
	if t := placed.GetToken(); t != nil {
		at := placeOfToken(t)
		e.Line, e.Column = at.line, at.column
	}
	if at, ok := tabAt(text, e.Line); ok {
		e.Line, e.Column = at.line, at.column
		e.Msg = "a tab is used for indentation; use spaces"
	}
	return e
}

// tabAt finds a tab in the indentation of a line, which a parser complains of in
// many ways.
func tabAt(text string, line int) (position, bool) {
	lines := strings.Split(text, "\n")
	if line < 1 || line > len(lines) {
		return position{}, false
	}
	at := lines[line-1]
	i := strings.IndexByte(at, '\t')
	return position{line, i + 1}, i >= 0 && strings.Trim(at[:i], " ") == ""
}

func placeOf(n ast.Node) position {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return placeOf(n.Values[0])
		}
	case *ast.MappingValueNode:
		return placeOfToken(n.Key.GetToken())
	}
	return placeOfToken(n.GetToken())
}

func placeOfToken(t *token.Token) position {
	return position{max(1, t.Position.Line), max(1, t.Position.Column)}
}

// convert makes a node of the parser into one of ours; field is its path.
func convert(n ast.Node, field string) (*node, *Error) {
	at := &node{position: placeOf(n)}
	switch n := n.(type) {
	case *ast.MappingNode:
		return at, at.addPairs(n.Values, field)
	case *ast.MappingValueNode:
		return at, at.addPairs([]*ast.MappingValueNode{n}, field)
	case *ast.SequenceNode:
		return at, at.addItems(n.Values, field)
	case *ast.NullNode:
		at.shape = nothing
	case *ast.LiteralNode:
		at.text = n.Value.Value
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode,
		*ast.InfinityNode, *ast.NanNode:
		at.text = n.GetToken().Value
	default:
		return nil, at.fail(field, "has no place in a scenario: "+n.Type().YAMLName())
	}
	return at, nil
}

func (n *node) addPairs(values []*ast.MappingValueNode, parent string) *Error {
	n.shape = mapping
	seen := make(map[string]position, len(values))
	for _, v := range values {
		key, err := convertKey(v.Key, parent)
		if err != nil {
			return err
		}
		field := join(parent, key.text)
		if first, twice := seen[key.text]; twice {
			return key.fail(field, fmt.Sprintf("is here a second time; the first is in line %d", first.line))
		}
		seen[key.text] = key.position
		value, err := convert(v.Value, field)
		if err != nil {
			return err
		}
		n.pairs = append(n.pairs, pair{key.position, key.text, value})
	}
	return nil
}

func convertKey(k ast.MapKeyNode, parent string) (*node, *Error) {
	key := &node{position: placeOfToken(k.GetToken())}
	switch k.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		key.text = k.GetToken().Value
		return key, nil
	}
	return nil, key.fail(parent, "a key must be a plain word")
}

func (n *node) addItems(values []ast.Node, parent string) *Error {
	n.shape = list
	for i, v := range values {
		item, err := convert(v, itemPath(parent, i))
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	return nil
}

// join is the path of a field in its section.
func join(parent, key string) string {
	if parent == "" {
		return shorten(key)
	}
	return parent + "." + shorten(key)
}

// itemPath is the path of an entry of a list, as in faults[0].
func itemPath(parent string, i int) string { return parent + "[" + strconv.Itoa(i) + "]" }

func (p position) fail(field, msg string) *Error {
	return &Error{Line: p.line, Column: p.column, Field: field, Msg: msg}
}

// get finds the value of a key; nil if there is none.
func (n *node) get(key string) *pair {
	for i := range n.pairs {
		if n.pairs[i].key == key {
			return &n.pairs[i]
		}
	}
	return nil
}
