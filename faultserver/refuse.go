package faultserver

import (
	"io"
	"net"
	"time"
)

// reopenEvery is how often a listener is tried that cannot be opened again.
const reopenEvery = 20 * time.Millisecond

// behind is the listener behind the gate, and the channel that is closed when
// there is one again; nil if there is one.
func (g *gate) behind() (net.Listener, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.listener, g.refusing
}

// replaced says whether there has come another listener, since this one was
// closed.
func (g *gate) replaced(l net.Listener) bool {
	now, _ := g.behind()
	return now != l
}

// refuse closes the listener, so that the system refuses connections, or opens
// it again at the same address. The port is kept meanwhile: without that, a
// client's own port could be the same, and connect to itself.
func (g *gate) refuse(refusing bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = refusing
	switch {
	case g.closed || refusing == (g.refusing != nil):
	case refusing:
		g.refusing = make(chan struct{})
		_ = g.listener.Close() // whatever it says, it listens no more
		g.reserved = reserve(g.addr)
	default:
		g.reopen(g.refusing)
	}
}

// reopen opens the listener again, now or as soon as that can be done; g.mu is
// held.
func (g *gate) reopen(was chan struct{}) {
	if g.closed || g.shut || g.refusing != was {
		return
	}
	l, err := listen(g.addr.String())
	if err != nil {
		g.errorLog.Printf("open %v again: %v", g.addr, err)
		time.AfterFunc(reopenEvery, func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.reopen(was)
		})
		return
	}
	_ = g.reserved.Close()
	g.listener, g.refusing = l, nil
	close(was)
}

// nothing is a reservation where there is none.
type nothing struct{}

func (nothing) Close() error { return nil }

var _ io.Closer = nothing{}
