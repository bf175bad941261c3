package faultserver

import (
	"errors"
	"io"
	"net"
	"net/http"

	"herdscope/engine/retryafter"
	"herdscope/engine/wire"
)

// traffic answers the requests of one route as the model decides.
func (s *Server) traffic(route uint8) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		at := s.clock.Now()
		if !s.enter() {
			reset(w)
			return
		}
		defer s.handlers.Done()
		if !drained(w, r) {
			return
		}
		attempt, err := s.identify(r)
		if err != nil {
			refuse(w, http.StatusBadRequest, problem{Error: err.Error()})
			return
		}
		attempt.Route = route
		s.visit(w, r, call{at: at, attempt: attempt})
	}
}

// drained reads the body to its end: net/http notices that a client has gone
// only then. It answers for itself if that cannot be done.
func drained(w http.ResponseWriter, r *http.Request) bool {
	_, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		refuse(w, http.StatusRequestEntityTooLarge, problem{Error: err.Error()})
	case err != nil:
		reset(w) // the client has gone, or makes no sense
	}
	return err == nil
}

// visit hands an arrival to the model, waits and does what it says.
func (s *Server) visit(w http.ResponseWriter, r *http.Request, c call) {
	c.visit = &visit{answer: make(chan wire.Reply, 1)}
	s.owner.call(c)
	select {
	case reply := <-c.visit.answer:
		answer(w, reply)
	case <-r.Context().Done():
		c.at, c.leaves = s.clock.Now(), true
		s.owner.call(c)
	case <-s.owner.stopping:
		reset(w)
	case <-s.owner.stopped:
		reset(w)
	}
}

var textPlain = []string{"text/plain; charset=utf-8"}

// answer writes a reply, or resets the connection if that is the reply.
func answer(w http.ResponseWriter, reply wire.Reply) {
	if reply.Kind != wire.ReplyResponse {
		reset(w)
		return
	}
	h := w.Header()
	h["Content-Type"] = textPlain
	if reply.Hint.Form != wire.HintNone {
		h["Retry-After"] = retryafter.Fields(reply.Hint)
	}
	w.WriteHeader(int(reply.Status))
	// An error means that the client has gone, which is no business of ours.
	_, _ = io.WriteString(w, http.StatusText(int(reply.Status))+"\n")
}

// reset closes the connection so that its other end sees a reset, not an end.
// With Linger 0 the kernel drops what is unsent and sends RST.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // net/http then closes the connection itself
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // fails only on a connection that has ended
	}
	_ = conn.Close() // whatever it says, the connection is gone
}
