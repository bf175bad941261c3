package faultserver

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// conns is the connections of the server's clients.
type conns struct {
	mu   sync.Mutex
	open map[net.Conn]*conn
	// brought counts the connections by the client whose request was their first.
	brought map[wire.ClientID]uint32
}

// conn is a connection of the server's clients.
type conn struct {
	net.Conn
	requests int
	// number is which connection it is of the client that brought it, from 1.
	number uint32
	// client is who used it last.
	client wire.ClientID
	// idle says that it carries no request, since the moment in since.
	idle  bool
	since clock.Instant
	// limit is the fault that closes it when it has been idle for too long;
	// limited says that there is one.
	limited bool
	limit   uint8
	// closed says that the server has closed its side.
	closed bool
	timer  *time.Timer
}

type connKey struct{}

// meet notes a new connection; it is the ConnContext of an http.Server.
func (s *Server) meet(ctx context.Context, c net.Conn) context.Context {
	if _, refusing := s.gate.behind(); refusing != nil {
		abort(c) // it came in just before
	}
	k := &conn{Conn: c}
	s.conns.mu.Lock()
	defer s.conns.mu.Unlock()
	if s.conns.open == nil {
		s.conns.open = make(map[net.Conn]*conn)
	}
	s.conns.open[c] = k
	return context.WithValue(ctx, connKey{}, k)
}

// follow follows the state of a connection; it is the ConnState of an
// http.Server.
func (s *Server) follow(c net.Conn, state http.ConnState) {
	s.gate.count(c, state)
	s.conns.mu.Lock()
	defer s.conns.mu.Unlock()
	k := s.conns.open[c]
	if k == nil {
		return
	}
	switch state {
	case http.StateIdle:
		k.idle, k.since = true, s.clock.Now()
		s.limitIdle(k)
	case http.StateActive, http.StateClosed, http.StateHijacked:
		k.idle = false
		k.stop()
	}
	if state == http.StateClosed || state == http.StateHijacked {
		delete(s.conns.open, c)
	}
}

// useConn notes that a request came by its connection, and tells the attempt what
// the server knows of that.
func (s *Server) useConn(r *http.Request, a *arrival) {
	a.attempt.Conn = wire.ConnFresh
	k, ok := r.Context().Value(connKey{}).(*conn)
	if !ok {
		return
	}
	s.conns.mu.Lock()
	defer s.conns.mu.Unlock()
	k.requests++
	k.client = a.attempt.ID.Client
	if k.requests == 1 {
		k.number = s.conns.next(k.client)
	}
	if a.guest != nil { // for a member of the fleet the model counts, as in virtual time
		a.attempt.ConnNumber = k.number
	}
	switch {
	case k.closed:
		a.attempt.Conn = wire.ConnClosed
	case k.requests > 1:
		a.attempt.Conn = wire.ConnKept
	}
}

// next is the number of one more connection of a client; c.mu is held.
func (c *conns) next(client wire.ClientID) uint32 {
	if c.brought == nil {
		c.brought = make(map[wire.ClientID]uint32)
	}
	c.brought[client]++
	return c.brought[client]
}

// resetAll resets every connection.
func (s *Server) resetAll() {
	s.conns.mu.Lock()
	defer s.conns.mu.Unlock()
	for c := range s.conns.open {
		abort(c)
	}
}

func (k *conn) stop() {
	if k.timer != nil {
		k.timer.Stop()
	}
}

// limitIdle has an idle connection close in time, if some fault asks for that.
// s.conns.mu is held.
func (s *Server) limitIdle(k *conn) {
	k.stop()
	limits := s.owner.idleLimits.Load()
	if !k.idle || k.closed || k.requests == 0 || limits == nil {
		return
	}
	var at clock.Instant
	k.limited = false
	for _, l := range *limits {
		end := max(k.since.Add(l.After), l.since)
		if l.Among(k.client) && (!k.limited || end < at) {
			k.limited, k.limit, at = true, l.Fault, end
		}
	}
	if k.limited {
		wait, running, _ := s.clock.Wait(at)
		if !running && wait > 0 {
			wait = clockPoll
		}
		k.timer = time.AfterFunc(max(wait, 0), func() { s.expire(k, at) })
	}
}

