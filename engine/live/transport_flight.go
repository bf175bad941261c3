package live

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// shareLimit is the longest response body that several callers get, in bytes.
const shareLimit = 1 << 20

// ErrNotShared is the error of reading on, where a response was too long to be
// shared, or a stream: one of the callers has all of it, the others what there was
// before.
var ErrNotShared = errors.New("the response is too long to be shared, and another caller has it")

// ErrAbandoned is why a request was cancelled that shared a flight, under a policy
// by which the caller that began it cancels it for all.
var ErrAbandoned = errors.New("the caller that the request was shared with has cancelled it")

// shared is what a call has to do with others that share its attempts.
type shared struct {
	// same is what the request is identical with; 0 if it is not to be shared.
	same uint64
	// lead is the call whose attempts serve this one, once there are others.
	lead *call
	// members is, of a lead, those that it has served, itself included.
	members []*call
	// begin and left are, of the response that the lead holds, what was read of its
	// body, and the body from there on; nil if that was all.
	begin []byte
	left  io.ReadCloser
	// taken says that a caller has left.
	taken bool
}

// vehicle is the call that an attempt belongs to. It needs the lock.
func (t *Transport) vehicle(id wire.RequestID) *call {
	if c := t.flights[id]; c != nil {
		return c
	}
	return t.calls[id]
}

// board lets a request share the attempts of another. It needs the lock.
func (t *Transport) board(e wire.Event) {
	lead, c := t.vehicle(e.Leader), t.calls[e.ID.Request]
	if t.flights[e.Leader] == nil {
		t.flights[e.Leader] = lead
		lead.lead, lead.members = lead, append(lead.members, lead)
	}
	c.lead, lead.members = lead, append(lead.members, c)
}

// alight forgets a flight with its last request. It needs the lock.
func (t *Transport) alight(c *call, e wire.Event) {
	if c.lead != nil && !e.Shared {
		delete(t.flights, c.lead.id)
	}
}

// serving is the call whose attempts serve this one.
func (c *call) serving() *call {
	if c.lead != nil {
		return c.lead
	}
	return c
}

// abandon ends a request, and all that share its attempts, for an error of theirs. It
// needs the lock.
func (c *call) abandon(own error) {
	if c.lead == nil {
		c.cancel(own)
		return
	}
	for _, member := range c.members {
		if !member.ended {
			member.cancel(own)
		}
	}
}

// share reads the response of a request that others may share, and has the machine
// decide. A stream is not read.
func (a *attemptInFlight) share(resp *http.Response, reply wire.Reply, notBefore clock.Instant) {
	c, body := a.call, resp.Body
	var begin []byte
	if !streams(resp) {
		var err error
		if begin, err = io.ReadAll(io.LimitReader(body, shareLimit+1)); err != nil {
			body.Close()
			a.broken(err)
			return
		}
	}
	left := &rest{Reader: io.MultiReader(bytes.NewReader(begin), body), body: body, cancel: a.cancel}
	whole := !streams(resp) && len(begin) <= shareLimit
	c.t.mu.Lock()
	if a.inFlight() {
		c.begin, c.left, c.taken = begin, left, false
		if whole {
			c.left = nil
		}
	}
	c.t.mu.Unlock()
	if !a.judge(resp, reply, notBefore) || whole {
		left.Close()
	}
}

// streams says whether a response comes bit by bit, so that nobody must wait for its
// end.
func streams(resp *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return kind == "text/event-stream" || kind == "application/x-ndjson"
}

// part is a caller's own copy of the response that its attempts have brought. It
// needs the lock.
func (c *call) part() *http.Response {
	lead := c.serving()
	if lead.same == 0 {
		return lead.held
	}
	resp := *lead.held
	resp.Header, resp.Trailer = lead.held.Header.Clone(), lead.held.Trailer.Clone()
	switch {
	case resp.Body == http.NoBody:
	case lead.left == nil:
		resp.Body = io.NopCloser(bytes.NewReader(lead.begin))
	case !lead.taken:
		lead.taken = true
		resp.Body = lead.left
	default:
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(lead.begin), unshared{}))
	}
	return &resp
}

// unshared is the end of a body that another caller has.
type unshared struct{}

func (unshared) Read([]byte) (int, error) { return 0, ErrNotShared }

// crash is the error of those who shared an attempt that has panicked.
func crash(value any) error {
	if value == nil {
		return errGoexit
	}
	return fmt.Errorf("the attempt panicked: %v", value)
}
