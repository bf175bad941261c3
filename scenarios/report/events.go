package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"herdscope/engine/wire"
	"herdscope/scenarios"
)

// Events is an observer that writes what happened as NDJSON: one object per
// line for each breaker transition, scheduled retry, probe result, beginning
// and end of starvation, and edge of a fault, in the order in which they
// happened. Keys, their order and the number of decimals are fixed.
//
// Writing is buffered. The first error stops it and is returned by Close, so
// that a full disk is not taken for a quiet run.
type Events struct {
	out    *bufio.Writer
	line   []byte
	err    error
	scopes []string
	faults []string
}

// eventBuffer is how many bytes are gathered before they are written.
const eventBuffer = 1 << 16

// NewEvents writes the events of a run of s to w. Close must be called at the
// end; it does not close w.
func NewEvents(w io.Writer, s scenarios.Scenario) *Events {
	e := &Events{out: bufio.NewWriterSize(w, eventBuffer)}
	for _, name := range s.Scopes {
		e.scopes = append(e.scopes, quoted(name))
	}
	for _, f := range s.Server.Faults {
		e.faults = append(e.faults, quoted(f.Name))
	}
	return e
}

// Observe writes the event if it is of a kind that is written.
func (e *Events) Observe(ev wire.Event) {
	body := bodies[ev.Kind]
	if body == nil || e.err != nil {
		return
	}
	e.line = append(e.line[:0], `{"t_s":`...)
	e.line = appendFixed(e.line, ev.At.Seconds(), 6)
	e.word("event", ev.Kind.String())
	body(e, ev)
	e.line = append(e.line, "}\n"...)
	_, e.err = e.out.Write(e.line)
}

// Close writes what is left and returns the first error of all writing.
func (e *Events) Close() error {
	if e.err == nil {
		e.err = e.out.Flush()
	}
	if e.err != nil {
		return fmt.Errorf("write the events: %w", e.err)
	}
	return nil
}

// bodies is what writes the fields of each kind that is written.
var bodies = [wire.NumEventKinds]func(*Events, wire.Event){
	wire.RetryScheduled:  (*Events).retry,
	wire.RetryDenied:     (*Events).denied,
	wire.ClassChanged:    (*Events).reclassed,
	wire.RetryRefused:    (*Events).refused,
	wire.BreakerChanged:  (*Events).change,
	wire.ProbeDone:       (*Events).probe,
	wire.StarvationBegan: (*Events).starvation,
	wire.StarvationEnded: (*Events).starvation,
	wire.FaultBegan:      (*Events).fault,
	wire.FaultEnded:      (*Events).fault,
	wire.FaultMissed:     (*Events).fault,
	wire.PageEnded:       (*Events).page,
	wire.ScopePaused:     (*Events).pause,
	wire.ScopeResumed:    (*Events).pause,
	wire.ServerRepeated:  (*Events).repeated,
	wire.ServerReplayed:  (*Events).replayed,
	wire.RequestJoined:   (*Events).joined,
	wire.NestedDeadlock:  (*Events).deadlock,
}

func (e *Events) retry(ev wire.Event) {
	e.request(ev)
	e.inMS("delay_ms", ev.Delay)
	e.inMS("ceiling_ms", ev.Ceiling)
	e.why(ev)
	e.flag("hinted", ev.Hinted)
	e.word("retry_after", ev.Hint.String())
}

func (e *Events) refused(ev wire.Event) {
	e.request(ev)
	if ev.Hint == wire.HintPushedBack {
		e.flag("pushback", true)
	} else {
		e.inMS("asked_ms", ev.Delay)
	}
	e.why(ev)
}

func (e *Events) reclassed(ev wire.Event) {
	e.request(ev)
	e.word("was", ev.Was.String())
	if ev.Shared {
		e.flag("shared", true)
	}
	e.why(ev)
}

func (e *Events) denied(ev wire.Event) {
	e.request(ev)
	e.why(ev)
}

