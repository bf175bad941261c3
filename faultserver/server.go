package faultserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

// Clock is the run clock that the server lives by. It may be used from any
// goroutine.
type Clock interface {
	// Now is the run clock. It never goes back.
	Now() clock.Instant
	// Wait is how long, in wall time, the clock takes to get to t; negative if t
	// has passed. While the clock stands still, running is false and d means
	// nothing. The channel is closed when the clock next stops or starts, so
	// that the wait has to be worked out again.
	Wait(t clock.Instant) (d time.Duration, running bool, changed <-chan struct{})
}

// Config is what a Server needs.
type Config struct {
	// Addr is where to listen; empty is a free port on the loopback interface.
	Addr string
	// Model decides. It belongs to the Server from Start on.
	Model *fault.Server
	Clock Clock
	// Observer, if set, sees every event of the model, one at a time, from the
	// goroutine that owns the model. It must not keep the server waiting, nor
	// call it.
	Observer func(wire.Event)
	// ErrorLog takes the complaints of net/http; nil drops them.
	ErrorLog *log.Logger
	// Routes are the paths that are served, each with all that lies below it;
	// wire.Attempt.Route is the index of one. None is every path.
	Routes []string
}

// DefaultAddr is a free port on the loopback interface.
const DefaultAddr = "127.0.0.1:0"

const (
	// headerTimeout is how long a client may take to send a request's header,
	// and how long a new connection may stay without one. It is long, since
	// clients open connections ahead of need.
	headerTimeout = 5 * time.Minute
	// maxHeader and maxBody are how large a request may be, in bytes.
	maxHeader = 16 << 10
	maxBody   = 1 << 20
	// grace is how long Close waits for handlers before it closes connections
	// under them.
	grace = 250 * time.Millisecond
)

// ErrClosed is the error of what is asked of a Server that is closed.
var ErrClosed = errors.New("the server is closed")

// Server is a running server.
type Server struct {
	listener net.Listener
	http     *http.Server
	owner    *owner
	clock    Clock
	guests   guests
	faults   []string // names, in the model's order
	// served is closed when net/http has stopped accepting.
	served chan struct{}

	closing sync.Once
	failed  error // of Close

	mu       sync.Mutex
	closed   bool
	handlers sync.WaitGroup // joined under mu, and only while not closed
}

// Start listens and serves until Close. The error wraps that of the listener
// and names the address.
func Start(c Config) (*Server, error) {
	if c.Model == nil || c.Clock == nil {
		return nil, errors.New("start fault server: it needs a model and a clock")
	}
	if c.Addr == "" {
		c.Addr = DefaultAddr
	}
	quiet := net.ListenConfig{KeepAlive: -1} // no probes: a herd connects with fewer system calls
	listener, err := quiet.Listen(context.Background(), "tcp", c.Addr)
	if err != nil {
		return nil, fmt.Errorf("start fault server on %s: %w", c.Addr, err)
	}
	s := &Server{
		listener: listener,
		owner:    newOwner(c),
		clock:    c.Clock,
		served:   make(chan struct{}),
	}
	for _, f := range c.Model.Faults() {
		s.faults = append(s.faults, f.Name)
	}
	s.http = newHTTPServer(s.router(c.Routes), c.ErrorLog)
	go s.owner.run()
	go s.serve()
	return s, nil
}

// newHTTPServer limits what a client may do to the server, but sets no
// IdleTimeout: a connection that is closed while its client begins to use it
// looks to the client like an outage that never was.
func newHTTPServer(h http.Handler, errorLog *log.Logger) *http.Server {
	if errorLog == nil {
		errorLog = log.New(io.Discard, "", 0)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          errorLog,
		Protocols:         protocols,
	}
}

func (s *Server) serve() {
	defer close(s.served)
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		s.http.ErrorLog.Printf("serve %s: %v", s.Addr(), err)
	}
}

// Addr is the address that the server listens on, its port included.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// URL is the address as the beginning of a URL, without a slash at its end.
func (s *Server) URL() string { return "http://" + s.Addr() }

// Do lets a hand change a knob (ServerSet) or a fault (ServerFault), at once and
// at the present moment of the run clock. The error is ErrClosed, or says that
// there is no such knob or fault or that its value is out of range.
func (s *Server) Do(in wire.ServerInput) error {
	if err := s.check(in); err != nil {
		return fmt.Errorf("change fault server: %w", err)
	}
	return s.owner.ask(func(o *owner) { o.step(s.clock.Now(), in) })
}

func (s *Server) check(in wire.ServerInput) error {
	switch in.Kind {
	case wire.ServerSet:
		if int(in.Knob) >= len(fault.Fields) {
			return fmt.Errorf("knob %d: there are %d", in.Knob, len(fault.Fields))
		}
		return fault.Fields[in.Knob].Check(in.Value)
	case wire.ServerFault:
		if int(in.Fault) >= len(s.faults) {
			return fmt.Errorf("fault %d: there are %d", in.Fault, len(s.faults))
		}
		do := knob.Spec{Name: "do", Kind: knob.Choice, Choices: wire.FaultDoNames()}
		return do.Check(int64(in.Do))
	}
	return fmt.Errorf("input kind %d: only knobs and faults can be changed", in.Kind)
}

// Err is why the server decides nothing any more, with the stack: its model or
// the Observer panicked. It is nil for a server that works, or was closed.
func (s *Server) Err() error { return s.owner.failure() }

// Close resets whatever still waits for an answer, closes all connections and
// returns when nothing of the server is left, within a second. Closing again
// does nothing and returns the same.
func (s *Server) Close() error {
	s.closing.Do(func() {
		if err := s.close(); err != nil {
			s.failed = fmt.Errorf("close fault server: %w", err)
		}
	})
	return s.failed
}

func (s *Server) close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.owner.stop()
	left := make(chan struct{})
	go func() {
		s.handlers.Wait()
		close(left)
	}()
	select {
	case <-left:
	case <-time.After(grace): // some client is slow to send or to read
	}
	err := s.http.Close()
	<-left
	<-s.served
	return err
}

// enter lets a handler in; false if the server is closed. The handler must call
// s.handlers.Done at its end.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.handlers.Add(1)
	}
	return !s.closed
}
