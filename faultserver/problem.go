package faultserver

import (
	"encoding/json"
	"errors"
	"net/http"

	"herdscope/engine/knob"
)

// problem is the answer to a request that is not understood, or cannot be done.
type problem struct {
	status int

	Error string `json:"error"`
	// Field is the field of the request's object, or the parameter, that is
	// wrong; Value is what it was, Allowed what it could have been, and Nearest
	// what was probably meant.
	Field   string   `json:"field,omitempty"`
	Value   string   `json:"value,omitempty"`
	Allowed []string `json:"allowed,omitempty"`
	Nearest string   `json:"nearest,omitempty"`
}

// as gives the problem its status.
func (p *problem) as(status int) *problem {
	p.status = status
	return p
}

func (p *problem) write(w http.ResponseWriter) { writeJSON(w, p.status, p) }

// trouble is the problem with a text and a status.
func trouble(status int, text string) *problem { return &problem{status: status, Error: text} }

// refusal is the problem behind an error: a value that a knob does not take, a
// server that is closed, or anything else.
func refusal(err error) *problem {
	var refused *knob.Error
	switch {
	case errors.As(err, &refused):
		return &problem{
			status: http.StatusBadRequest, Error: refused.Error(),
			Field: refused.Knob, Value: refused.Value,
			Allowed: []string{refused.Allowed}, Nearest: refused.Nearest,
		}
	case errors.Is(err, ErrClosed):
		return trouble(http.StatusServiceUnavailable, err.Error())
	}
	return trouble(http.StatusBadRequest, err.Error())
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// An error means that the client has gone: the values can all be written.
	_ = json.NewEncoder(w).Encode(v)
}
