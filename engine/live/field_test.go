package live

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/retryafter"
	"herdscope/engine/sim"
	"herdscope/engine/wire"
)

// hinted is a Retry-After: the lines of a response in which it stands, and what
// a server model says for it.
type hinted struct {
	name  string
	lines []string
	hint  wire.Hint
}

// retryAfters are the values of P-L11 at a time of day. Dates are 2 s ahead.
func retryAfters(now time.Time) []hinted {
	const field = "Retry-After: "
	soon := now.Add(2 * time.Second).Truncate(time.Second).UTC()
	seconds := func(n int64) wire.Hint { return wire.Hint{Form: wire.HintSeconds, Value: n} }
	date := func(form wire.HintForm, d time.Time) wire.Hint {
		return wire.Hint{Form: form, Value: d.Unix()}
	}
	past := time.Date(2015, 10, 21, 7, 28, 0, 0, time.UTC)
	skewed := soon.Add(time.Minute)
	dated := func(lead time.Duration, value string) []string {
		return []string{"Date: " + now.Add(lead).UTC().Format(http.TimeFormat), field + value}
	}
	return []hinted{
		{"none", nil, wire.Hint{}},
		{"0", []string{field + "0"}, seconds(0)},
		{"3", []string{field + "3"}, seconds(3)},
		{"3 with spaces", []string{field + " 3 "}, wire.Hint{Form: wire.HintPadded, Value: 3}},
		{"3.5", []string{field + "3.5"}, wire.Hint{Form: wire.HintFraction, Value: 3500}},
		{"-1", []string{field + "-1"}, wire.Hint{Form: wire.HintNegative, Value: 1}},
		{"+5", []string{field + "+5"}, wire.Hint{Form: wire.HintSigned, Value: 5}},
		{"20 digits", []string{field + "99999999999999999999"}, wire.Hint{Form: wire.HintHuge}},
		{"date", dated(0, soon.Format(http.TimeFormat)), date(wire.HintIMFDate, soon)},
		{"rfc850", dated(0, soon.Format("Monday, 02-Jan-06 15:04:05 GMT")),
			date(wire.HintRFC850Date, soon)},
		{"asctime", dated(0, soon.Format(time.ANSIC)), date(wire.HintAsctimeDate, soon)},
		{"past", []string{field + "Wed, 21 Oct 2015 07:28:00 GMT"}, date(wire.HintPast, past)},
		{"clock a minute ahead", dated(time.Minute, skewed.Format(http.TimeFormat)),
			date(wire.HintIMFDate, skewed)},
		{"empty", []string{field}, wire.Hint{Form: wire.HintEmpty}},
		{"garbage", []string{field + "in a while"}, wire.Hint{Form: wire.HintGarbage}},
		{"two", []string{field + "3", field + "6"}, wire.Hint{Form: wire.HintTwice, Value: 3}},
		{"pushback", []string{retryafter.PushbackName + ": 2500"},
			wire.Hint{Form: wire.HintPushback, Value: 2500}},
		{"pushback that wants none", []string{retryafter.PushbackName + ": -1"},
			wire.Hint{Form: wire.HintPushbackStop}},
	}
}

// with is a whole response that has the lines among its header fields.
func (h hinted) with(status int) string {
	lines := append([]string{fmt.Sprintf("HTTP/1.1 %d Text", status), "Content-Length: 0"}, h.lines...)
	return strings.Join(lines, "\r\n") + "\r\n\r\n"
}

// serve answers everything with the response, byte for byte.
func (h hinted) serve(t *testing.T, status int) (url string) {
	s := &rawServer{handle: func(c *net.TCPConn, _ *http.Request, _ int) bool {
		answer(c, h.with(status))
		return false
	}}
	return s.start(t)
}

// oneAttempt is a fleet that sends one attempt and keeps what comes of it.
type oneAttempt struct {
	sent bool
	at   clock.Instant
	got  fleet.Input
}

func (f *oneAttempt) Deadline() (clock.Instant, bool) { return 0, !f.sent }

func (f *oneAttempt) Step(now clock.Instant, in fleet.Input, out []engine.Effect) []engine.Effect {
	switch {
	case in.Kind == fleet.Answered:
		f.at, f.got = now, in
	case !f.sent:
		f.sent = true
		out = append(out, sendOf(attemptOf(1, wire.Get)))
	}
	return out
}

// model is a server model that answers everything at once with one reply.
type model struct{ reply wire.Reply }

func (m model) Deadline() (clock.Instant, bool) { return clock.Never, false }

func (m model) Step(_ clock.Instant, in wire.ServerInput, out []wire.ServerEffect) []wire.ServerEffect {
	return append(out, wire.ServerEffect{ID: in.Attempt.ID, Reply: m.reply})
}

