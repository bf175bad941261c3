package fault

import (
	"strconv"
	"strings"

	"herdscope/engine/rng"
	"herdscope/engine/wire"
)

// Match says whose attempts a fault may hit. Its zero value matches all.
type Match struct {
	// Service is the name of a service; empty is any.
	Service string
	// Path is a path; what lies below it is meant too. Empty is any.
	Path string
	// Header is a request field and its value, as in "X-Tenant: gold"; without
	// the colon, any value will do. Other requests than those of sockets have the
	// one of their class: see Config.Headers.
	Header string
	// Methods and Classes are bits by wire.Method and wire.Class; 0 is all.
	Methods uint8
	Classes uint8
	// Clients is the share of the clients, in thousandths; 0 is all. A seed picks
	// the same ones every time.
	Clients int64
}

// first is the name of the first field that is set, and its value as it is
// written.
func (m *Match) first() (name, value string) {
	switch {
	case m.Service != "":
		return "service", m.Service
	case m.Path != "":
		return "path", m.Path
	case m.Header != "":
		return "header", m.Header
	case m.Methods != 0:
		return "methods", wordsOf(m.Methods, wire.MethodNames())
	case m.Classes != 0:
		return "classes", wordsOf(m.Classes, wire.ClassNames())
	}
	return "clients", strconv.FormatFloat(float64(m.Clients)/1000, 'f', -1, 64)
}

// Textual says whether the match asks for something that only the text of a
// request tells: see wire.Attempt.Meets.
func (m *Match) Textual() bool { return m.Path != "" || m.Header != "" }

// MeetsPath says whether a path is the one that the match asks for, or lies
// below it.
func (m *Match) MeetsPath(path string) bool {
	rest, ok := strings.CutPrefix(path, m.Path)
	return ok && (rest == "" || rest[0] == '/' || m.Path == "" || strings.HasSuffix(m.Path, "/"))
}

// HeaderField is the name and the value that the match asks for; any value if
// that is empty.
func (m *Match) HeaderField() (name, value string) {
	name, value, _ = strings.Cut(m.Header, ":")
	return strings.TrimSpace(name), strings.TrimSpace(value)
}

// matches says whether fault i may hit the attempt.
func (s *Server) matches(i int, a *wire.Attempt) bool {
	m := &s.config.Faults[i].Match
	return (m.Methods == 0 || m.Methods>>a.Method&1 != 0) &&
		(m.Classes == 0 || m.Classes>>a.Class&1 != 0) &&
		(m.Service == "" || s.serves(i, s.service(a))) &&
		(!m.Textual() || s.meets(i, a)) && s.among(i, a.ID.Client)
}

// serves says whether fault i concerns a service.
func (s *Server) serves(i int, service uint8) bool {
	name := s.config.Faults[i].Match.Service
	switch {
	case name == "":
		return true
	case service == 0:
		return name == OwnService
	}
	return s.config.Services[service-1].Name == name
}

// meets says whether the attempt has the path and the header that fault i asks
// for.
func (s *Server) meets(i int, a *wire.Attempt) bool {
	if a.Read {
		return a.Meets>>i&1 != 0
	}
	m := &s.config.Faults[i].Match
	return (m.Header == "" || m.meetsHeader(s.config.Headers[a.Class])) &&
		(m.Path == "" || int(a.Route) < len(s.config.Routes) && m.MeetsPath(s.config.Routes[a.Route]))
}

// meetsHeader says whether a request field is the one that the match asks for.
func (m *Match) meetsHeader(field string) bool {
	wantName, wantValue := m.HeaderField()
	name, value, ok := strings.Cut(field, ":")
	return ok && strings.EqualFold(strings.TrimSpace(name), wantName) &&
		(wantValue == "" || strings.TrimSpace(value) == wantValue)
}

// among says whether a client is in the share that fault i is meant for.
// Requests are numbered from 1, so that no other draw is this one.
func (s *Server) among(i int, c wire.ClientID) bool {
	return among(s.seed, i, s.config.Faults[i].Match.Clients, c)
}

func among(seed uint64, i int, share int64, c wire.ClientID) bool {
	return share == 0 ||
		rng.Hit(rng.At(seed, rng.FaultHit, uint64(c)|uint64(i)<<32, 0, 0), share)
}
