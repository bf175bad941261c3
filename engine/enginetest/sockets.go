package enginetest

import "herdscope/engine/wire"

// send checks that an attempt goes out on a connection that is there.
func (c *Checker) send(e wire.Event, r *track) {
	p := c.policy()
	conns, wired := p.Transport.Conns, c.wired[e.ID.Client]
	c.must(conns == 0 || wired < conns, "%v: all %d connections are taken", e.ID, wired)
	c.must(e.ID.Try == r.tries, "%v is sent as try %d", e.ID, r.tries)
	c.wired[e.ID.Client]++
	r.wired++
	c.sent++
}

// leaveSocket checks that whoever gets a connection has waited longest, and takes
// the slot from an attempt that gets none.
func (c *Checker) leaveSocket(e wire.Event, r *track) {
	line := c.sockets[e.ID.Client]
	at := -1
	for i, id := range line {
		if id == e.ID.Request {
			at = i
		}
	}
	c.must(at >= 0, "%v does not wait for a connection", e.ID)
	if at < 0 {
		return
	}
	c.sockets[e.ID.Client] = append(line[:at:at], line[at+1:]...)
	if e.Cause == wire.CauseNone {
		c.must(at == 0, "%v gets a connection before %d others", e.ID, at)
		return
	}
	c.release(e, r)
	if e.Cause == wire.CauseAuth { // the number is used again
		r.tries--
	}
}
