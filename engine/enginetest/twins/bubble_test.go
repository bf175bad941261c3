package twins_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"herdscope/engine"
	"herdscope/engine/backoff"
	"herdscope/engine/clock"
	"herdscope/engine/preset"
	"herdscope/engine/retryafter"
	"herdscope/engine/wire"

	"pgregory.net/rapid"
)

// epoch is when the time of a bubble begins, in Unix nanoseconds:
// 2000-01-01T00:00:00Z.
const epoch = 946_684_800 * int64(time.Second)

// check is rapid.Check with a bubble around each check: sleeping costs no time,
// and rapid itself keeps the real one.
func check(t *testing.T, property func(*rapid.T)) {
	rapid.Check(t, func(r *rapid.T) {
		// rapid ends a check by a panic, and tells failures apart by its line.
		switch end := inBubble(t, func() { property(r) }); {
		case end == nil:
		case fmt.Sprintf("%T", end) == "rapid.invalidData":
			panic(end)
		default:
			panic(end)
		}
	})
}

// inBubble runs f in a bubble, and returns what it panics with.
func inBubble(t *testing.T, f func()) (end any) {
	synctest.Test(t, func(*testing.T) {
		defer func() { end = recover() }()
		f()
	})
	return end
}

// answer is what the server says to one try. Status 0 is a refused connection.
type answer struct {
	status int
	after  string // Retry-After; "" is none
}

// answers is what the server says to the tries of one request, in order; the
// last one is said again and again.
type answers []answer

func (a answers) to(try int) answer { return a[min(try, len(a)-1)] }

// always is the same answer to every try.
func always(status int, after string) answers { return answers{{status, after}} }

// script is a server in the place of a transport. It notes when the tries came.
type script struct {
	answers answers
	begin   time.Time
	tries   []time.Duration
}

func newScript(a answers) *script { return &script{answers: a, begin: time.Now()} }

func (s *script) note() answer {
	s.tries = append(s.tries, time.Since(s.begin))
	return s.answers.to(len(s.tries) - 1)
}

// run is a try of a program that knows no HTTP: an error, or none.
func (s *script) run() error {
	if a := s.note(); a.status >= 400 || a.status == 0 {
		return errFailed
	}
	return nil
}

// RoundTrip implements http.RoundTripper.
func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	a := s.note()
	if a.status == 0 {
		return nil, errFailed
	}
	h := http.Header{}
	if a.after != "" {
		h.Set("Retry-After", a.after)
	}
	return &http.Response{StatusCode: a.status, Header: h, Body: http.NoBody, Request: r}, nil
}

// discard ends a response that nobody reads.
func discard(resp *http.Response) {
	if resp != nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}

// ourTries is when a Machine under the policy sends the tries of one request,
// if the server answers at once. Time begins where that of a bubble does.
func ourTries(p engine.Policy, method wire.Method, server answers) (tries []time.Duration) {
	m := engine.New(1, 1, 1, &p)
	now := clock.Instant(0)
	effects := m.Step(now, engine.Input{Kind: engine.Submit, Request: 1, Method: method}, nil)
	for {
		if id, sent := lastSent(effects); sent {
			reply := replyTo(server.to(len(tries)), now)
			reply.ID = id
			tries = append(tries, now.Duration())
			effects = m.Step(now, reply, effects[:0])
			continue
		}
		at, waits := m.Deadline()
		if !waits {
			return tries
		}
		now = max(now, at)
		effects = m.Step(now, engine.Input{Kind: engine.Tick}, effects[:0])
	}
}

func lastSent(effects []engine.Effect) (wire.AttemptID, bool) {
	for _, e := range effects {
		if e.Kind == engine.Send {
			return e.Attempt.ID, true
		}
	}
	return wire.AttemptID{}, false
}

// replyTo is the server's answer as a driver would feed it at now.
func replyTo(a answer, now clock.Instant) engine.Input {
	in := engine.Input{Kind: engine.Answered}
	if a.status == 0 {
		in.Reply.Kind = wire.ReplyRefused
		return in
	}
	in.Reply.Status = uint16(a.status)
	if a.after == "" {
		return in
	}
	nowUnix := (epoch + int64(now)) / int64(time.Second)
	if hint, err := retryafter.Parse(a.after, nowUnix); err == nil {
		in.Reply.Hint = hint
		in.NotBefore = retryafter.Resolve(hint, now, epoch)
	}
	return in
}

// doubling is a policy that retries every failure, after base, 2*base, 4*base
// and so on up to limit.
func doubling(attempts int, base, limit time.Duration) engine.Policy {
	var p engine.Policy
	p.Retry = engine.Retry{
		Attempts: attempts, Network: true, Timeouts: true, RetryAfter: true,
		Statuses: engine.StatusServer429Not501,
		Backoff:  backoff.Config{Base: base, Cap: limit, Multiplier: 2000},
	}
	return p
}

// like is a policy with the retries of a preset.
func like(t rapid.TB, name string) (p engine.Policy) {
	t.Helper()
	named, err := preset.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	named.Apply(&p)
	return p
}
