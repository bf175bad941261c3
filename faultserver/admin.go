package faultserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gorilla/mux"

	"herdscope/engine/clock"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// Stats is the state of the server at one moment, and the answer to
// GET /_fault/state.
type Stats struct {
	// NowSeconds is the run clock.
	NowSeconds float64 `json:"now_s"`
	// Busy and Backlog are the attempts in service and those that wait for a
	// worker.
	Busy    int `json:"busy"`
	Backlog int `json:"backlog"`
	// Open is the attempts whose client waits for an answer.
	Open   int          `json:"open"`
	Faults []FaultStats `json:"faults"`
}

// FaultStats is the state of one fault.
type FaultStats struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	On   bool   `json:"on"`
	// UntilSeconds is when On changes next by itself; nil if it does not.
	UntilSeconds *float64 `json:"until_s"`
	// Hits is the attempts that the fault has hit.
	Hits int64 `json:"hits"`
}

// Stats is the state of the server now; the error is ErrClosed.
func (s *Server) Stats() (Stats, error) {
	var stats Stats
	err := s.owner.ask(func(o *owner) {
		o.step(s.clock.Now(), wire.ServerInput{})
		stats = o.stats()
	})
	return stats, err
}

func (o *owner) stats() Stats {
	stats := Stats{
		NowSeconds: o.model.Now().Seconds(),
		Busy:       o.model.Busy(),
		Backlog:    o.model.Waiting(),
		Open:       len(o.visits),
		Faults:     []FaultStats{},
	}
	for i, known := range o.model.Faults() {
		on, until := o.model.FaultState(i)
		f := FaultStats{
			Name: known.Name, Kind: known.Kind.String(), On: on, Hits: o.model.Hits(i),
		}
		if until != clock.Never {
			seconds := until.Seconds()
			f.UntilSeconds = &seconds
		}
		stats.Faults = append(stats.Faults, f)
	}
	return stats
}

// The paths of the API of the server's own.
const (
	adminPath = "/_fault/"
	statePath = adminPath + "state"
	faultPath = adminPath + "faults/{name}/{do}"
)

// router is all that the server answers to.
func (s *Server) router(routes []string) http.Handler {
	if len(routes) == 0 {
		routes = []string{"/"}
	}
	r := mux.NewRouter().SkipClean(true)
	notFound := elsewhere(append(slices.Clone(routes), statePath, faultPath))
	r.NotFoundHandler = notFound
	r.MethodNotAllowedHandler = only(wire.MethodNames()...)

	r.HandleFunc(statePath, s.getState).Methods(http.MethodGet).Name("fault-state")
	r.Handle(statePath, only(http.MethodGet)).Name("fault-state-other")
	r.HandleFunc(faultPath, s.doFault).Methods(http.MethodPost).Name("fault-do")
	r.Handle(faultPath, only(http.MethodPost)).Name("fault-do-other")
	r.PathPrefix(adminPath).Handler(notFound).Name("fault-unknown")

	for _, i := range longestFirst(routes) {
		r.PathPrefix(routes[i]).Methods(wire.MethodNames()...).Handler(s.traffic(uint8(i))).
			Name("traffic " + routes[i])
	}
	return r
}

// longestFirst is the indices of the routes, so that one that lies below
// another is tried before it.
func longestFirst(routes []string) []int {
	order := make([]int, len(routes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(routes[b]) - len(routes[a]) })
	return order
}

func (s *Server) getState(w http.ResponseWriter, _ *http.Request) {
	stats, err := s.Stats()
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, problem{Error: err.Error()})
		return
	}
	writeJSON(w, http.StatusOK, stats)
}

func (s *Server) doFault(w http.ResponseWriter, r *http.Request) {
	vars := mux.Vars(r)
	i := slices.Index(s.faults, vars["name"])
	if i < 0 {
		refuse(w, http.StatusNotFound, unknown("fault", vars["name"], s.faults))
		return
	}
	do := slices.Index(wire.FaultDoNames(), vars["do"])
	if do < 0 {
		refuse(w, http.StatusBadRequest, unknown("action", vars["do"], wire.FaultDoNames()))
		return
	}
	err := s.Do(wire.ServerInput{
		Kind: wire.ServerFault, Fault: uint8(i), Do: wire.FaultDo(do),
	})
	if errors.Is(err, ErrClosed) {
		refuse(w, http.StatusServiceUnavailable, problem{Error: err.Error()})
		return
	}
	s.getState(w, r)
}

// problem is the answer to a request that is not understood.
type problem struct {
	Error string `json:"error"`
	// Value is what was asked for, Allowed what could have been, and Nearest
	// what was probably meant.
	Value   string   `json:"value,omitempty"`
	Allowed []string `json:"allowed,omitempty"`
	Nearest string   `json:"nearest,omitempty"`
}

func unknown(what, value string, allowed []string) problem {
	p := problem{
		Error: fmt.Sprintf("there is no %s %s", what, knob.Quote(value)),
		Value: value, Allowed: allowed,
	}
	p.Nearest, _ = knob.Nearest(value, allowed)
	return p
}

// elsewhere refuses every path and names those that there are.
func elsewhere(paths []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, unknown("path", r.URL.Path, paths))
	})
}

// only refuses every method, since those that a path takes have their own
// handlers.
func only(methods ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", strings.Join(methods, ", "))
		p := unknown("method", r.Method, methods)
		p.Error += " for the path " + knob.Quote(r.URL.Path)
		refuse(w, http.StatusMethodNotAllowed, p)
	})
}

func refuse(w http.ResponseWriter, status int, p problem) { writeJSON(w, status, p) }

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// An error means that the client has gone: the values can all be written.
	_ = json.NewEncoder(w).Encode(v)
}