// clockPoll is how often a clock that stands still is asked whether it goes.
const clockPoll = 5 * time.Millisecond

// expire closes the server's side of a connection that has been idle for too
// long. What is on its way to it is still read, so that no request is lost
// unseen.
func (s *Server) expire(k *conn, at clock.Instant) {
	s.conns.mu.Lock()
	defer s.conns.mu.Unlock()
	if !k.idle || k.closed || s.conns.open[k.Conn] != k {
		return
	}
	if s.clock.Now() < at {
		s.limitIdle(k)
		return
	}
	k.closed = true
	closeWrite(k.Conn)
	k.timer = time.AfterFunc(s.limits.farewell, func() { _ = k.Close() })
	go s.owner.call(call{at: s.clock.Now(), idled: true, attempt: wire.Attempt{
		ID: wire.AttemptID{Client: k.client},
	}, fault: k.limit})
}

// reviewIdle looks at every idle connection anew, since other faults are on.
func (s *Server) reviewIdle() {
	s.conns.mu.Lock()
	defer s.conns.mu.Unlock()
	for _, k := range s.conns.open {
		s.limitIdle(k)
	}
}

// farewell closes a connection that net/http has given up in order: what the
// client had sent before it could know is read, and counts as lost.
func (s *Server) farewell(c net.Conn, buffered *bufio.Reader) {
	defer c.Close()
	defer s.closeWith(c)()
	closeWrite(c)
	_ = c.SetReadDeadline(time.Now().Add(s.limits.farewell))
	for {
		r, err := http.ReadRequest(buffered)
		if err != nil {
			return
		}
		s.lost(r, c)
	}
}

// lost tells the model of a request that came by a connection that was closed.
func (s *Server) lost(r *http.Request, c net.Conn) {
	r.RemoteAddr = c.RemoteAddr().String()
	a, err := s.identify(r, s.clock.Now())
	if err != nil {
		return
	}
	a.attempt.Conn = wire.ConnClosed
	v := &visit{answer: make(chan answered, 1)}
	s.owner.call(call{at: a.at, attempt: a.attempt, visit: v, request: r})
	select {
	case reply := <-v.answer:
		s.log(r, &a, endOf(reply.Reply), reply)
	case <-s.owner.stopping:
	case <-s.owner.stopped:
	}
}

// closeWith closes a connection when the server closes, so that nobody waits for
// it. The function that it returns must be called when the connection is done
// with.
func (s *Server) closeWith(c net.Conn) (done func()) {
	over := make(chan struct{})
	var left sync.WaitGroup
	left.Go(func() {
		select {
		case <-s.owner.stopping:
			_ = c.Close()
		case <-s.owner.stopped:
			_ = c.Close()
		case <-over:
		}
	})
	return func() {
		close(over)
		left.Wait()
	}
}

// pause waits until a moment of the run clock; false if the client leaves, or
// the server closes, before that.
func (x *exchange) pause(until clock.Instant) bool {
	for {
		wait, running, changed := x.s.clock.Wait(until)
		if wait <= 0 {
			return true
		}
		var passed <-chan time.Time
		if running {
			timer := time.NewTimer(wait)
			defer timer.Stop()
			passed = timer.C
		}
		select {
		case <-passed:
		case <-changed:
		case <-x.r.Context().Done():
			return false
		case <-x.s.owner.stopping:
			return false
		case <-x.s.owner.stopped:
			return false
		}
	}
}

// closeWrite closes the server's side of a connection: it sends FIN.
func closeWrite(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.CloseWrite() // fails only on a connection that has ended
	}
}

// abort closes a connection so that its other end sees a reset, not an end. With
// Linger 0 the kernel drops what is unsent and sends RST.
func abort(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // fails only on a connection that has ended
	}
	_ = c.Close() // whatever it says, the connection is gone
}