// virtually is what a fleet is told of a reply in virtual time, and when.
func virtually(t *testing.T, reply wire.Reply, epoch int64) (clock.Instant, fleet.Input) {
	t.Helper()
	f := &oneAttempt{}
	s := sim.New(sim.Config{Fleet: f, Server: model{reply}, Epoch: epoch})
	if err := s.RunUntil(0); err != nil {
		t.Fatal(err)
	}
	return f.at, f.got
}

// P-L11: whatever stands in Retry-After, and on whatever status, a fleet is told
// the same whether the bytes came over a socket or the reply was made up.
func TestPL11RetryAfterIsTheSameLiveAndVirtual(t *testing.T) {
	c := NewClock()
	epoch := c.Epoch().UnixNano()
	for _, h := range retryAfters(c.Epoch()) {
		for _, status := range []int{200, 301, 429, 503} {
			t.Run(fmt.Sprintf("%s on %d", h.name, status), func(t *testing.T) {
				v := newVolleys(1, 1, wire.Get)
				_, stop := begin(t, Config{Fleet: v, Clock: c, BaseURL: h.serve(t, status)})
				<-v.done
				stop()
				live := v.fedSoFar(fleet.Answered)[0]
				at, virtual := virtually(t, wire.Reply{Status: uint16(status), Hint: h.hint}, epoch)
				if diff := cmp.Diff(live.in.Reply, virtual.Reply); diff != "" {
					t.Errorf("reply (-live +virtual):\n%s", diff)
				}
				want, got := live.in.NotBefore, virtual.NotBefore
				if f := live.in.Reply.Hint.Form; want != clock.Never &&
					(f == wire.HintNone || f == wire.HintSeconds || f == wire.HintPushback) {
					want, got = want-live.at, got-at // these count from the reception
				}
				if want != got {
					t.Errorf("not before %v live, %v virtual", want.Duration(), got.Duration())
				}
			})
		}
	}
}

// The bytes of the test are those that a server writes for the hint.
func TestPL11FieldsAreThoseOfTheHint(t *testing.T) {
	for _, h := range retryAfters(time.Now()) {
		var values []string
		for _, line := range h.lines {
			if value, ok := strings.CutPrefix(line, retryafter.NameOf(h.hint.Form)+":"); ok {
				values = append(values, strings.TrimPrefix(value, " "))
			}
		}
		if diff := cmp.Diff(values, retryafter.Fields(h.hint)); diff != "" {
			t.Errorf("%s (-here +fields):\n%s", h.name, diff)
		}
	}
}

// P-L11: what the engine makes of each value, over the socket. Its own backoff
// is 50 s, and 20 s the longest wait that it follows.
func TestPL11WhatIsMadeOfEachValue(t *testing.T) {
	const own, most = 50 * time.Second, 20 * time.Second
	type fate struct {
		wait time.Duration
		use  wire.HintUse
	}
	follows := func(seconds time.Duration) fate { return fate{seconds * time.Second, wire.HintFollowed} }
	want := map[string]fate{
		"3": follows(3), "3 with spaces": follows(3), "two": follows(6),
		"20 digits": {most, wire.HintClamped},
		"date":      follows(2), "rfc850": follows(2), "asctime": follows(2),
		"clock a minute ahead": follows(2),
	}
	policy := patient()
	policy.Retry.Backoff.Base, policy.Retry.Backoff.Cap = own, own
	policy.Retry.RetryAfterMax, policy.Retry.RetryAfterClock = most, engine.ClockDate
	for _, h := range retryAfters(time.Now()) {
		fate, ok := want[h.name]
		if !ok {
			fate.wait = own // as if there were no field
		}
		for _, status := range []int{429, 503} {
			e := scheduled(t, policy, h.serve(t, status))
			// The time since the reply was read is gone already.
			if e.Delay <= 0 || e.Delay > fate.wait || e.Hint != fate.use ||
				fate.use == wire.HintUnused && e.Delay != own {
				t.Errorf("%s on %d: waits %v, %v; want %v at most, %v",
					h.name, status, e.Delay, e.Hint, fate.wait, fate.use)
			}
		}
		for _, status := range []int{200, 301} {
			tr := travel(t, policy)
			if code, _, err := get(t, tr, t.Context(), h.serve(t, status)); code != status || err != nil {
				t.Errorf("%s on %d: %d, %v", h.name, status, code, err)
			}
			if n := tr.count(wire.RetryScheduled); n > 0 {
				t.Errorf("%s on %d: %d retries", h.name, status, n)
			}
		}
	}
}

// scheduled is how the engine plans the first retry of a request; it does not
// wait for it.
func scheduled(t *testing.T, policy engine.Policy, url string) wire.Event {
	t.Helper()
	tr := travel(t, policy)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, _, err := get(t, tr, ctx, url)
		done <- err
	}()
	until(t, "a retry is planned", func() bool { return tr.count(wire.RetryScheduled) > 0 })
	cancel()
	<-done
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.events[slices.IndexFunc(tr.events, func(e wire.Event) bool {
		return e.Kind == wire.RetryScheduled
	})]
}
