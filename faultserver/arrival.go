package faultserver

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/retryafter"
	"herdscope/engine/wire"
)

// End says how the server was done with an arrival.
type End string

// The ends of an arrival.
const (
	// Answered got a response.
	Answered End = "answered"
	// WasReset had its connection reset.
	WasReset End = "reset"
	// HasLeft had a client that went before there was an answer.
	HasLeft End = "left"
	// WasClosed was still there when the server closed.
	WasClosed End = "closed"
)

// Arrival is a request that came to the server, and what became of it.
type Arrival struct {
	// At is when it came on the run clock, Time the same on the wall clock.
	At   clock.Instant
	Time time.Time
	// Client is what a foreign client is known by, or the number of a member of
	// the fleet. ID is what the model knows it by; a foreign Try above 1 is a
	// likely retry.
	Client string
	ID     wire.AttemptID
	// Method and Path are those of the request line, the query included.
	Method, Path string
	End          End
	// Status is that of the response, 0 unless it was Answered.
	Status int
	// Fault is the name of the fault that made the reply; empty if none did.
	Fault string
	// Took is the time from the arrival to its end.
	Took time.Duration
}

// arrival is a request on its way through the server.
type arrival struct {
	at      clock.Instant
	time    time.Time
	attempt wire.Attempt
	// guest is set if the client is foreign.
	guest *guest
}

// identify is the arrival that a request is. The error says what is wrong with
// its wire.AttemptHeader.
func (s *Server) identify(r *http.Request, at clock.Instant) (arrival, error) {
	a := arrival{at: at, time: s.wallTime(at)}
	if field := r.Header.Get(wire.AttemptHeader); field != "" {
		attempt, err := wire.ParseAttempt(field)
		if err != nil {
			return a, err
		}
		a.attempt = attempt
	} else {
		g := s.guests.arrive(r, at)
		class, ok := wire.ParseClass(r.Header.Get("X-Priority"))
		if !ok {
			class = wire.Interactive
		}
		a.guest, a.attempt = &g, wire.Attempt{ID: g.id, Class: class}
	}
	// The router lets no other methods through.
	a.attempt.Method = wire.Method(slices.Index(wire.MethodNames(), r.Method))
	a.attempt.Key = wire.ParseKey(r.Header.Get(wire.KeyHeader))
	return a, nil
}

// wallTime is the wall clock at a moment of the run clock, as if that had never
// been stopped.
func (s *Server) wallTime(at clock.Instant) time.Time {
	return time.Unix(0, s.epoch).Add(at.Duration())
}

// remember keeps in mind a foreign attempt that is likely to come again after a reply,
// by which it is known then.
func (s *Server) remember(a *arrival, reply wire.Reply) {
	if a.guest == nil || reply.Kind == wire.ReplyResponse && !Transient(reply.Status) {
		return
	}
	now := s.clock.Now()
	s.guests.fail(*a.guest, max(now, retryafter.Resolve(reply.Hint, now, s.epoch)))
}

// log tells of an arrival that is over.
func (s *Server) log(r *http.Request, a *arrival, end End, reply answered) {
	if s.onArrival == nil {
		return
	}
	client := strconv.FormatUint(uint64(a.attempt.ID.Client), 10)
	if a.guest != nil {
		client = caller(r)
	}
	over := Arrival{
		At: a.at, Time: a.time, Client: client, ID: a.attempt.ID,
		Method: r.Method, Path: r.URL.RequestURI(),
		End: end, Fault: reply.fault, Took: s.clock.Now().Sub(a.at),
	}
	if end == Answered {
		over.Status = int(reply.Status)
	}
	s.onArrival(over)
}
