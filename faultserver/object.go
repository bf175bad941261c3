package faultserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"herdscope/engine/knob"
)

// entry is one field of a JSON object that a request brings: its name, and its
// value as a scenario file would write it.
type entry struct{ name, text string }

// maxNesting is how deep an object may lie in another.
const maxNesting = 4

// readObject reads one JSON object. Fields of an object inside it have dotted
// names, and a list is the text with commas between its values. Anything else, a
// field that comes twice and whatever follows the object are refused.
func readObject(body io.Reader) ([]entry, *problem) {
	dec := json.NewDecoder(body)
	dec.UseNumber()
	entries, err := readFields(dec, nil, "", 0)
	if err == nil {
		err = atEnd(dec)
	}
	var (
		tooLarge *http.MaxBytesError
		wrong    *badField
	)
	switch {
	case err == nil:
		return entries, nil
	case errors.As(err, &tooLarge):
		return nil, trouble(http.StatusRequestEntityTooLarge, "the object is larger than "+
			strconv.FormatInt(tooLarge.Limit, 10)+" bytes")
	case errors.As(err, &wrong):
		p := trouble(http.StatusBadRequest, wrong.Error())
		p.Field = wrong.name
		return nil, p
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	p := trouble(http.StatusBadRequest, "this is no JSON object: "+err.Error())
	p.Allowed = []string{"one JSON object"}
	return nil, p
}

// badField is an error about one field.
type badField struct{ name, text string }

func (b *badField) Error() string { return b.name + ": " + b.text }

// readFields reads an object and adds its fields to those that there are.
func readFields(dec *json.Decoder, entries []entry, prefix string, depth int) ([]entry, error) {
	open, err := dec.Token()
	if err != nil {
		return nil, err
	}
	if open != json.Delim('{') {
		return nil, errors.New("it does not begin with {")
	}
	return readRest(dec, entries, prefix, depth)
}

// readRest reads an object whose brace has been read.
func readRest(dec *json.Decoder, entries []entry, prefix string, depth int) ([]entry, error) {
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name := prefix + key.(string) // the decoder has seen that it is one
		for _, e := range entries {
			if e.name == name {
				return nil, &badField{name, "it is there twice"}
			}
		}
		if entries, err = readValue(dec, entries, name, depth); err != nil {
			return nil, err
		}
	}
	_, err := dec.Token()
	return entries, err
}

func readValue(dec *json.Decoder, entries []entry, name string, depth int) ([]entry, error) {
	value, err := dec.Token()
	if err != nil {
		return nil, err
	}
	if text, ok := plain(value); ok {
		return append(entries, entry{name, text}), nil
	}
	switch {
	case value == json.Delim('{') && depth < maxNesting:
		return readRest(dec, entries, name+".", depth+1)
	case value == json.Delim('['):
		return readList(dec, entries, name)
	}
	return nil, &badField{name, notPlain}
}

const notPlain = "it must be a text, a number, true, false, or a list of those"

// plain is a value that is no object, no list and not null, as text.
func plain(value json.Token) (text string, ok bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// readList reads a list whose bracket has been read.
func readList(dec *json.Decoder, entries []entry, name string) ([]entry, error) {
	var texts []string
	for dec.More() {
		value, err := dec.Token()
		if err != nil {
			return nil, err
		}
		text, ok := plain(value)
		if !ok {
			return nil, &badField{name, notPlain}
		}
		texts = append(texts, text)
	}
	_, err := dec.Token()
	return append(entries, entry{name, strings.Join(texts, ", ")}), err
}

func atEnd(dec *json.Decoder) error {
	_, err := dec.Token()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil:
		return errors.New("something follows it")
	}
	return err
}

// pair is a field of an object.
type pair struct {
	name  string
	value any
}

// object is a JSON object that keeps the order of its fields.
type object []pair

// MarshalJSON writes the object; the error is that of a value.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, p := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		value, err := json.Marshal(p.value)
		if err != nil {
			return nil, err
		}
		b.WriteString(strconv.Quote(p.name) + ":")
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// jsonValue is the value of a field as JSON: a number if it is a plain one, true
// or false for a switch, and otherwise the text that a file has.
func jsonValue(spec *knob.Spec, v int64) any {
	text := spec.Format(v)
	if spec.Kind == knob.Switch {
		return v != 0
	}
	if number := strings.TrimSuffix(text, "/s"); json.Valid([]byte(number)) {
		return json.Number(number)
	}
	return text
}
