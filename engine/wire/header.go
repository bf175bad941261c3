package wire

import (
	"fmt"
	"strconv"
	"strings"
)

// AttemptHeader is the HTTP request field by which a live attempt tells the
// server which one it is, as FormatAttempt writes it.
const AttemptHeader = "Herdscope-Attempt"

// The flags in the last part of the field.
const (
	flagWarm  = 'w'
	flagProbe = 'p'
	flagAgain = 'r' // before the number of the request that this one repeats
	flagNone  = '-'
)

// FormatAttempt writes an attempt as the value of AttemptHeader: client,
// request, try, class, scope and flags, with dots between them, as in
// "417.12.3.critical.0.-". The flags are w for Warm, p for Probe and r with a number
// for Repeats, in that order, or - for none. Method and Route are not in it: the request line has them. Key is not: it
// has the field KeyHeader.
func FormatAttempt(a Attempt) string {
	b := make([]byte, 0, 48)
	b = append(strconv.AppendUint(b, uint64(a.ID.Client), 10), '.')
	b = append(strconv.AppendUint(b, uint64(a.ID.Request), 10), '.')
	b = append(strconv.AppendUint(b, uint64(a.ID.Try), 10), '.')
	b = append(append(b, a.Class.String()...), '.')
	b = append(strconv.AppendUint(b, uint64(a.Scope), 10), '.')
	return string(appendFlags(b, a))
}

func appendFlags(b []byte, a Attempt) []byte {
	if a.Warm {
		b = append(b, flagWarm)
	}
	if a.Probe {
		b = append(b, flagProbe)
	}
	if a.Repeats != 0 {
		b = strconv.AppendUint(append(b, flagAgain), uint64(a.Repeats), 10)
	}
	if !a.Warm && !a.Probe && a.Repeats == 0 {
		b = append(b, flagNone)
	}
	return b
}

// ParseAttempt reads the value of an AttemptHeader. The error names the part
// that cannot be read and what it may be.
func ParseAttempt(field string) (Attempt, error) {
	parts := strings.Split(field, ".")
	if len(parts) != 6 {
		return Attempt{}, fmt.Errorf("parse attempt %q: %d parts: want "+
			"client.request.try.class.scope.flags", field, len(parts))
	}
	p := attemptParser{field: field}
	a := Attempt{
		ID: AttemptID{
			Client:  ClientID(p.number("client", parts[0], 0, 1<<32-1)),
			Request: RequestID(p.number("request", parts[1], 1, 1<<32-1)),
			Try:     uint16(p.number("try", parts[2], 1, 1<<16-1)),
		},
		Class: p.class(parts[3]),
		Scope: uint8(p.number("scope", parts[4], 0, MaxScopes-1)),
	}
	flags, repeats, again := strings.Cut(parts[5], string(flagAgain))
	if again {
		a.Repeats = RequestID(p.number("flags", repeats, 1, 1<<32-1))
	}
	if !again || flags == string(flagNone) { // which stands for no flag at all
		flags = parts[5]
	}
	if flags != "" || !again {
		a.Warm, a.Probe = p.flags(flags)
	}
	if p.err != nil {
		return Attempt{}, p.err
	}
	return a, nil
}

// ParseClass is the class of the given name; false if there is none.
func ParseClass(name string) (Class, bool) {
	for i, known := range classNames {
		if name == known {
			return Class(i), true
		}
	}
	return 0, false
}

// attemptParser keeps the first error, so that the parts can be read in a row.
type attemptParser struct {
	field string
	err   error
}

func (p *attemptParser) fail(part, value, allowed string) {
	if p.err == nil {
		p.err = fmt.Errorf("parse attempt %q: %s %q: want %s", p.field, part, value, allowed)
	}
}

func (p *attemptParser) number(part, value string, least, most uint64) uint64 {
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil || n < least || n > most {
		p.fail(part, value, fmt.Sprintf("%d to %d", least, most))
		return 0
	}
	return n
}

func (p *attemptParser) class(value string) Class {
	class, ok := ParseClass(value)
	if !ok {
		p.fail("class", value, strings.Join(classNames[:], ", "))
	}
	return class
}

func (p *attemptParser) flags(value string) (warm, probe bool) {
	switch value {
	case string(flagNone):
	case "w":
		warm = true
	case "p":
		probe = true
	case "wp":
		warm, probe = true, true
	default:
		p.fail("flags", value, "-, w, p or wp")
	}
	return warm, probe
}
