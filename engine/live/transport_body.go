package live

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// source is where the attempts of a call have their bodies from.
type source struct {
	body    io.ReadCloser // the request's own; nil if it has none
	getBody func() (io.ReadCloser, error)

	mu     sync.Mutex
	opened bool    // an attempt had the request's own body
	holder *upload // has it now, and has not closed it
	final  bool    // no later attempt may want it
	closed bool
}

func (s *source) init(req *http.Request) {
	if req.Body != nil && req.Body != http.NoBody {
		s.body, s.getBody = req.Body, req.GetBody
	}
}

// open is the body for one attempt; nil if there is none.
func (s *source) open(a *attemptInFlight) (*upload, error) {
	if s.body == nil {
		return nil, nil
	}
	u := &upload{attempt: a, Reader: s.body, again: s.getBody != nil}
	if s.own(u) {
		u.close = func() error { return s.leave(u) }
		return u, nil
	}
	body, err := s.getBody()
	if err != nil {
		return nil, fmt.Errorf("rewind the body: %w", err)
	}
	u.Reader, u.close = body, body.Close
	return u, nil
}

// own gives u the request's own body, if that is good for it.
func (s *source) own(u *upload) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened && u.again {
		return false
	}
	s.opened, s.holder = true, u
	return true
}

// leave takes the request's own body from u, and closes it unless a later
// attempt may want it.
func (s *source) leave(u *upload) error {
	return s.closeIf(func() bool {
		if s.holder != u {
			return false
		}
		s.holder = nil
		return s.final || u.again
	})
}

// keep says that no later attempt may want the body.
func (s *source) keep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.final = true
}

// finish says that there will be no more attempts, and closes the body if
// nobody reads it, or if nobody should.
func (s *source) finish(failed bool) {
	s.closeIf(func() bool { // an error of it is of no use to anybody now
		s.final = true
		return s.holder == nil || failed
	})
}

// closeIf closes the request's own body, once, if the condition says so under
// the lock. The closing itself is outside: it is the caller's code.
func (s *source) closeIf(condition func() bool) error {
	s.mu.Lock()
	now := condition() && !s.closed && s.body != nil
	s.closed = s.closed || now
	s.mu.Unlock()
	if now {
		return s.body.Close()
	}
	return nil
}

// bodyError marks an error that the caller's body had while it was read.
type bodyError struct{ error }

func (e *bodyError) Unwrap() error { return e.error }

// upload is the body of one attempt. The first reading of one that cannot be
// had again commits the attempt.
type upload struct {
	io.Reader
	attempt *attemptInFlight
	close   func() error
	again   bool // it can be had again
	begun   atomic.Bool
	closed  atomic.Bool
}

// Read reads the body, while the attempt lasts.
func (u *upload) Read(p []byte) (int, error) {
	if u.closed.Load() || !u.begun.Load() && !u.begin() {
		return 0, errAttemptOver
	}
	n, err := u.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = &bodyError{err}
	}
	return n, err
}

// begin is the first reading; false if the attempt is over.
func (u *upload) begin() bool {
	if !u.again && !u.attempt.spend() {
		return false
	}
	u.begun.Store(true)
	return true
}

// used says that it has been read and cannot be had again.
func (u *upload) used() bool { return u.begun.Load() && !u.again }

// Close ends the reading; only the first call does anything.
func (u *upload) Close() error {
	if u.closed.Swap(true) {
		return nil
	}
	return u.close()
}

// download is the body of a response that the caller has.
type download struct {
	body    io.ReadCloser
	attempt *attemptInFlight
	reply   wire.Reply
}

// newDownload wraps a body; one that can be written to, as after 101 Switching
// Protocols, still can.
func newDownload(a *attemptInFlight, body io.ReadCloser, reply wire.Reply) io.ReadCloser {
	d := &download{body: body, attempt: a, reply: reply}
	if w, ok := body.(io.Writer); ok {
		return &duplex{download: d, Writer: w}
	}
	return d
}

// Read reads the body. Its end, or its failure, is that of the attempt.
func (d *download) Read(p []byte) (int, error) {
	n, err := d.body.Read(p)
	switch err {
	case nil:
	case io.EOF:
		d.end()
	default:
		err = d.attempt.broken(err)
	}
	return n, err
}

// Close ends the attempt, if it has not ended before.
func (d *download) Close() error {
	err := d.body.Close()
	d.end()
	return err
}

func (d *download) end() {
	a := d.attempt
	t := a.call.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if a.inFlight() {
		a.answer(d.reply, clock.Never, engine.RetryNever)
	}
	a.cancel(errAttemptOver)
}

// duplex is a download that can be written to.
type duplex struct {
	*download
	io.Writer
}

// rest is a body that was read in part before the caller got it.
type rest struct {
	io.Reader
	body   io.Closer
	cancel context.CancelCauseFunc
}

// Close closes the connection's end of the body and lets the attempt go.
func (r *rest) Close() error {
	defer r.cancel(errAttemptOver)
	return r.body.Close()
}
