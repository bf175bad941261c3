package faultserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
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
	// Admin is where the admin API listens: on a listener of its own, so that no
	// traffic is in its way. Empty is nowhere. An address that other machines can
	// reach needs an AdminToken, which then has to come with every request.
	Admin      string
	AdminToken string
	// OnEdit, if set, is told of what is done through the admin API, as the
	// Observer is told of events: before those that come of it, and after those
	// of a fault that is removed.
	OnEdit func(Edit)
	// OnArrival, if set, is told of every arrival when the server is done with
	// it. It is called from many goroutines at once.
	OnArrival func(Arrival)
	// Guarded bounds the time that a request may take to come in, and a
	// connection to be idle. A fleet needs no such bounds: its clients open
	// connections ahead of need.
	Guarded bool
	// MaxConns is how many connections there may be at a time; 0 is any number.
	// Others wait until one ends.
	MaxConns int
	// Routes are the paths that are served, each with all that lies below it;
	// wire.Attempt.Route is the index of one. None is every path.
	Routes []string
	// AdHoc adds the routes of package adhoc, before all others.
	AdHoc bool
	// AnyPath serves every other path as the first of the Routes.
	AnyPath bool
}

// DefaultAddr is a free port on the loopback interface.
const DefaultAddr = "127.0.0.1:0"

const (
	// maxHeader, maxBody and maxObject are how large a request may be, in bytes:
	// its header, its body, and the body of one to the admin API.
	maxHeader = 16 << 10
	maxBody   = 1 << 20
	maxObject = 64 << 10
	// headerSlack is how much more net/http reads of a header than it is told.
	headerSlack = 4 << 10
	// grace is how long Close waits for handlers before it closes connections
	// under them.
	grace = 250 * time.Millisecond
)

// limits is how long clients may take.
type limits struct {
	// header is how long they may take to send a request's header, and how long
	// a new connection may stay without one; body is the same for what follows,
	// and write for taking the reply. 0 is for ever.
	header, body, write time.Duration
	// idle is how long a connection may be without a request. A connection that
	// is closed while its client begins to use it looks to the client like an
	// outage that never was, so it is 0, for ever, wherever that can be helped.
	idle time.Duration
	// farewell is how long a connection of which the server has closed its side
	// waits for its client to do the same.
	farewell time.Duration
}

// limitsOf is the limits of a server for a fleet, or for anybody.
func limitsOf(c Config) limits {
	if c.Guarded {
		return limits{
			header: 10 * time.Second, body: 10 * time.Second, write: 30 * time.Second,
			idle: 10 * time.Minute, farewell: time.Second,
		}
	}
	return limits{header: 5 * time.Minute, farewell: time.Second}
}

// ErrClosed is the error of what is asked of a Server that is closed.
var ErrClosed = errors.New("the server is closed")

// Server is a running server.
type Server struct {
	gate   *gate // the listener of the traffic
	http   *http.Server
	owner  *owner
	clock  Clock
	guests guests
	conns  conns
	limits limits
	// epoch is the wall clock, in Unix nanoseconds, at which the run clock is 0.
	epoch     int64
	seed      uint64
	onArrival func(Arrival)
	// refused counts requests that made no sense, panics handlers that failed.
	refused, panics atomic.Int64

	adminListener net.Listener // nil if there is no admin API
	admin         *http.Server
	// served is joined by those who accept connections.
	served sync.WaitGroup

	closing sync.Once
	failed  error // of Close

	mu       sync.Mutex
	closed   bool
	handlers sync.WaitGroup // joined under mu, and only while not closed
}

