// Package adhoc decides what the routes answer that a request itself describes,
// such as /status/503 and /delay/2s: the server of httpbin's kind, for trying a
// client against one thing at a time, with no scenario in its way.
//
// It is pure: it reads no clock and no socket. What is random is drawn from the
// seed, the client and the number of its arrival, so that the same client meets
// the same fate in every run, whoever calls beside it.
//
// The package imports clock, knob, retryafter, rng and wire.
package adhoc

import (
	"net/http"
	"net/url"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/knob"
	"herdscope/engine/rng"
	"herdscope/engine/wire"
)

// Request is what an answer depends on.
type Request struct {
	// Vars are the parts of the path that the pattern names, Query what follows.
	Vars  map[string]string
	Query url.Values
	// Client is who asks, Arrival the number of this arrival among the client's.
	Client  wire.ClientID
	Arrival wire.RequestID
	Seed    uint64
	// Now and EpochUnixNanos say what time it is, for dates.
	Now            clock.Instant
	EpochUnixNanos int64
}

// Answer is what to answer.
type Answer struct {
	// Reset resets the connection instead of all else.
	Reset bool
	// Wait is the time before the answer begins.
	Wait time.Duration
	// Status is from 200 to 599. RetryAfter is the values of that field, Pushback
	// those of gRPC's own.
	Status               int
	RetryAfter, Pushback []string
	// Drip, if above 0, is the time over which a body of Bytes bytes is written,
	// one byte at a time and evenly; otherwise the body is the status in words.
	Drip  time.Duration
	Bytes int
}

// Route is one kind of route.
type Route struct {
	// Pattern is the path, with the names of its parts in braces.
	Pattern string
	// Params are the parameters that may follow, each with its default.
	Params []Param
	// answer gets the values of the parameters in their order.
	answer func(r *Request, values []int64) (Answer, error)
}

// Param is a parameter of a route.
type Param struct {
	knob.Spec
	Default int64
}

// The most that a request may ask for.
const (
	// MaxWait limits how long an answer may take.
	MaxWait = time.Hour
	// MaxBytes limits a body that drips.
	MaxBytes = 1 << 20
)

func statusSpec(least int64) knob.Spec {
	return knob.Spec{Name: "status", Kind: knob.Int, Min: least, Max: 599}
}

func waitSpec(name string) knob.Spec {
	return knob.Spec{Name: name, Kind: knob.Duration, Max: int64(MaxWait)}
}

// Routes are all routes.
var Routes = []Route{
	{Pattern: "/status/{codes}", answer: status},
	{Pattern: "/delay/{d}", answer: delay},
	{Pattern: "/unstable", answer: unstable, Params: []Param{
		{knob.Spec{Name: "rate", Kind: knob.Ratio, Max: 1000}, 500},
		{statusSpec(400), http.StatusInternalServerError},
	}},
	{Pattern: "/retry-after/{form}/{value}", answer: retryAfter, Params: []Param{
		{statusSpec(200), http.StatusTooManyRequests},
	}},
	{Pattern: "/drip", answer: drip, Params: []Param{
		{waitSpec("duration"), int64(2 * time.Second)},
		{knob.Spec{Name: "bytes", Kind: knob.Int, Min: 1, Max: MaxBytes}, 10},
		{waitSpec("delay"), 0},
		{statusSpec(200), http.StatusOK},
	}},
	{Pattern: "/reset", answer: reset},
}

// Answer decides. The error is a *knob.Error that names the part of the path or
// the parameter that is wrong.
func (t *Route) Answer(r *Request) (Answer, error) {
	values := make([]int64, len(t.Params))
	for i := range t.Params {
		values[i] = t.Params[i].Default
	}
	for name, texts := range r.Query {
		i := t.param(name)
		if i < 0 {
			return Answer{}, t.noSuchParam(name, texts)
		}
		v, err := t.Params[i].Parse(withUnit(&t.Params[i].Spec, texts[len(texts)-1]))
		if err != nil {
			return Answer{}, err
		}
		values[i] = v
	}
	return t.answer(r, values)
}

func (t *Route) param(name string) int {
	for i := range t.Params {
		if t.Params[i].Name == name {
			return i
		}
	}
	return -1
}

func (t *Route) noSuchParam(name string, texts []string) error {
	e := &knob.Error{Knob: name, Value: texts[len(texts)-1], Problem: "is for a parameter that there is not"}
	var names []string
	for i := range t.Params {
		names = append(names, t.Params[i].Name)
	}
	e.Allowed = list(names)
	e.Nearest, _ = knob.Nearest(name, names)
	return e
}

// draw is the draw for an arrival.
func (r *Request) draw() uint64 {
	return rng.At(r.Seed, rng.AdHoc, uint64(r.Client), uint64(r.Arrival), 0)
}
