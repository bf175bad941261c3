package fault

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// conn is the connection of a client. Each is taken to keep one, by which all
// its attempts come.
type conn struct {
	// number is how many the client has had before it.
	number uint32
	// round is that of conns when the connection was opened.
	round uint32
	open  bool
	// busy is the attempts on it, and since is when the last of their replies was
	// whole.
	busy  int32
	since clock.Instant
}

// conns is the connections by client. It is kept only where a fault asks for
// connections: kept says so.
type conns struct {
	kept bool
	// round counts the times that all connections have ended.
	round uint32
	of    map[wire.ClientID]conn
}

// KeepsConnections says whether a fault is about connections, so that it matters
// by which of them an attempt comes.
func (c *Config) KeepsConnections() bool {
	for i := range c.Faults {
		if c.Faults[i].keepsConnections() {
			return true
		}
	}
	return false
}

func (f *Fault) keepsConnections() bool { return f.Kind == IdleClose || f.Unit == PerConnection }

// watch keeps the connections from now on if the fault is about them.
func (c *conns) watch(f *Fault) {
	if c.kept || !f.keepsConnections() {
		return
	}
	c.kept, c.of = true, make(map[wire.ClientID]conn)
}

// at is the connection of a client, which may not be open.
func (c *conns) at(client wire.ClientID) conn {
	k := c.of[client]
	if k.open && k.round != c.round {
		k = conn{number: k.number + 1}
	}
	return k
}

// number tells the client's connections apart; they count from 0.
func (c *conns) number(client wire.ClientID) uint32 { return c.at(client).number }

// connOf is the number of the connection by which an attempt came, from 0: its
// own if it says so, or else that of the one that its client is taken to keep.
func (s *Server) connOf(a *wire.Attempt) uint32 {
	if a.ConnNumber > 0 {
		return a.ConnNumber - 1
	}
	return s.conns.number(a.ID.Client)
}

// use is an attempt on the client's connection, which is opened if need be.
func (c *conns) use(client wire.ClientID) {
	k := c.at(client)
	k.open, k.round = true, c.round
	k.busy++
	c.of[client] = k
}

// rest says that an attempt on the connection is over at the given moment.
func (c *conns) rest(client wire.ClientID, since clock.Instant) {
	if k := c.at(client); k.open {
		k.busy, k.since = max(k.busy-1, 0), max(k.since, since)
		c.of[client] = k
	}
}

// drop says that the connection is of no more use.
func (c *conns) drop(client wire.ClientID) {
	if k := c.at(client); k.open {
		c.of[client] = conn{number: k.number + 1}
	}
}

// dropAll ends all connections.
func (c *conns) dropAll() { c.round++ }

// IdleLimit is a fault that closes idle connections.
type IdleLimit struct {
	// Fault is its index, and After how long a connection may be idle.
	Fault uint8
	After time.Duration
	// Among says whether a client is one of those it is meant for. It may be
	// called from any goroutine.
	Among func(wire.ClientID) bool
}

// IdleLimits are the faults that are on and close idle connections. Who serves
// sockets closes them, and feeds ServerIdled for each; attempts then say by Conn
// how theirs was found.
func (s *Server) IdleLimits() (limits []IdleLimit) {
	for i := range s.windows {
		if f := s.config.Faults[i]; s.windows[i].on && f.Kind == IdleClose {
			seed := s.seed
			limits = append(limits, IdleLimit{uint8(i), f.After, func(c wire.ClientID) bool {
				return among(seed, i, f.Match.Clients, c)
			}})
		}
	}
	return limits
}

// idled closes the client's connection if it has been idle for too long, and
// says which fault did so, and how long ago. It is found out when the client
// comes back, but with the faults that were on at the time.
func (s *Server) idled(client wire.ClientID) (by int, ago time.Duration, closed bool) {
	k := s.conns.at(client)
	if !k.open || k.busy > 0 {
		return 0, 0, false
	}
	at := clock.Never
	for i := range s.windows {
		f, w := &s.config.Faults[i], &s.windows[i]
		if f.Kind != IdleClose || !s.among(i, client) {
			continue
		}
		end := max(k.since.Add(f.After), w.began)
		if (w.on || end < w.ended) && end <= s.now && end < at {
			by, at = i, end
		}
	}
	if at == clock.Never {
		return 0, 0, false
	}
	s.conns.drop(client)
	return by, s.now.Sub(at), true
}

// reuse looks after the connection by which an attempt comes. One that the
// server has just closed for being idle, while the request was on its way,
// brings it nothing but the end of the connection.
func (s *Server) reuse(a *wire.Attempt, out []wire.ServerEffect) (_ []wire.ServerEffect, lost bool) {
	switch {
	case a.Conn == wire.ConnClosed:
		lost = true
	case !s.conns.kept:
		return out, false
	case a.Conn == wire.ConnAssumed:
		i, ago, closed := s.idled(a.ID.Client)
		if !closed {
			break
		}
		out, lost = s.strike(a, i, out), ago < s.config.Faults[i].Race
	}
	if lost {
		r := wire.Reply{Kind: wire.ReplyReset, Form: wire.FormNothing}
		return append(out, reply(a.ID, r), s.wasReset(a, 0, wire.NoFault)), true
	}
	s.conns.use(a.ID.Client)
	return out, false
}