// Start listens and serves until Close. The error wraps that of the listener
// and names the address, or wraps ErrExposed.
func Start(c Config) (*Server, error) {
	if c.Model == nil || c.Clock == nil {
		return nil, errors.New("start fault server: it needs a model and a clock")
	}
	c.Addr = cmp.Or(c.Addr, DefaultAddr)
	if c.ErrorLog == nil {
		c.ErrorLog = log.New(io.Discard, "", 0)
	}
	listener, err := listen(c.Addr)
	if err != nil {
		return nil, fmt.Errorf("start fault server on %s: %w", c.Addr, err)
	}
	adminListener, err := listenAdmin(c)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	s := &Server{
		gate:          newGate(listener, c.MaxConns, c.ErrorLog),
		owner:         newOwner(c),
		clock:         c.Clock,
		limits:        limitsOf(c),
		epoch:         c.Model.EpochUnixNanos(),
		seed:          c.Model.Seed(),
		onArrival:     c.OnArrival,
		adminListener: adminListener,
	}
	s.http = s.newHTTP(c)
	s.admin = s.newAdmin(c.AdminToken)
	s.owner.idled = s.reviewIdle
	s.owner.refuse = s.refuseAll
	s.owner.nameOf = s.guests.name
	go s.owner.run()
	s.serve(s.http, s.gate)
	if adminListener != nil {
		s.serve(s.admin, adminListener)
	}
	return s, nil
}

// listen listens without probes: a herd connects with fewer system calls.
func listen(addr string) (net.Listener, error) {
	quiet := net.ListenConfig{KeepAlive: -1}
	return quiet.Listen(context.Background(), "tcp", addr)
}

// newHTTP is the HTTP server of the traffic.
func (s *Server) newHTTP(c Config) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:           s.router(c),
		ReadHeaderTimeout: s.limits.header,
		IdleTimeout:       s.limits.idle,
		MaxHeaderBytes:    maxHeader - headerSlack,
		ErrorLog:          c.ErrorLog,
		Protocols:         protocols,
		ConnState:         s.follow,
		ConnContext:       s.meet,
	}
}

// serve accepts connections until the server is closed.
func (s *Server) serve(server *http.Server, l net.Listener) {
	s.served.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.http.ErrorLog.Printf("serve %s: %v", l.Addr(), err)
		}
	})
}

// refuseAll closes the listener and resets every connection, or opens it again.
func (s *Server) refuseAll(refusing bool) {
	s.gate.refuse(refusing)
	if refusing {
		s.resetAll()
	}
}

// Refused says that an attempt of the fleet found no listener: the server, which
// has none, cannot know. It counts for the outage that has closed it.
func (s *Server) Refused(a wire.Attempt) {
	s.owner.call(call{at: s.clock.Now(), attempt: a, refused: true})
}

// Addr is the address that the server listens on, its port included.
func (s *Server) Addr() string { return s.gate.Addr().String() }

// URL is the address as the beginning of a URL, without a slash at its end.
func (s *Server) URL() string { return "http://" + s.Addr() }

// Do lets a hand change a knob (ServerSet) or a fault (ServerFault), at once and
// at the present moment of the run clock. The error is ErrClosed, or says that
// there is no such knob or fault or that its value is out of range.
func (s *Server) Do(in wire.ServerInput) error {
	var wrong error
	err := s.owner.ask(func(o *owner) {
		if wrong = o.check(in); wrong == nil {
			o.step(s.clock.Now(), in)
		}
	})
	if err = cmp.Or(err, wrong); err != nil {
		return fmt.Errorf("change fault server: %w", err)
	}
	return nil
}

func (o *owner) check(in wire.ServerInput) error {
	switch in.Kind {
	case wire.ServerSet:
		if int(in.Knob) >= len(fault.Fields) {
			return fmt.Errorf("knob %d: there are %d", in.Knob, len(fault.Fields))
		}
		return fault.Fields[in.Knob].Check(in.Value)
	case wire.ServerFault:
		if !o.model.HasFault(int(in.Fault)) {
			return fmt.Errorf("there is no fault %d", in.Fault)
		}
		do := knob.Spec{Name: "do", Kind: knob.Choice, Choices: wire.FaultDoNames()}
		return do.Check(int64(in.Do))
	}
	return fmt.Errorf("input kind %d: only knobs and faults can be changed", in.Kind)
}

// Err is why the server decides nothing any more, with the stack: its model or
// the Observer panicked. It is nil for a server that works, or was closed.
func (s *Server) Err() error { return s.owner.failure() }

// Stopped is closed when the server decides nothing any more: it was closed, or
// Err says why.
func (s *Server) Stopped() <-chan struct{} { return s.owner.stopped }

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
	err := errors.Join(s.http.Close(), s.admin.Close())
	<-left
	s.served.Wait()
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
