package fault

import (
	"slices"
	"strings"
	"unicode/utf8"

	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// TextField is a field of a fault that is a text or a list of words, which no
// knob can be. Files and flags write it as they do the others.
type TextField struct {
	Name string
	Doc  string
	// Allowed says in words what the text may be.
	Allowed string
	// Kinds are the kinds of fault that have the field.
	Kinds []Kind
	// Text is the field as it is written; empty if it is not set.
	Text func(*Fault) string
	// read sets the field; it tells of the text that is wrong and how.
	read func(f *Fault, text string) *knob.Error
}

// Set reads the field. The error is a *knob.Error.
func (t *TextField) Set(f *Fault, text string) error {
	if err := t.read(f, text); err != nil {
		err.Knob, err.Allowed = t.Name, t.Allowed
		return err
	}
	return nil
}

// BelongsTo says whether faults of a kind have the field.
func (t *TextField) BelongsTo(k Kind) bool { return slices.Contains(t.Kinds, k) }

// The longest texts, in bytes.
const (
	maxPath = 256
	maxLine = 1024
	maxText = 64 << 10
)

// TextFields are the fields of a fault that are text, in the order in which
// files write them.
var TextFields = []TextField{
	{
		Name: "service", Doc: "concerns only this service",
		Allowed: "the name of a service, or " + OwnService, Kinds: append(matching(), CapacityCut),
		Text: func(f *Fault) string { return f.Match.Service },
		read: func(f *Fault, text string) *knob.Error { return parseText(&f.Match.Service, text, oneLine) },
	},
	{
		Name: "path", Doc: "hits only what asks for this path or one below it",
		Allowed: "a path that begins with /", Kinds: matching(),
		Text: func(f *Fault) string { return f.Match.Path },
		read: func(f *Fault, text string) *knob.Error { return parseText(&f.Match.Path, text, isPath) },
	},
	{
		Name: "header", Doc: "hits only what has this field, or this field with this value",
		Allowed: "a field's name, or NAME: VALUE", Kinds: matching(),
		Text: func(f *Fault) string { return f.Match.Header },
		read: func(f *Fault, text string) *knob.Error { return parseText(&f.Match.Header, text, isHeader) },
	},
	setField("methods", "hits only these methods", wire.MethodNames(),
		func(f *Fault) *uint8 { return &f.Match.Methods }),
	setField("classes", "hits only these classes", wire.ClassNames(),
		func(f *Fault) *uint8 { return &f.Match.Classes }),
	{
		Name: "body", Doc: "the text that comes with the status",
		Allowed: "a text of at most 64 KiB", Kinds: []Kind{Errors},
		Text: func(f *Fault) string { return f.Body },
		read: func(f *Fault, text string) *knob.Error { return parseText(&f.Body, text, isBody) },
	},
}

func matching() []Kind { return kindsThat(func(k *kindRow) bool { return k.matches }) }

// TextFieldNamed finds the field of that name; nil if there is none.
func TextFieldNamed(name string) *TextField {
	for i := range TextFields {
		if TextFields[i].Name == name {
			return &TextFields[i]
		}
	}
	return nil
}

func parseText(to *string, text string, valid func(string) bool) *knob.Error {
	if !valid(text) {
		return &knob.Error{Value: text, Problem: "is not right"}
	}
	*to = text
	return nil
}

func isPath(text string) bool {
	return text == "" || text[0] == '/' && len(text) <= maxPath && oneLine(text)
}

// IsHeader says whether a text is a request field with a value, as NAME: VALUE.
func IsHeader(text string) bool {
	_, value, ok := strings.Cut(text, ":")
	return ok && isHeader(text) && strings.TrimSpace(value) != ""
}

func isHeader(text string) bool {
	name, _, _ := strings.Cut(text, ":")
	return text == "" || len(text) <= maxLine && oneLine(text) && isToken(strings.TrimSpace(name))
}

func isBody(text string) bool { return len(text) <= maxText && utf8.ValidString(text) }

func oneLine(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// isToken says whether text can be the name of a header field (RFC 9110, section
// 5.6.2).
func isToken(text string) bool {
	const others = "!#$%&'*+-.^_`|~"
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune(others, r))
	})
}

// setField is a field that is a set of words, kept as bits by their index.
func setField(name, doc string, words []string, at func(*Fault) *uint8) TextField {
	return TextField{
		Name: name, Doc: doc, Allowed: "some of " + strings.Join(words, ", "), Kinds: matching(),
		Text: func(f *Fault) string { return wordsOf(*at(f), words) },
		read: func(f *Fault, text string) *knob.Error { return parseWords(at(f), text, words) },
	}
}

func wordsOf(set uint8, words []string) string {
	var in []string
	for i, word := range words {
		if set>>i&1 != 0 {
			in = append(in, word)
		}
	}
	return strings.Join(in, ", ")
}

func parseWords(to *uint8, text string, words []string) *knob.Error {
	var set uint8
	for _, word := range strings.Split(text, ",") {
		word = strings.TrimSpace(word)
		if word == "" && text == "" {
			break
		}
		i := slices.Index(words, word)
		if i < 0 {
			nearest, _ := knob.Nearest(word, words)
			return &knob.Error{Value: word, Problem: "is not among the choices", Nearest: nearest}
		}
		set |= 1 << i
	}
	*to = set
	return nil
}
