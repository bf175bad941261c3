package faultserver

import (
	"strconv"
	"strings"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// Stats is the state of the server at one moment, and the answer to
// GET /_fault/stats. The counts are of attempts since the start, or since the
// last reset by the admin API.
type Stats struct {
	// NowSeconds is the run clock.
	NowSeconds float64 `json:"now_s"`
	// Busy and Backlog are the attempts in service and those that wait for a
	// worker.
	Busy    int `json:"busy"`
	Backlog int `json:"backlog"`
	// Open is the attempts whose client waits for an answer.
	Open int `json:"open"`
	// Arrivals came to the listener. Statuses are the answers by status; Reset
	// had their connection reset, Left had a client that went first.
	Arrivals int64            `json:"arrivals"`
	Statuses map[string]int64 `json:"statuses"`
	Reset    int64            `json:"reset"`
	Left     int64            `json:"left"`
	// Duplicates are unsafe requests that took effect again, Effects says which.
	Duplicates int64       `json:"duplicates"`
	Effects    EffectStats `json:"effects"`
	// Clients are the foreign clients that were told apart, LikelyRetries the
	// attempts of theirs that look like one.
	Clients       int   `json:"clients"`
	LikelyRetries int64 `json:"likely_retries"`
	// RetryAfter is who came back when, after being sent away.
	RetryAfter ReturnStats `json:"retry_after"`
	// LimitCallers are the callers that rate limits know, CallersForgotten those
	// that had to make room for others and start anew when they come again.
	LimitCallers     int   `json:"limit_callers"`
	CallersForgotten int64 `json:"limit_callers_forgotten"`
	// Refused are requests that no server could make sense of: a bad path or
	// method, a body too large or too slow. Panics are handlers that failed.
	Refused int64 `json:"refused"`
	Panics  int64 `json:"panics"`
	// AcceptErrors are connections that the system would not give, and HeldBack
	// how often new connections had to wait since there were as many as allowed.
	AcceptErrors int64          `json:"accept_errors"`
	HeldBack     int64          `json:"held_back"`
	Services     []ServiceStats `json:"services"`
	Faults       []FaultStats   `json:"faults"`
}

// ServiceStats is the state of one service; the server's own is the first, and is
// called default.
type ServiceStats struct {
	Name    string `json:"name"`
	Busy    int    `json:"busy"`
	Backlog int    `json:"backlog"`
	// Outside is the attempts that a full backlog keeps out.
	Outside int `json:"outside"`
}

// ReturnStats counts the attempts that came back after a Retry-After.
type ReturnStats struct {
	Early  int64 `json:"early"`
	OnTime int64 `json:"on_time"`
	Late   int64 `json:"late"`
	// Untold came back after a field that nobody can read.
	Untold int64 `json:"untold"`
}

// EffectStats counts the unsafe requests that took effect.
type EffectStats struct {
	Done int64 `json:"done"`
	// Repeated requests took effect more than once. The first 100 are Listed, the
	// others Unlisted.
	Repeated int64         `json:"repeated"`
	Listed   []RepeatStats `json:"listed"`
	Unlisted int64         `json:"unlisted"`
	// Replayed attempts got the stored reply to their Idempotency-Key.
	Replayed int64 `json:"replayed"`
}

// RepeatStats is a request that took effect more than once.
type RepeatStats struct {
	// Attempt is the one that made it twice: client/request#try. Client is what a
	// foreign client is known by. Key is the Idempotency-Key as this server knows
	// it, by a hash unless the fleet sent it; empty if there was none.
	Attempt string  `json:"attempt"`
	Client  string  `json:"client,omitempty"`
	Key     string  `json:"key,omitempty"`
	Times   int64   `json:"times"`
	Seconds float64 `json:"last_s"`
}

// FaultStats is the state of one fault.
type FaultStats struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	FaultState
}

// FaultState is what a fault is doing.
type FaultState struct {
	On bool `json:"on"`
	// Hand is what a hand has done to it: auto, on or off.
	Hand string `json:"hand"`
	// UntilSeconds is when On changes next by itself; nil if it does not.
	UntilSeconds *float64 `json:"until_s"`
	// Hits is the attempts that the fault has hit.
	Hits int64 `json:"hits"`
}