func (e *Events) change(ev wire.Event) {
	if ev.Shared {
		e.flag("shared", true)
		e.scope(ev)
	} else {
		e.client(ev)
	}
	e.word("from", ev.From.String())
	e.word("to", ev.To.String())
	e.why(ev)
}

func (e *Events) page(ev wire.Event) {
	e.number("client", uint64(ev.ID.Client))
	e.number("group", uint64(ev.Group))
	e.inMS("took_ms", ev.Delay)
	e.flag("good", ev.Good)
}

func (e *Events) pause(ev wire.Event) {
	e.client(ev)
	if ev.Kind == wire.ScopePaused {
		e.number("in_flight", uint64(ev.Limit))
		return
	}
	e.inMS("lasted_ms", ev.Delay)
}

func (e *Events) repeated(ev wire.Event) {
	e.request(ev)
	e.idempotencyKey(ev)
	e.number("times", uint64(ev.Times))
}

func (e *Events) replayed(ev wire.Event) {
	e.request(ev)
	e.idempotencyKey(ev)
	e.number("status", uint64(ev.Status))
}

// idempotencyKey writes the key of a request that has one.
func (e *Events) idempotencyKey(ev wire.Event) {
	if ev.Key != 0 {
		e.word("key", keyText(ev.Key))
	}
}

func (e *Events) joined(ev wire.Event) {
	e.request(ev)
	e.number("flight", uint64(ev.Leader))
}

func (e *Events) deadlock(ev wire.Event) {
	e.request(ev)
	e.number("parent", uint64(ev.Parent))
}

func (e *Events) probe(ev wire.Event) {
	e.request(ev)
	e.flag("good", ev.Good)
	e.why(ev)
}

func (e *Events) starvation(ev wire.Event) {
	e.client(ev)
	e.word("class", ev.Class.String())
	key := "waited_ms"
	if ev.Kind == wire.StarvationEnded {
		key = "lasted_ms"
	}
	e.inMS(key, ev.Delay)
}

func (e *Events) fault(ev wire.Event) {
	e.key("fault")
	e.line = appendName(e.line, e.faults, int(ev.Fault))
}

// request writes whose attempt it was, client writes whose breaker or queue.
func (e *Events) request(ev wire.Event) {
	e.client(ev)
	e.number("request", uint64(ev.ID.Request))
	e.number("try", uint64(ev.ID.Try))
	e.word("class", ev.Class.String())
}

func (e *Events) client(ev wire.Event) {
	e.number("client", uint64(ev.ID.Client))
	e.scope(ev)
}

func (e *Events) scope(ev wire.Event) {
	e.key("scope")
	e.line = appendName(e.line, e.scopes, int(ev.Scope))
}

func (e *Events) why(ev wire.Event) {
	e.word("why", ev.Cause.String())
	if ev.Status != 0 {
		e.number("status", uint64(ev.Status))
	}
}

func (e *Events) key(name string) {
	e.line = append(e.line, `,"`...)
	e.line = append(e.line, name...)
	e.line = append(e.line, `":`...)
}

// word writes a name of ours, which needs no escapes.
func (e *Events) word(key, value string) {
	e.key(key)
	e.line = append(e.line, '"')
	e.line = append(e.line, value...)
	e.line = append(e.line, '"')
}

func (e *Events) number(key string, n uint64) {
	e.key(key)
	e.line = strconv.AppendUint(e.line, n, 10)
}

func (e *Events) flag(key string, on bool) {
	e.key(key)
	e.line = strconv.AppendBool(e.line, on)
}

func (e *Events) inMS(key string, d time.Duration) {
	e.key(key)
	e.line = appendFixed(e.line, float64(inMS(d)), 3)
}

// appendName writes the name of an index, or the index where it has no name.
func appendName(out []byte, names []string, i int) []byte {
	if i < len(names) {
		return append(out, names[i]...)
	}
	return strconv.AppendInt(out, int64(i), 10)
}

func quoted(name string) string {
	b, err := json.Marshal(name)
	if err != nil { // a string always can be written
		panic(err)
	}
	return string(b)
}
