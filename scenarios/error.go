package scenarios

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"herdscope/engine/knob"
)

// Error is what is wrong with a scenario, and where.
type Error struct {
	// File is the file as it was named; empty if there is none.
	File string
	// Line and Column count from 1; both are 0 where the fault has no place in
	// the file, as with a field that is missing from it.
	Line, Column int
	// Field is the dotted path of the field, as in classes.critical.weight or
	// faults[0].status; empty if the whole file is meant.
	Field string
	// Msg says what is wrong, what is allowed, and what was probably meant.
	Msg string

	err error
}

// Error is the whole error in one line: file:line:column: field: message.
func (e *Error) Error() string {
	var parts []string
	if place := e.place(); place != "" {
		parts = append(parts, place)
	}
	if e.Field != "" {
		parts = append(parts, e.Field)
	}
	return strings.Join(append(parts, e.Msg), ": ")
}

func (e *Error) place() string {
	if e.Line == 0 {
		return e.File
	}
	place := strconv.Itoa(e.Line) + ":" + strconv.Itoa(e.Column)
	if e.File == "" {
		return place
	}
	return e.File + ":" + place
}

// Unwrap is the error of the file system or of a knob behind this one, if any.
func (e *Error) Unwrap() error { return e.err }

// fieldError is the Error for a value that a knob refused.
func fieldError(field string, err error) *Error {
	var refused *knob.Error
	if errors.As(err, &refused) {
		return &Error{Field: field, Msg: refused.Message(), err: err}
	}
	return &Error{Field: field, Msg: err.Error(), err: err}
}

// unknown is the message for a name that is not among those known.
func unknown(problem, name string, known []string) string {
	msg := problem + "; allowed: " + strings.Join(known, ", ")
	if nearest, ok := knob.Nearest(name, known); ok {
		msg += "; did you mean " + knob.Quote(nearest) + "?"
	}
	return msg
}

// unknownKnob says that there is no knob of a name such as fault.NAME.FIELD. Many
// things can have such knobs: allowed are those of the one that is meant, or else
// it says which there are.
func unknownKnob(name string, known []string) string {
	const problem = "there is no such knob"
	var owners, own []string
	for _, k := range known {
		owner := ownerOf(k)
		if !slices.Contains(owners, owner) {
			owners = append(owners, owner)
		}
		if owner == ownerOf(name) {
			own = append(own, k)
		}
	}
	if len(own) > 0 {
		return unknown(problem, name, own)
	}
	msg := problem + "; allowed: those of " + strings.Join(owners, ", ")
	if nearest, ok := knob.Nearest(name, known); ok {
		msg += "; did you mean " + knob.Quote(nearest) + "?"
	}
	return msg
}

// ownerOf is what a knob belongs to: fault.NAME of fault.NAME.FIELD.
func ownerOf(name string) string {
	kind, rest, _ := strings.Cut(name, ".")
	which, _, _ := strings.Cut(rest, ".")
	return kind + "." + which
}
