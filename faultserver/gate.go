package faultserver

import (
	"errors"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// gate is a listener that lets in only so many connections at a time, and
// leaves the others to wait in the queue of the system: so files are left for
// the admin API, whatever the traffic. It counts the errors of the listener
// behind it; net/http waits after one before it tries again.
type gate struct {
	net.Listener
	// most is how many connections there may be; 0 is any number.
	most     int64
	errorLog *log.Logger

	failed atomic.Int64 // errors of Accept
	held   atomic.Int64 // times that a connection had to wait

	mu   sync.Mutex
	open int64
	// freed is closed when a connection has gone for which the gate waits.
	freed  chan struct{}
	closed bool
}

func newGate(l net.Listener, most int, errorLog *log.Logger) *gate {
	return &gate{Listener: l, most: int64(most), errorLog: errorLog}
}

// Accept waits for room, and then for a connection.
func (g *gate) Accept() (net.Conn, error) {
	for freed := g.full(); freed != nil; freed = g.full() {
		<-freed
	}
	conn, err := g.Listener.Accept()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		g.failed.Add(1)
	}
	return conn, err
}

// full is nil if there is room; otherwise it is closed once there is.
func (g *gate) full() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.most == 0 || g.open < g.most || g.closed {
		return nil
	}
	if g.freed == nil {
		g.freed = make(chan struct{})
		if g.held.Add(1) == 1 {
			g.errorLog.Printf("%d connections are open, as many as the limit of open files "+
				"leaves room for; new ones wait", g.most)
		}
	}
	return g.freed
}

// count follows the connections; it is the ConnState of an http.Server.
func (g *gate) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		g.change(1)
	case http.StateClosed, http.StateHijacked: // whoever takes one over closes it soon
		g.change(-1)
	}
}

func (g *gate) change(by int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open += by
	if g.open < g.most {
		g.release()
	}
}

// release wakes Accept; g.mu is held.
func (g *gate) release() {
	if g.freed != nil {
		close(g.freed)
		g.freed = nil
	}
}

// Close closes the listener and ends the wait for room.
func (g *gate) Close() error {
	g.mu.Lock()
	g.closed = true
	g.release()
	g.mu.Unlock()
	return g.Listener.Close()
}
