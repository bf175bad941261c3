package faultserver

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/mux"
)

// AdminPath begins all paths of the admin API.
const AdminPath = "/_fault/"

// ErrExposed says that the admin API was to listen where other machines can
// reach it, without a token.
var ErrExposed = errors.New("other machines can reach the address, so that it needs a token")

const (
	// adminTimeout is how long a request of the admin API, and its answer, may
	// take on the wire.
	adminTimeout = 10 * time.Second
	// adminIdle is how long a connection of the admin API may be idle.
	adminIdle = time.Minute
)

// endpoint is one thing that the admin API does. What do returns is written as
// JSON, with the status that it brings or else 200.
type endpoint struct {
	method, path string
	do           func(*http.Request) (any, *problem)
}

func (s *Server) endpoints() []endpoint {
	const faults = AdminPath + "faults"
	return []endpoint{
		{http.MethodGet, AdminPath + "stats", s.getStats},
		{http.MethodGet, AdminPath + "schedule", s.getSchedule},
		{http.MethodPost, AdminPath + "reset", s.postReset},
		{http.MethodGet, AdminPath + "knobs", s.getKnobs},
		{http.MethodPatch, AdminPath + "knobs", s.patchKnobs},
		{http.MethodGet, faults, s.getFaults},
		{http.MethodPost, faults, s.postFault},
		{http.MethodGet, faults + "/{name}", s.getFault},
		{http.MethodPatch, faults + "/{name}", s.patchFault},
		{http.MethodDelete, faults + "/{name}", s.deleteFault},
		{http.MethodPost, faults + "/{name}/{do}", s.doFault},
	}
}

// listenAdmin opens the listener of the admin API, if there is to be one.
func listenAdmin(c Config) (net.Listener, error) {
	if c.Admin == "" {
		return nil, nil
	}
	listener, err := net.Listen("tcp", c.Admin)
	if err != nil {
		return nil, fmt.Errorf("start admin API on %s: %w", c.Admin, err)
	}
	if at, ok := listener.Addr().(*net.TCPAddr); c.AdminToken == "" && (!ok || !at.IP.IsLoopback()) {
		return nil, errors.Join(fmt.Errorf("start admin API on %s: %w", c.Admin, ErrExposed), listener.Close())
	}
	return listener, nil
}

// newAdmin is the HTTP server of the admin API.
func (s *Server) newAdmin(token string) *http.Server {
	return &http.Server{
		Handler:           s.surviving(guarded(token, s.adminRouter())),
		ReadHeaderTimeout: adminTimeout, ReadTimeout: adminTimeout, WriteTimeout: adminTimeout,
		IdleTimeout: adminIdle, MaxHeaderBytes: maxHeader - headerSlack, ErrorLog: s.http.ErrorLog,
	}
}

func (s *Server) adminRouter() http.Handler {
	r := mux.NewRouter().SkipClean(true)
	var paths []string
	methods := map[string][]string{}
	for _, e := range s.endpoints() {
		r.HandleFunc(e.path, e.serve).Methods(e.method)
		if methods[e.path] == nil {
			paths = append(paths, e.path)
		}
		methods[e.path] = append(methods[e.path], e.method)
	}
	for _, path := range paths {
		r.Handle(path, only(methods[path]...))
	}
	r.NotFoundHandler = elsewhere(paths)
	return r
}

func (e endpoint) serve(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxObject)
	v, wrong := e.do(r)
	if wrong != nil {
		wrong.write(w)
		return
	}
	status := http.StatusOK
	if made, ok := v.(created); ok {
		w.Header().Set("Location", made.location)
		status, v = http.StatusCreated, made.object
	}
	writeJSON(w, status, v)
}

// created is a new thing, and where to find it.
type created struct {
	location string
	object   any
}

// guarded lets through who has the token. Without a token anybody on this
// machine may come in, save for what a page in a browser can be made to send:
// requests from another origin, or under a name that only points here.
func guarded(token string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte("Bearer " + token))
	next = http.NewCrossOriginProtection().Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		switch {
		case token == "" && !local(r.Host):
			p := trouble(http.StatusForbidden, "without a token, the admin API goes by its address only")
			p.Field, p.Value, p.Allowed = "Host", r.Host, []string{"localhost", "an IP address"}
			p.write(w)
		case token != "" && subtle.ConstantTimeCompare(got[:], want[:]) != 1:
			w.Header().Set("WWW-Authenticate", `Bearer realm="herdscope"`)
			p := trouble(http.StatusUnauthorized, "the admin API wants its token")
			p.Field, p.Allowed = "Authorization", []string{"Bearer TOKEN"}
			p.write(w)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// local says whether a Host field is localhost or an address, and not a name that
// somebody else may have pointed at this machine.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil || slices.Contains([]string{"", "localhost"}, host)
}

// AdminURL is the address of the admin API as the beginning of a URL, without a
// path; empty if there is none.
func (s *Server) AdminURL() string {
	if s.adminListener == nil {
		return ""
	}
	return "http://" + s.adminListener.Addr().String()
}
