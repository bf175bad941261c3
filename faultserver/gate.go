package faultserver

import (
	"errors"
	"io"
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
	addr net.Addr
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
	// listener is the one behind the gate; refusing is set while there is none,
	// and closed when there is one again, or will be none any more.
	listener net.Listener
	refusing chan struct{}
	// shut says that there should be none.
	shut bool
	// reserved keeps the port meanwhile.
	reserved io.Closer
}

func newGate(l net.Listener, most int, errorLog *log.Logger) *gate {
	return &gate{listener: l, addr: l.Addr(), most: int64(most), errorLog: errorLog}
}

// Addr is the address of the listener, also while there is none.
func (g *gate) Addr() net.Addr { return g.addr }

// Accept waits for room, and then for a connection.
func (g *gate) Accept() (net.Conn, error) {
	for freed := g.full(); freed != nil; freed = g.full() {
		<-freed
	}
	for {
		listener, refusing := g.behind()
		if refusing != nil {
			<-refusing
			continue
		}
		conn, err := listener.Accept()
		switch _, refusing := g.behind(); {
		case refusing != nil && err == nil:
			abort(conn)
		case refusing == nil && err != nil && !errors.Is(err, net.ErrClosed):
			g.failed.Add(1)
			return nil, err
		case refusing == nil && !g.replaced(listener):
			return conn, err
		}
	}
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
	defer g.mu.Unlock()
	g.closed = true
	g.release()
	if g.refusing == nil {
		return g.listener.Close()
	}
	close(g.refusing)
	g.refusing = nil
	return g.reserved.Close()
}
