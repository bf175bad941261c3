package scenarios

import (
	"errors"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"

	"herdscope/engine/knob"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

// longest is the latest moment that a scenario may name.
const longest = fault.MaxMoment

// The longest texts, in bytes.
const (
	maxName  = knob.MaxName
	maxTitle = 120
	maxStory = 4000
)

// DurationSpec and DrainSpec describe the two fields of a scenario that are not
// knobs of a running experiment, for files and flags alike.
var (
	DurationSpec = knob.Spec{
		Name: "duration", Kind: knob.Duration, Fixed: true,
		Min: int64(time.Millisecond), Max: int64(longest), Step: int64(time.Second),
		Doc: "how long a headless run lasts",
	}
	DrainSpec = knob.Spec{
		Name: "drain", Kind: knob.Duration, Fixed: true,
		Max: int64(longest), Step: int64(time.Second),
		Doc: "how long a headless run then waits for requests under way",
	}
)

// Validate checks the whole scenario, the timeline included, which it plays. The
// error is an *Error without a place.
func (s Scenario) Validate() error {
	err, _ := s.check()
	return asError(err)
}

// check is Validate; the number is that of the action on the timeline that is
// at fault, -1 if it is none.
func (s *Scenario) check() (*Error, int) {
	for _, part := range []func() *Error{
		s.checkTexts, s.checkTimes, s.checkPlaces, s.checkHeaders, s.checkFleet, s.checkServer, s.checkFaults,
	} {
		if err := part(); err != nil {
			return err, -1
		}
	}
	if err, i := s.checkTimeline(); err != nil {
		return err, i
	}
	return nil, -1
}

func (s *Scenario) checkTexts() *Error {
	if !isName(s.Name) {
		return &Error{Field: "name", Msg: badName(s.Name)}
	}
	if msg := badText(s.Title, maxTitle); msg != "" || strings.Contains(s.Title, "\n") {
		return &Error{Field: "title", Msg: orElse(msg, "has more than one line")}
	}
	if msg := badText(s.Story, maxStory); msg != "" {
		return &Error{Field: "story", Msg: msg}
	}
	return nil
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// checkHeaders checks the request fields of the classes.
func (s *Scenario) checkHeaders() *Error {
	for class, text := range s.Headers {
		if text == "" {
			continue
		}
		if msg := badHeader(text); msg != "" {
			return &Error{Field: "classes." + wire.Class(class).String() + ".header", Msg: msg}
		}
	}
	return nil
}

// badText says why a text for people cannot be shown or saved; empty if it can.
func badText(text string, limit int) string {
	switch {
	case len(text) > limit:
		return "is longer than " + strconv.Itoa(limit) + " bytes"
	case strings.TrimSpace(text) != text:
		return "has spaces at its ends"
	case strings.ContainsFunc(text, unprintable):
		return "holds a character that cannot be shown"
	}
	return ""
}

func unprintable(r rune) bool {
	return r != '\n' && !unicode.IsGraphic(r) || r == unicode.ReplacementChar
}

// isName says whether a text is lower case words with hyphens.
func isName(text string) bool { return knob.IsName(text) }

func badName(text string) string {
	return knob.Quote(text) +
		" is not a name; allowed: lower case words with hyphens, such as rate-limit"
}

func (s *Scenario) checkTimes() *Error {
	if err := DurationSpec.Check(int64(s.Duration)); err != nil {
		return fieldError("duration", err)
	}
	if err := DrainSpec.Check(int64(s.Drain)); err != nil {
		return fieldError("drain", err)
	}
	return nil
}

func (s *Scenario) checkPlaces() *Error {
	if n := len(s.Routes); n < 1 || n > wire.MaxRoutes {
		return &Error{Field: "routes", Msg: "there must be 1 to " + strconv.Itoa(wire.MaxRoutes)}
	}
	if n := len(s.Scopes); n < 1 || n > wire.MaxScopes {
		return &Error{Field: "scopes", Msg: "there must be 1 to " + strconv.Itoa(wire.MaxScopes)}
	}
	for i, mix := range s.Fleet.Mix {
		field := "classes." + wire.Class(i).String()
		if int(mix.Route) >= len(s.Routes) || int(mix.Scope) >= len(s.Scopes) {
			return &Error{Field: field, Msg: "refers to a route or scope that does not exist"}
		}
		if msg := badPath(s.Routes[mix.Route]); msg != "" {
			return &Error{Field: field + ".path", Msg: msg}
		}
		if scope := s.Scopes[mix.Scope]; !isName(scope) {
			return &Error{Field: field + ".scope", Msg: badName(scope)}
		}
	}
	return nil
}

// adminPath is where the fault server has an API of its own, which would answer
// in place of the fault model.
const adminPath = "/_fault"

// badPath says why a path cannot be a route. A router would redirect one that is
// not clean, and read braces as a pattern.
func badPath(p string) string {
	if p == adminPath || strings.HasPrefix(p, adminPath+"/") {
		return knob.Quote(p) + " is kept for the fault server's own API; allowed: " +
			"a path that does not begin with " + adminPath + "/"
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-._~"
	if strings.HasPrefix(p, "/") && len(p) <= maxName && path.Clean(p) == p &&
		strings.Trim(p, letters) == "" {
		return ""
	}
	return knob.Quote(p) +
		" is not a path; allowed: a clean one of letters, digits and -._~, such as /api/pay"
}

func (s *Scenario) checkFleet() *Error {
	err := knobError(s.Fleet.Validate())
	if err != nil {
		err.Field = s.inScope(err.Field)
	}
	return err
}

func (s *Scenario) checkServer() *Error {
	if err := knobError(knob.CheckAll(fault.Fields, &s.Server)); err != nil {
		return err
	}
	if err := s.checkServices(); err != nil {
		return err
	}
	return knobError(knob.CheckAll(networkFields, s))
}

// knobError gives the error of a knob the field of a file where it stands.
func knobError(err error) *Error {
	if err == nil {
		return nil
	}
	var refused *knob.Error
	if errors.As(err, &refused) {
		return fieldError(fieldOf(refused.Knob), err)
	}
	return &Error{Msg: err.Error(), err: err}
}

// asError keeps a nil *Error from becoming an error that is not nil.
func asError(err *Error) error {
	if err == nil {
		return nil
	}
	return err
}

func toError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Msg: err.Error(), err: err}
}
