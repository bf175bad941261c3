package faultserver

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gorilla/mux"

	"herdscope/engine/knob"
	"herdscope/engine/wire"
	"herdscope/faultserver/adhoc"
)

// router is all that the traffic listener answers to.
func (s *Server) router(c Config) http.Handler {
	routes := c.Routes
	if len(routes) == 0 {
		routes = []string{"/"}
	}
	r := mux.NewRouter().SkipClean(true)
	r.NotFoundHandler = elsewhere(routes)
	r.MethodNotAllowedHandler = only(wire.MethodNames()...)
	if c.AdHoc {
		for i := range adhoc.Routes {
			r.Handle(adhoc.Routes[i].Pattern, s.adHoc(&adhoc.Routes[i])).Methods(methods()...)
		}
	}
	for _, i := range longestFirst(routes) {
		r.PathPrefix(routes[i]).Methods(methods()...).Handler(s.traffic(uint8(i))).
			Name("traffic " + routes[i])
	}
	if c.AnyPath {
		r.PathPrefix("/").Methods(methods()...).Handler(s.traffic(0))
	}
	return s.surviving(r)
}

// methods is the names of all methods, in a slice that mux may write to, as it
// does: it turns what it is given into upper case in place.
func methods() []string { return slices.Clone(wire.MethodNames()) }

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

// surviving makes a panic of a handler a fault that is counted, logged, and ends
// one connection; everything else goes on.
func (s *Server) surviving(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(p) // net/http closes the connection, as it was asked to
			}
			s.panics.Add(1)
			s.http.ErrorLog.Printf("%s %s: the handler panicked: %v", r.Method, r.URL.Path, p)
			reset(w)
		}()
		next.ServeHTTP(w, r)
	})
}

// elsewhere refuses every path and names those that there are.
func elsewhere(paths []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		unknown("path", r.URL.Path, paths).as(http.StatusNotFound).write(w)
	})
}

// only refuses every method, since those that a path takes have their own
// handlers.
func only(methods ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", strings.Join(methods, ", "))
		p := unknown("method", r.Method, methods).as(http.StatusMethodNotAllowed)
		p.Error += " for the path " + knob.Quote(r.URL.Path)
		p.write(w)
	})
}

func unknown(what, value string, allowed []string) *problem {
	p := &problem{
		status: http.StatusBadRequest,
		Error:  fmt.Sprintf("there is no %s %s", what, knob.Quote(value)),
		Value:  value, Allowed: allowed,
	}
	p.Nearest, _ = knob.Nearest(value, allowed)
	return p
}
