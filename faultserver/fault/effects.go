package fault

import (
	"net/http"
	"slices"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// Effects is what the server does about unsafe requests that come twice.
//
// POST and PATCH take effect at the end of their service, whether or not the
// caller is still there. Two attempts are the same request if they have the same
// Idempotency-Key, whoever sends it, or without one if they are tries of one
// request of one client, or of one that its user has submitted a second time. PUT
// and DELETE leave things as they are when they are repeated, and do not count.
type Effects struct {
	// Idempotency says that the server remembers the reply to each request with
	// an Idempotency-Key. A repetition gets that reply and takes no effect. While
	// the first attempt waits or is in service, a repetition is answered with
	// 409: a client that does not retry 409 then takes the request for failed
	// although it takes effect. One that ends without taking effect, as a reset
	// one does, leaves its key free.
	Idempotency bool
	// TTL is how long a reply is kept; 0 counts as 24 hours. What comes later
	// takes effect again. Of more than 65,536 requests the oldest are forgotten
	// earlier.
	TTL time.Duration
}

// defaultTTL is what payment services commonly keep replies for.
const defaultTTL = 24 * time.Hour

// MaxTTL limits how long replies are kept.
const MaxTTL = 30 * 24 * time.Hour

func (e Effects) ttl() time.Duration {
	if e.TTL == 0 {
		return defaultTTL
	}
	return e.TTL
}

func effectKnobs() []knob.Field[Config] {
	return []knob.Field[Config]{
		knob.At(knob.Spec{
			Name: "server.clock_skew", Kind: knob.Duration,
			Min: -int64(maxSkew), Max: int64(maxSkew), Step: int64(time.Second),
			Doc: "how far the clock by which the server writes dates is ahead of the right one",
		}, func(c *Config) *time.Duration { return &c.ClockSkew }),
		knob.AtBool(knob.Spec{
			Name: "server.idempotency", Kind: knob.Switch,
			Doc: "whether a repeated Idempotency-Key gets the stored reply; 409 while the first is under way",
		}, func(c *Config) *bool { return &c.Effects.Idempotency }),
		{
			Spec: knob.Spec{
				Name: "server.idempotency_ttl", Kind: knob.Duration,
				Min: int64(time.Millisecond), Max: int64(MaxTTL),
				Doc: "how long the reply to an Idempotency-Key is kept; later, the request takes effect again",
			},
			Get: func(c *Config) int64 { return int64(c.Effects.ttl()) },
			Set: func(c *Config, v int64) { c.Effects.TTL = time.Duration(v) },
		},
	}
}

// maxSkew limits how far a server's clock is off.
const maxSkew = 365 * 24 * time.Hour

// maxRepeats is how many of the requests that took effect more than once are
// listed; the others are only counted.
const maxRepeats = 100

// Repeat is an unsafe request that took effect more than once.
type Repeat struct {
	// ID is the attempt that made it the second time.
	ID wire.AttemptID
	// Key is its Idempotency-Key, 0 if it has none.
	Key uint64
	// Times is how often it has taken effect.
	Times int64
	// At is when it last did.
	At clock.Instant
}

// effect is what is kept of an unsafe request.
type effect struct {
	// owner is the attempt that came last of those that were taken in.
	owner wire.AttemptID
	// times is how often the request has taken effect, at when it last did.
	times uint32
	at    clock.Instant
}

// effects is what the server knows of unsafe requests.
type effects struct {
	known memory[effect]
	// done counts effects, repeated the requests with more than one, and replayed
	// the repetitions that were answered with a stored reply.
	done, repeated, replayed int64
	listed                   []Repeat
	keys                     []uint64 // of those listed
}

// unsafeKey is an unsafe request as one number; false for all others.
func unsafeKey(a *wire.Attempt) (key uint64, ok bool) {
	switch {
	case a.Method.Idempotent():
		return 0, false
	case a.Key != 0:
		return a.Key, true
	}
	return intentKey(a), true
}

// claim remembers that an attempt that is taken in carries its request out.
func (s *Server) claim(a *wire.Attempt) {
	key, ok := unsafeKey(a)
	if !ok || !s.config.Effects.Idempotency || a.Key == 0 {
		return
	}
	e, _ := s.effects.known.get(key)
	e.owner = a.ID
	s.effects.known.put(key, e)
}

// repeat answers the repetition of a request whose key the server knows.
func (s *Server) repeat(
	a *wire.Attempt, out []wire.ServerEffect,
) (effects []wire.ServerEffect, settled bool) {
	key, ok := unsafeKey(a)
	if !ok || !s.config.Effects.Idempotency || a.Key == 0 {
		return out, false
	}
	e, known := s.effects.known.get(key)
	switch {
	case known && e.times > 0 && s.now.Sub(e.at) < s.config.Effects.ttl():
		return s.replay(a, out), true
	case known && s.jobs.has(e.owner):
		return s.reject(a, response(http.StatusConflict), wire.CauseKey, wire.NoFault, out), true
	}
	return out, false
}

// replay answers with the stored reply. All that is stored of it is that there
// was one: a request that takes effect is answered with 200.
func (s *Server) replay(a *wire.Attempt, out []wire.ServerEffect) []wire.ServerEffect {
	s.effects.replayed++
	r := s.quoted(a, response(http.StatusOK))
	r.Replayed = true
	e := s.event(wire.ServerReplayed, a)
	e.Event.Status, e.Event.Key = r.Status, a.Key
	return append(out, reply(a.ID, r), e)
}

// tookEffect counts the effect of a request that has been served, and reports it
// if it had one before.
func (s *Server) tookEffect(a *wire.Attempt, out []wire.ServerEffect) []wire.ServerEffect {
	key, ok := unsafeKey(a)
	if !ok {
		return out
	}
	e, _ := s.effects.known.get(key)
	e.times, e.at = e.times+1, s.now
	s.effects.known.put(key, e)
	s.effects.done++
	if e.times == 1 {
		return out
	}
	s.effects.list(key, Repeat{ID: a.ID, Key: a.Key, Times: int64(e.times), At: s.now})
	r := s.event(wire.ServerRepeated, a)
	r.Event.Key, r.Event.Times = a.Key, e.times
	return append(out, r)
}

// list counts a repeated request, and lists it if there is room.
func (e *effects) list(key uint64, r Repeat) {
	if r.Times == 2 {
		e.repeated++
		if len(e.listed) < maxRepeats {
			e.listed, e.keys = append(e.listed, r), append(e.keys, key)
		}
		return
	}
	if i := slices.Index(e.keys, key); i >= 0 {
		e.listed[i].Times, e.listed[i].At = r.Times, r.At
	}
}

// EffectCounts is how often what happened to unsafe requests.
type EffectCounts struct {
	// Done is how many effects there were, and Repeated how many requests had
	// more than one.
	Done, Repeated int64
	// Replayed is how many repetitions were answered with a stored reply.
	Replayed int64
}

// EffectCounts is what happened so far.
func (s *Server) EffectCounts() EffectCounts {
	return EffectCounts{s.effects.done, s.effects.repeated, s.effects.replayed}
}

// ForgetEffects sets the counts of effects to 0 and empties the list. Which
// requests have taken effect stays known.
func (s *Server) ForgetEffects() {
	s.effects.done, s.effects.repeated, s.effects.replayed = 0, 0, 0
	s.effects.listed = s.effects.listed[:0]
}

// Repeats lists the first requests that took effect more than once, 100 at most,
// in the order in which that happened; EffectCounts.Repeated says how many there
// are. It must not be changed, and is good until the next Step.
func (s *Server) Repeats() []Repeat { return s.effects.listed }