// Stats is the state of the server now; the error is ErrClosed.
func (s *Server) Stats() (Stats, error) {
	var stats Stats
	err := s.owner.ask(func(o *owner) {
		o.step(s.clock.Now(), wire.ServerInput{})
		stats = o.stats()
	})
	stats.Clients, stats.LikelyRetries = s.guests.counts()
	stats.Refused, stats.Panics = s.refused.Load(), s.panics.Load()
	stats.AcceptErrors, stats.HeldBack = s.gate.failed.Load(), s.gate.held.Load()
	return stats, err
}

func (o *owner) stats() Stats {
	t := &o.tally
	stats := Stats{
		NowSeconds: o.model.Now().Seconds(),
		Busy:       o.model.Busy(),
		Backlog:    o.model.Waiting(),
		Open:       len(o.visits),
		Arrivals:   t.arrivals,
		Statuses:   t.byStatus(),
		Reset:      t.reset,
		Left:       t.left,
		Duplicates: t.duplicates,
		Effects:    o.effectStats(),
		RetryAfter: t.returns,
		Services:   []ServiceStats{},
		Faults:     []FaultStats{},
	}
	for _, v := range o.model.Services() {
		stats.Services = append(stats.Services, ServiceStats(v))
	}
	stats.LimitCallers, stats.CallersForgotten = o.model.Callers()
	for i, f := range o.model.Faults() {
		if o.model.HasFault(i) {
			stats.Faults = append(stats.Faults, FaultStats{f.Name, f.Kind.String(), o.faultState(i)})
		}
	}
	return stats
}

func (o *owner) effectStats() EffectStats {
	counts, repeats := o.model.EffectCounts(), o.model.Repeats()
	stats := EffectStats{
		Done: counts.Done, Repeated: counts.Repeated, Replayed: counts.Replayed,
		Listed: []RepeatStats{}, Unlisted: counts.Repeated - int64(len(repeats)),
	}
	for _, r := range repeats {
		key := ""
		if r.Key != 0 {
			key = strings.Trim(wire.FormatKey(r.Key), `"`)
		}
		stats.Listed = append(stats.Listed, RepeatStats{
			Attempt: r.ID.String(), Client: o.nameOf(r.ID.Client), Key: key,
			Times: r.Times, Seconds: r.At.Seconds(),
		})
	}
	return stats
}

func (o *owner) faultState(i int) FaultState {
	on, until := o.model.FaultState(i)
	f := FaultState{On: on, Hand: o.model.FaultHand(i).String(), Hits: o.model.Hits(i)}
	if until != clock.Never {
		seconds := until.Seconds()
		f.UntilSeconds = &seconds
	}
	return f
}

// tally counts what became of the attempts.
type tally struct {
	arrivals, reset, left, duplicates int64

	returns  ReturnStats
	statuses [1000]int64
}

func (t *tally) observe(e *wire.Event) {
	switch e.Kind {
	case wire.ServerArrived:
		t.arrivals++
	case wire.ServerRepeated:
		t.duplicates++
	case wire.ServerReturned:
		t.returned(e)
	}
}

func (t *tally) returned(e *wire.Event) {
	kind := wire.ReturnAfter(e.Delay)
	switch {
	case e.Untold:
		t.returns.Untold++
	case kind == wire.ReturnedEarly:
		t.returns.Early++
	case kind == wire.ReturnedOnTime:
		t.returns.OnTime++
	default:
		t.returns.Late++
	}
}

// ended counts the end of an attempt that the model does not see.
func (t *tally) ended(e *wire.Event) {
	switch {
	case e.Kind == wire.ServerReset:
		t.reset++
	case e.Kind == wire.ServerDone && e.Wasted:
		t.left++
	case e.Kind == wire.ServerDone:
		t.replied(wire.Reply{Status: e.Status})
	}
}

func (t *tally) replied(r wire.Reply) {
	if r.Kind != wire.ReplyResponse {
		t.reset++
		return
	}
	t.statuses[min(int(r.Status), len(t.statuses)-1)]++
}

func (t *tally) byStatus() map[string]int64 {
	all := make(map[string]int64)
	for status, n := range t.statuses {
		if n > 0 {
			all[strconv.Itoa(status)] = n
		}
	}
	return all
}
