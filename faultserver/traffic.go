package faultserver

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"herdscope/engine/wire"
)

// traffic answers the requests of one route as the model decides.
func (s *Server) traffic(route uint8) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.arrive(w, r, func(a *arrival) {
			a.attempt.Route = route
			s.useConn(r, a)
			s.visit(w, r, a)
		})
	}
}

// arrive takes in a request and has it served, unless it makes no sense or the
// server is closed.
func (s *Server) arrive(w http.ResponseWriter, r *http.Request, serve func(*arrival)) {
	at := s.clock.Now()
	if !s.enter() {
		reset(w)
		return
	}
	defer s.handlers.Done()
	if !s.drained(w, r) {
		return
	}
	a, err := s.identify(r, at)
	if err != nil {
		s.refuse(w, trouble(http.StatusBadRequest, err.Error()))
		return
	}
	serve(&a)
}

// drained reads the body to its end: net/http notices that a client has gone
// only then. It answers for itself if that cannot be done.
func (s *Server) drained(w http.ResponseWriter, r *http.Request) bool {
	if r.ContentLength == 0 {
		return true
	}
	control := http.NewResponseController(w)
	s.deadline(control.SetReadDeadline, s.limits.body)
	_, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		s.deadline(control.SetReadDeadline, 0) // or else closing would wait for the rest
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		s.refuse(w, (&problem{
			Error: "the body is too large", Allowed: []string{"a body of 1 MiB at most"},
		}).as(http.StatusRequestEntityTooLarge))
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		s.refuse(w, trouble(http.StatusRequestTimeout, "the body took too long to come"))
	case err != nil:
		reset(w) // the client has gone, or makes no sense
	}
	return err == nil
}

// deadline sets a deadline of a connection some time from now, or none at all.
func (s *Server) deadline(set func(time.Time) error, after time.Duration) {
	if s.limits.body == 0 {
		return
	}
	var at time.Time
	if after > 0 {
		at = time.Now().Add(after)
	}
	_ = set(at) // fails only on a connection that has ended
}

// refuse answers a request that makes no sense.
func (s *Server) refuse(w http.ResponseWriter, p *problem) {
	s.refused.Add(1)
	p.write(w)
}

// visit hands an arrival to the model, waits and does what it says.
func (s *Server) visit(w http.ResponseWriter, r *http.Request, a *arrival) {
	v := &visit{answer: make(chan answered, 1)}
	s.owner.call(call{at: a.at, attempt: a.attempt, visit: v, request: r})
	select {
	case reply := <-v.answer:
		s.remember(a, reply.Reply)
		s.log(r, a, endOf(reply.Reply), reply)
		s.answer(w, r, reply)
	case <-r.Context().Done():
		s.owner.call(call{at: s.clock.Now(), attempt: a.attempt, visit: v, leaves: true})
		s.remember(a, wire.Reply{Kind: wire.ReplyReset})
		s.log(r, a, HasLeft, answered{})
	case <-s.owner.stopping:
		s.log(r, a, WasClosed, answered{})
		reset(w)
	case <-s.owner.stopped:
		s.log(r, a, WasClosed, answered{})
		reset(w)
	}
}

func endOf(r wire.Reply) End {
	if r.Kind == wire.ReplyResponse {
		return Answered
	}
	return WasReset
}

// answer writes a reply in its form, or resets the connection if that is the
// reply.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, reply answered) {
	if reply.Kind != wire.ReplyResponse && reply.Form == wire.FormWhole {
		reset(w)
		return
	}
	forms[reply.Form](&exchange{s: s, w: w, r: r, reply: reply})
}

// reset resets the connection of a request.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // net/http then closes the connection itself
	}
	abort(conn)
}
