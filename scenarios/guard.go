package scenarios

import (
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/token"
)

// Limits of a file's shape. A parser's work can grow with the square of each, and
// no scenario comes near them.
const (
	maxDepth  = 20
	maxKeys   = 500
	maxTokens = 40_000
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
	for i, t := range tokens {
		msg := g.refuse(t)
		if i == maxTokens {
			msg = "has too many fields and values; allowed: about " + strconv.Itoa(maxTokens/3)
		}
		if msg != "" {
			return placeOfToken(t).fail("", msg)
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
	if isQuoted(t) && isQuoted(t.Prev) {
		return "a second value begins here; put a comma or a new line between them"
	}
	g.nest(t)
	if g.flow < 0 {
		return "a bracket closes here that was never opened"
	}
	if len(g.open)+g.flow > maxDepth {
		return "is nested too deeply; allowed: " + strconv.Itoa(maxDepth) + " levels"
	}
	if n := len(g.keys); n > 0 && g.keys[n-1] > maxKeys {
		return "has too many entries; allowed: " + strconv.Itoa(maxKeys)
	}
	return ""
}

func isQuoted(t *token.Token) bool {
	return t != nil && (t.Type == token.DoubleQuoteType || t.Type == token.SingleQuoteType)
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
	if line < 0 || line >= len(g.lines) {
		return false
	}
	text := g.lines[line]
	indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
	return strings.Contains(indent, "\t") && t.Position.Column <= len(indent)+1
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
