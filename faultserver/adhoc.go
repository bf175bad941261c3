package faultserver

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"herdscope/engine/retryafter"
	"herdscope/engine/wire"
	"herdscope/faultserver/adhoc"
)

// adHoc answers the requests of a route that they describe themselves. The model
// does not see them: no fault and no limit is in their way.
func (s *Server) adHoc(route *adhoc.Route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.arrive(w, r, func(a *arrival) {
			answer, err := route.Answer(s.adHocRequest(r, a))
			if err != nil {
				s.refuse(w, refusal(err))
				return
			}
			s.answerAdHoc(w, r, a, answer)
		})
	}
}

func (s *Server) adHocRequest(r *http.Request, a *arrival) *adhoc.Request {
	request := &adhoc.Request{
		Vars: mux.Vars(r), Query: r.URL.Query(),
		Client: a.attempt.ID.Client, Arrival: a.attempt.ID.Request,
		Seed: s.seed, Now: a.at, EpochUnixNanos: s.epoch,
	}
	if a.guest != nil {
		request.Arrival = a.guest.nth
	}
	return request
}

// answerAdHoc does what was decided, and reports it.
func (s *Server) answerAdHoc(w http.ResponseWriter, r *http.Request, a *arrival, answer adhoc.Answer) {
	if answer.Reset {
		s.remember(a, wire.Reply{Kind: wire.ReplyReset})
		s.tell(a, wire.Event{Kind: wire.ServerArrived}, wire.Event{Kind: wire.ServerReset})
		s.log(r, a, WasReset, answered{})
		reset(w)
		return
	}
	s.tell(a, wire.Event{Kind: wire.ServerArrived}, wire.Event{Kind: wire.ServerBegan})
	stay := s.stay(r, answer.Wait)
	reply := wire.Reply{Status: uint16(answer.Status)}
	if stay == Answered {
		s.remember(a, reply)
		stay = s.writeAdHoc(w, r, answer)
	} else {
		s.remember(a, wire.Reply{Kind: wire.ReplyReset})
	}
	s.tell(a, wire.Event{
		Kind: wire.ServerDone, Status: reply.Status,
		Delay: s.clock.Now().Sub(a.at), Wasted: stay != Answered,
	})
	s.log(r, a, stay, answered{Reply: reply})
	if stay == WasClosed {
		reset(w)
	}
}

// stay waits, and says what ended the wait: Answered is its own end.
func (s *Server) stay(r *http.Request, wait time.Duration) End {
	if wait <= 0 {
		return Answered
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return Answered
	case <-r.Context().Done():
		return HasLeft
	case <-s.owner.stopping:
	case <-s.owner.stopped:
	}
	return WasClosed
}

// writeAdHoc writes an answer, its body bit by bit if it is to drip.
func (s *Server) writeAdHoc(w http.ResponseWriter, r *http.Request, answer adhoc.Answer) End {
	h := w.Header()
	h["Content-Type"] = []string{textPlain}
	if answer.RetryAfter != nil {
		h[retryafter.FieldName] = answer.RetryAfter
	}
	if answer.Pushback != nil {
		h[retryafter.PushbackName] = answer.Pushback
	}
	control := http.NewResponseController(w)
	s.deadline(control.SetWriteDeadline, s.limits.write)
	w.WriteHeader(answer.Status)
	if answer.Bytes == 0 {
		_, _ = io.WriteString(w, http.StatusText(answer.Status)+"\n") // an error means that the client has gone
		return Answered
	}
	for range answer.Bytes {
		s.deadline(control.SetWriteDeadline, s.limits.write)
		if _, err := io.WriteString(w, "*"); errors.Is(err, http.ErrBodyNotAllowed) {
			return Answered
		} else if err != nil {
			return HasLeft
		}
		if err := control.Flush(); err != nil {
			return HasLeft
		}
		if end := s.stay(r, answer.Drip/time.Duration(answer.Bytes)); end != Answered {
			return end
		}
	}
	return Answered
}

// tell reports what happened to an attempt that the model does not see.
func (s *Server) tell(a *arrival, events ...wire.Event) {
	_ = s.owner.ask(func(o *owner) { // a server that is closed has nobody to tell
		for _, e := range events {
			e.At = max(s.clock.Now(), o.model.Now())
			e.ID, e.Class, e.Method = a.attempt.ID, a.attempt.Class, a.attempt.Method
			e.Fault = wire.NoFault
			o.tally.observe(&e)
			o.tally.ended(&e)
			o.observe(e)
		}
	})
}
