package run

import (
	"herdscope/engine/clock"
	"herdscope/engine/wire"
	"herdscope/faultserver"
)

// guestBook turns what a server sees of foreign clients into events such as a
// fleet would report: a request begins with its first arrival, each arrival is an
// attempt, and a request whose attempt came to nothing goes on as long as the
// client may yet come back. Clients get numbers from 0 as they come.
type guestBook struct {
	rows map[wire.ClientID]wire.ClientID
	open map[requestOf]*openRequest
	// failed is the requests whose client may come back, in the order in which
	// they failed.
	failed []failedRequest
}

// requestOf names a request.
type requestOf struct {
	client  wire.ClientID
	request wire.RequestID
}

// openRequest is a request that has not ended.
type openRequest struct {
	id     wire.AttemptID
	class  wire.Class
	method wire.Method
	began  clock.Instant
	// failures counts the attempts that came to nothing.
	failures int
	status   uint16
}

type failedRequest struct {
	what     requestOf
	at       clock.Instant
	failures int
}

// mostGuests is how many clients have rows of their own; the others share the
// last.
const mostGuests = 1 << 16

func newGuestBook() *guestBook {
	return &guestBook{rows: make(map[wire.ClientID]wire.ClientID), open: make(map[requestOf]*openRequest)}
}

// row is the number of a client.
func (g *guestBook) row(c wire.ClientID) wire.ClientID {
	row, known := g.rows[c]
	switch {
	case known:
		return row
	case len(g.rows) >= mostGuests:
		return mostGuests - 1
	}
	row = wire.ClientID(len(g.rows))
	g.rows[c] = row
	return row
}

// saw takes in an event of the server, and emits it and what it means.
func (g *guestBook) saw(e wire.Event, emit func(wire.Event)) {
	if e.ID == (wire.AttemptID{}) {
		emit(e)
		return
	}
	e.ID.Client = g.row(e.ID.Client)
	if e.Kind == wire.ServerArrived {
		g.arrived(&e, emit)
	}
	emit(e)
}

func (g *guestBook) arrived(e *wire.Event, emit func(wire.Event)) {
	what := requestOf{e.ID.Client, e.ID.Request}
	r := g.open[what]
	if r == nil {
		r = &openRequest{class: e.Class, method: e.Method, began: e.At}
		g.open[what] = r
		emit(wire.Event{Kind: wire.RequestBegan, At: e.At, Since: e.At, ID: e.ID, Class: e.Class, Method: e.Method})
	}
	r.id = e.ID
	emit(wire.Event{Kind: wire.AttemptSent, At: e.At, ID: e.ID, Class: e.Class, Method: e.Method})
}

// over takes in that the server is done with an arrival.
func (g *guestBook) over(a faultserver.Arrival, emit func(wire.Event)) {
	what := requestOf{g.row(a.ID.Client), a.ID.Request}
	r := g.open[what]
	if r == nil {
		return // the model has not seen it
	}
	r.status = uint16(a.Status)
	cause := wire.CauseReset
	if a.End == faultserver.Answered {
		cause = wire.CauseStatus
	} else if a.End == faultserver.HasLeft {
		cause = wire.CauseCancel
	}
	at := a.At.Add(a.Took)
	emit(wire.Event{
		Kind: wire.AttemptEnded, At: at, ID: r.id, Class: r.class, Method: r.method,
		Cause: cause, Status: r.status, Delay: a.Took,
	})
	switch {
	case a.End != faultserver.Answered || faultserver.Transient(r.status):
		r.failures++
		g.failed = append(g.failed, failedRequest{what, at, r.failures})
	case r.status >= 400:
		g.end(what, r, wire.Failed, at, emit)
	default:
		g.end(what, r, wire.Succeeded, at, emit)
	}
}

func (g *guestBook) end(
	what requestOf, r *openRequest, outcome wire.Outcome, at clock.Instant, emit func(wire.Event),
) {
	delete(g.open, what)
	emit(wire.Event{
		Kind: wire.RequestDone, At: at, Since: r.began, Delay: at.Sub(r.began), ID: r.id,
		Class: r.class, Method: r.method, Outcome: outcome, Status: r.status,
	})
}

// giveUp ends the requests whose client has had its time to come back.
func (g *guestBook) giveUp(now clock.Instant, emit func(wire.Event)) {
	for len(g.failed) > 0 && now > g.failed[0].at.Add(faultserver.RetryWindow) {
		f := g.failed[0]
		g.failed = g.failed[1:]
		if r := g.open[f.what]; r != nil && r.failures == f.failures {
			g.end(f.what, r, wire.Failed, now, emit)
		}
	}
}
