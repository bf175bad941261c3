// Package sim drives a fleet and a server model in virtual time: it takes the
// earliest thing that is due, jumps the clock to it, and steps the machine that
// it concerns.
//
// It has no policy of its own, and one goroutine. Two runs of the same machines
// with the same inputs are the same, event for event. Of things due at the same
// instant, messages come first in the order in which they were sent, then the
// server, then the fleet.
package sim

import (
	"fmt"
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/retryafter"
	"herdscope/engine/wire"
)

// Fleet is what the driver needs of a fleet.
type Fleet interface {
	Step(now clock.Instant, in fleet.Input, out []engine.Effect) []engine.Effect
	Deadline() (clock.Instant, bool)
}

// Server is what the driver needs of a server model.
type Server interface {
	Step(now clock.Instant, in wire.ServerInput, out []wire.ServerEffect) []wire.ServerEffect
	Deadline() (clock.Instant, bool)
}

// Config is what a virtual run is made of.
type Config struct {
	Fleet  Fleet
	Server Server
	// Observers see every event, in this order.
	Observers []wire.Observer
	// Delay is how long each message takes each way.
	Delay time.Duration
	// Epoch is the wall clock at the beginning of the run, in Unix
	// nanoseconds; HTTP dates need it.
	Epoch int64
	// Date is what the server's clock shows, in Unix seconds, in the Date field of
	// a response that it makes at an instant; nil has it make none.
	Date func(clock.Instant) int64
	// MaxAtOnce is how many things may happen at one instant before the run is
	// taken for stuck; 0 is a million.
	MaxAtOnce int
}

// Sim is a virtual run. It belongs to one goroutine at a time.
type Sim struct {
	config  Config
	now     clock.Instant
	transit clock.Queue[message]
	asked   []engine.Effect     // scratch
	decided []wire.ServerEffect // scratch
	atOnce  int                 // things that happened at now
	last    wire.AttemptID
	slow    slowReplies
}

// message is something on its way between the fleet and the server.
type message struct {
	kind    messageKind
	attempt wire.Attempt // to the server
	reply   wire.Reply   // to the fleet, for attempt.ID
	made    clock.Instant
}

type messageKind uint8

const (
	arriving messageKind = iota
	leaving
	returning
)

// New makes a run that stands at instant 0.
func New(c Config) *Sim {
	if c.MaxAtOnce == 0 {
		c.MaxAtOnce = 1_000_000
	}
	return &Sim{config: c}
}

// Now is the instant at which the run stands.
func (s *Sim) Now() clock.Instant { return s.now }

// RunUntil lets everything happen that is due up to and including t, and leaves
// the run standing at t. It fails if the run does not get away from an instant;
// the error names the client.
func (s *Sim) RunUntil(t clock.Instant) error {
	for {
		at, what := s.next()
		if at > t {
			s.advance(t)
			return nil
		}
		s.advance(at)
		if s.atOnce++; s.atOnce > s.config.MaxAtOnce {
			return fmt.Errorf("sim: run is stuck at %v: %d events at one instant, the last of client %d",
				s.now.Duration(), s.config.MaxAtOnce, s.last.Client)
		}
		switch what {
		case messages:
			s.deliver()
		case server:
			s.Serve(wire.ServerInput{Kind: wire.ServerTick})
		case clients:
			s.Do(fleet.Input{Kind: fleet.Tick})
		}
	}
}

// party is who is due.
type party uint8

const (
	messages party = iota
	server
	clients
)

// next is the earliest thing that is due, and whose it is.
func (s *Sim) next() (clock.Instant, party) {
	at, _ := s.transit.Peek()
	whose := messages
	if t, ok := s.config.Server.Deadline(); ok && t < at {
		at, whose = t, server
	}
	if t, ok := s.config.Fleet.Deadline(); ok && t < at {
		at, whose = t, clients
	}
	return max(at, s.now), whose
}

func (s *Sim) advance(t clock.Instant) {
	if t > s.now {
		s.now, s.atOnce = t, 0
	}
}

// deliver hands over the first message.
func (s *Sim) deliver() {
	_, m, _ := s.transit.Pop()
	s.last = m.attempt.ID
	switch m.kind {
	case arriving:
		s.Serve(wire.ServerInput{Kind: wire.ServerArrive, Attempt: m.attempt})
	case leaving:
		s.slow.leave(m.attempt.ID)
		s.Serve(wire.ServerInput{Kind: wire.ServerLeave, Attempt: m.attempt})
	case returning:
		if s.slow.lost(m.attempt.ID) {
			return
		}
		m.reply.Hint = retryafter.AsRead(m.reply.Hint, s.unix())
		s.Do(fleet.Input{
			Kind: fleet.Answered, ID: m.attempt.ID, Reply: m.reply,
			NotBefore: retryafter.Resolve(m.reply.Hint, s.now, s.config.Epoch),
			Lead:      s.lead(&m),
		})
	}
}

// lead is how far the server's clock is ahead, as a reply that returns now has it.
func (s *Sim) lead(m *message) time.Duration {
	if s.config.Date == nil || !m.reply.Hint.Form.Dated() {
		return 0
	}
	return retryafter.Lead(s.config.Date(m.made), s.now, s.config.Epoch)
}

// unix is the time of day, as Unix time.
func (s *Sim) unix() int64 { return clock.Instant(s.config.Epoch).Add(s.now.Duration()).Second() }

// Do feeds the fleet one input now.
func (s *Sim) Do(in fleet.Input) {
	s.asked = s.config.Fleet.Step(s.now, in, s.asked[:0])
	for i := range s.asked {
		switch e := &s.asked[i]; e.Kind {
		case engine.Send:
			s.send(e.Attempt)
		case engine.Abort:
			s.transit.Push(s.now.Add(s.config.Delay), message{kind: leaving, attempt: e.Attempt})
		case engine.Report:
			s.last = e.Event.ID
			s.observe(e.Event)
		}
	}
}

// send puts an attempt on its way. One that was held before the run began is at
// the server already.
func (s *Sim) send(a wire.Attempt) {
	delay := s.config.Delay
	if a.Warm {
		delay = 0
	}
	s.transit.Push(s.now.Add(delay), message{kind: arriving, attempt: a})
}

// Serve feeds the server one input now.
func (s *Sim) Serve(in wire.ServerInput) {
	s.decided = s.config.Server.Step(s.now, in, s.decided[:0])
	for i := range s.decided {
		switch e := &s.decided[i]; e.Kind {
		case wire.ServerReply:
			if e.Reply.Over > 0 {
				s.slow.begin(e.ID)
			}
			s.transit.Push(s.now.Add(e.Reply.Over).Add(s.config.Delay), message{
				kind: returning, attempt: wire.Attempt{ID: e.ID}, reply: e.Reply, made: s.now,
			})
		case wire.ServerEvent:
			s.observe(e.Event)
		}
	}
}

func (s *Sim) observe(e wire.Event) {
	for _, o := range s.config.Observers {
		o.Observe(e)
	}
}
