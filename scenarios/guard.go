package scenarios

import (
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/token"
)

// Limits of a file's shape. A parser's work can grow with the square of either,
// and no scenario comes near them.
const (
	maxDepth = 20
	maxKeys  = 500
)

// guard looks at the tokens of a file before they are parsed, and refuses what
// has no place in a scenario or would keep a parser busy.
type guard struct {
	lines []string
	// open are the columns of the block collections around a token, keys how
	// many keys each has; flow is how many brackets are open.
	open []int
	keys []int
	flow int
}

func checkTokens(text string, tokens token.Tokens) *Error {
	g := guard{lines: strings.Split(text, "\n")}
	for _, t := range tokens {
		if msg := g.refuse(t); msg != "" {
			return &Error{Line: t.Position.Line, Column: max(1, t.Position.Column), Msg: msg}
		}
	}
	return nil
}

func (g *guard) refuse(t *token.Token) string {
	if msg := refuseKind(t.Type); msg != "" {
		return msg
	}
	if g.tabBefore(t) {
		return "a tab is used for indentation; use spaces"
	}
	g.nest(t)
	if len(g.open)+g.flow > maxDepth {
		return "is nested too deeply; allowed: " + strconv.Itoa(maxDepth) + " levels"
	}
	if n := len(g.keys); n > 0 && g.keys[n-1] > maxKeys {
		return "has too many entries; allowed: " + strconv.Itoa(maxKeys)
	}
	return ""
}

func refuseKind(t token.Type) string {
	switch t {
	case token.AnchorType, token.AliasType, token.MergeKeyType:
		return "anchors, aliases and merge keys are not allowed; write the value out"
	case token.TagType:
		return "tags are not allowed; write the plain value"
	case token.DirectiveType:
		return "YAML directives are not allowed"
	case token.MappingKeyType:
		return "keys that begin with ? are not allowed; write key: value"
	}
	return ""
}

// tabBefore says whether the token is first on its line, after a tab.
func (g *guard) tabBefore(t *token.Token) bool {
	line := t.Position.Line - 1
	if line < 0 || line >= len(g.lines) || t.Type == token.StringType && t.Prev != nil && isBlock(t.Prev) {
		return false
	}
	text := g.lines[line]
	indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
	return strings.Contains(indent, "\t") && t.Position.Column <= len(indent)+1
}

// isBlock says whether a token begins a block of text, in which tabs are text.
func isBlock(t *token.Token) bool {
	return t.Type == token.LiteralType || t.Type == token.FoldedType
}

// nest follows which collections are open around the token. A block collection
// ends with the first token to the left of it; one in brackets with its bracket.
func (g *guard) nest(t *token.Token) {
	switch t.Type {
	case token.MappingStartType, token.SequenceStartType:
		g.flow++
	case token.MappingEndType, token.SequenceEndType:
		g.flow--
	case token.SequenceEntryType:
		g.enter(t.Position.Column)
	case token.MappingValueType:
		if g.flow == 0 && t.Prev != nil {
			g.enter(t.Prev.Position.Column)
			g.keys[len(g.keys)-1]++
		}
	}
}

func (g *guard) enter(column int) {
	n := len(g.open)
	for n > 0 && g.open[n-1] > column {
		n--
	}
	g.open, g.keys = g.open[:n], g.keys[:n]
	if n == 0 || g.open[n-1] < column {
		g.open, g.keys = append(g.open, column), append(g.keys, 0)
	}
}
