package twins_test

import (
	"errors"
	"testing"
	"time"

	"herdscope/engine/breaker"
	"herdscope/engine/clock"
	"herdscope/engine/wire"

	"github.com/google/go-cmp/cmp"
	"github.com/sony/gobreaker/v2"
	"pgregory.net/rapid"
)

var (
	errFailed  = errors.New("failed")
	errNeutral = errors.New("neither good nor bad")
)

// verdicts is how each result is told to gobreaker.
var verdicts = map[breaker.Result]error{
	breaker.Success: nil, breaker.Failure: errFailed, breaker.Neutral: errNeutral,
}

// states is what gobreaker calls each state of ours. It has no word for a breaker
// that waits for its first probe.
var states = map[wire.BreakerState]gobreaker.State{
	wire.Closed: gobreaker.StateClosed, wire.Open: gobreaker.StateOpen,
	wire.Eligible: gobreaker.StateHalfOpen, wire.HalfOpen: gobreaker.StateHalfOpen,
}

// transition is one change of state.
type transition struct {
	At       time.Duration
	From, To gobreaker.State
}

// duel is a breaker and a gobreaker that are told the same.
type duel struct {
	c       breaker.Config
	ours    breaker.Breaker
	theirs  *gobreaker.TwoStepCircuitBreaker[any]
	begin   time.Time
	calls   []call
	changes []breaker.Change
	seen    []transition
}

// call is one call in flight, as each of the two knows it.
type call struct {
	permit breaker.Permit
	done   func(error)
}

// newDuel makes both of them for the same rule. Ours may be probed from the end
// of its open time on, and gobreaker only after it: a nanosecond makes up for it.
func newDuel(t *rapid.T) *duel {
	d := &duel{begin: time.Now(), c: breaker.Config{
		Failures: rapid.IntRange(1, 4).Draw(t, "failures"),
		OpenFor:  time.Duration(rapid.IntRange(1, 6).Draw(t, "open for")) * time.Second,
		Probes:   rapid.IntRange(1, 4).Draw(t, "probes"),
	}}
	d.c.Successes = d.c.Probes // gobreaker has one figure for both
	d.theirs = gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
		MaxRequests: uint32(d.c.Probes),
		Timeout:     d.c.OpenFor - 1,
		ReadyToTrip: func(n gobreaker.Counts) bool { return int(n.ConsecutiveFailures) >= d.c.Failures },
		IsExcluded:  func(err error) bool { return errors.Is(err, errNeutral) },
		OnStateChange: func(_ string, from, to gobreaker.State) {
			d.seen = append(d.seen, transition{time.Since(d.begin), from, to})
		},
	})
	return d
}

func (d *duel) now() clock.Instant { return clock.Instant(time.Since(d.begin)) }

func (d *duel) allow(t *rapid.T) {
	permit, ok, changes := d.ours.Allow(d.now(), &d.c, d.changes)
	d.changes = changes
	done, err := d.theirs.Allow()
	if ok != (err == nil) {
		t.Fatalf("ours allows: %v; gobreaker: %v", ok, err)
	}
	if ok {
		d.calls = append(d.calls, call{permit, done})
	}
}

// report ends any call in flight, however old: most are late.
func (d *duel) report(t *rapid.T) {
	if len(d.calls) == 0 {
		t.Skip("nothing in flight")
	}
	i := rapid.IntRange(0, len(d.calls)-1).Draw(t, "which")
	r := breaker.Result(rapid.IntRange(0, 2).Draw(t, "result"))
	end := breaker.Call{Result: r}
	d.changes = d.ours.Report(d.now(), &d.c, &d.calls[i].permit, end, d.changes)
	d.calls[i].done(verdicts[r])
	d.calls = append(d.calls[:i], d.calls[i+1:]...)
}

// pass moves the time on, often to exactly the end of the open time. It stops
// short of the end of a lease, which gobreaker's probes do not have.
func (d *duel) pass(t *rapid.T) {
	wait := time.Duration(rapid.IntRange(0, 8).Draw(t, "pass")) * time.Second
	at, timed := d.ours.Deadline()
	left := max(0, at.Sub(d.now()))
	switch {
	case timed && d.ours.State() == wire.HalfOpen:
		wait = min(wait, max(0, left-1))
	case timed && rapid.Bool().Draw(t, "to the deadline"):
		wait = max(0, left-time.Duration(rapid.IntRange(0, 1).Draw(t, "before it")))
	}
	time.Sleep(wait)
}

// check holds the states, and all that led there, against each other.
func (d *duel) check(t *rapid.T) {
	d.changes = d.ours.Tick(d.now(), &d.c, d.changes)
	if got, want := states[d.ours.State()], d.theirs.State(); got != want {
		t.Fatalf("ours is %v, gobreaker %v", d.ours.State(), want)
	}
	if diff := cmp.Diff(d.seen, translate(d.changes)); diff != "" {
		t.Fatalf("transitions (-gobreaker +ours):\n%s", diff)
	}
}

// translate is our transitions in gobreaker's words.
func translate(changes []breaker.Change) (out []transition) {
	for _, c := range changes {
		from, to := states[c.From], states[c.To]
		if from != to {
			out = append(out, transition{c.At.Duration(), from, to})
		}
	}
	return out
}

// TestBreakerAgreesWithGobreaker covers consecutive failures, half-open rounds,
// excluded results, and late results by their generation.
func TestBreakerAgreesWithGobreaker(t *testing.T) {
	check(t, func(t *rapid.T) {
		d := newDuel(t)
		t.Repeat(map[string]func(*rapid.T){
			"":            d.check,
			"allow":       d.allow,
			"allow more":  d.allow,
			"report":      d.report,
			"report more": d.report,
			"pass":        d.pass,
		})
	})
}
