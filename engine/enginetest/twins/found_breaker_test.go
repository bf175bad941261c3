package twins_test

import (
	"fmt"
	"strings"
	"testing/synctest"
	"time"

	"herdscope/engine/breaker"
	"herdscope/engine/budget"
	"herdscope/engine/clock"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/adaptivethrottler"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/sony/gobreaker/v2"
)

// openFor is the open time of every breaker here.
const openFor = time.Second

// rule opens our breaker after that many failures, for openFor, and closes it
// after two good probes.
func rule(failures int) *breaker.Config {
	return &breaker.Config{Failures: failures, OpenFor: openFor, Probes: 2, Successes: 2}
}

// ourBreaker is a breaker of ours, and its time.
type ourBreaker struct {
	breaker.Breaker
	c   *breaker.Config
	now clock.Instant
}

func (b *ourBreaker) allow() (breaker.Permit, bool) {
	p, ok, _ := b.Allow(b.now, b.c, nil)
	return p, ok
}

func (b *ourBreaker) report(p breaker.Permit, r breaker.Result) {
	b.Report(b.now, b.c, &p, breaker.Call{Result: r}, nil)
}

// call has one call end in r at once.
func (b *ourBreaker) call(r breaker.Result) {
	if p, ok := b.allow(); ok {
		b.report(p, r)
	}
}

// pass moves the time on, with a tick at every deadline on the way.
func (b *ourBreaker) pass(d time.Duration) {
	end := b.now.Add(d)
	for {
		at, ok := b.Deadline()
		if !ok || at > end {
			break
		}
		b.now = max(b.now, at)
		b.Tick(b.now, b.c, nil)
	}
	b.now = end
}

// ourLostProbe has a probe that never reports, and calls again an hour later.
func ourLostProbe() string {
	b := ourBreaker{c: rule(1)}
	b.call(breaker.Failure)
	b.pass(openFor)
	b.allow()
	b.allow()
	b.pass(time.Hour)
	_, ok := b.allow()
	return fmt.Sprintf("%v; an hour later allowed: %v", b.State(), ok)
}

// ourCancelled is what becomes of a breaker whose callers leave.
func ourCancelled() string {
	b := ourBreaker{c: rule(3)}
	for range 6 {
		b.call(breaker.Neutral)
	}
	return word(b.State())
}

// theirLostProbe is ourLostProbe for gobreaker.
func theirLostProbe() string {
	b := gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
		Timeout:     openFor,
		ReadyToTrip: func(n gobreaker.Counts) bool { return n.ConsecutiveFailures == 1 },
	})
	done, _ := b.Allow()
	done(errFailed)
	time.Sleep(openFor + 1)
	_, _ = b.Allow()
	time.Sleep(time.Hour)
	_, err := b.Allow()
	return fmt.Sprintf("%s; an hour later allowed: %v", word(b.State()), err == nil)
}

// word is a state of a library, written as ours are.
func word(state fmt.Stringer) string { return strings.ReplaceAll(state.String(), "-", "_") }

var breakersOfGobreaker = []finding{
	{
		step: "a probe never reports", theirs: theirLostProbe,
		theySay: "half_open; an hour later allowed: false",
		ours:    ourLostProbe, oursMust: "half_open; an hour later allowed: true",
	},
	{
		step: "six callers leave",
		theirs: func() string {
			b := gobreaker.NewCircuitBreaker[any](gobreaker.Settings{})
			for range 6 {
				_, _ = b.Execute(func() (any, error) { return nil, cancelled() })
			}
			return word(b.State())
		},
		theySay: "open", ours: ourCancelled, oursMust: "closed",
	},
}

// failsafeBreaker opens after that many failures, and closes after two good
// probes.
func failsafeBreaker(failures uint) (circuitbreaker.CircuitBreaker[any], failsafe.Executor[any]) {
	b := circuitbreaker.NewBuilder[any]().WithFailureThreshold(failures).
		WithSuccessThreshold(2).WithDelay(openFor).Build()
	return b, failsafe.With(b)
}

func fail() error { return errFailed }

// swallow runs f, which panics.
func swallow(f func()) {
	defer func() { _ = recover() }()
	f()
}

// theirLateSuccesses has two calls from before the trip succeed while a probe is
// in flight.
func theirLateSuccesses() string {
	b, calls := failsafeBreaker(1)
	release := make(chan struct{})
	for range 2 {
		go func() { _ = calls.Run(func() error { <-release; return nil }) }()
	}
	synctest.Wait()
	_ = calls.Run(fail)
	time.Sleep(openFor)
	b.TryAcquirePermit()
	close(release)
	synctest.Wait()
	return word(b.State())
}

func ourLateSuccesses() string {
	b := ourBreaker{c: rule(1)}
	first, _ := b.allow()
	second, _ := b.allow()
	b.call(breaker.Failure)
	b.pass(openFor)
	b.allow()
	b.report(first, breaker.Success)
	b.report(second, breaker.Success)
	return fmt.Sprintf("%v, %d late", b.State(), b.Late())
}

// ourThrottle has a throttle see nothing but failures, and waits for five of its
// windows.
func ourThrottle() string {
	var b budget.Budget
	c := budget.Config{Kind: budget.SREThrottle, Window: time.Minute}
	for range 1000 {
		var h budget.Hold
		b.Begin(0, &c, &h)
		b.Admit(0, &c, 0)
		b.Report(0, &c, &h, budget.Transient)
	}
	rejecting := func(now clock.Instant) bool {
		try := b // a call changes what the next one meets
		return !try.Admit(now, &c, 0)
	}
	return fmt.Sprintf("rejects at once: %v, later: %v", rejecting(0), rejecting(clock.Instant(5*time.Minute)))
}

// theirThrottle asks for the rate itself, of which a call is a draw.
func theirThrottle() string {
	throttle := adaptivethrottler.NewBuilder[any]().
		WithFailureRateThreshold(0.1, 1, time.Minute).Build()
	for range 1000 {
		throttle.RecordFailure()
	}
	rejecting := func() bool {
		throttle.TryAcquirePermit()
		return throttle.RejectionRate() > 0
	}
	atOnce := rejecting()
	time.Sleep(5 * time.Minute)
	return fmt.Sprintf("rejects at once: %v, later: %v", atOnce, rejecting())
}

// theirPanics has a round of probes that panic, and calls again an hour later.
func theirPanics() string {
	b, calls := failsafeBreaker(1)
	_ = calls.Run(fail)
	time.Sleep(openFor)
	for range 2 {
		swallow(func() { _ = calls.Run(func() error { panic("probe") }) })
	}
	time.Sleep(time.Hour)
	ok := b.TryAcquirePermit()
	return fmt.Sprintf("%s; an hour later allowed: %v", word(b.State()), ok)
}

var breakersOfFailsafe = []finding{
	{
		step: "two calls from before the trip succeed during a probe", theirs: theirLateSuccesses,
		theySay: "closed", ours: ourLateSuccesses, oursMust: "half_open, 2 late",
	},
	{
		step: "the probes panic", theirs: theirPanics,
		theySay: "half_open; an hour later allowed: false",
		ours:    ourLostProbe, oursMust: "half_open; an hour later allowed: true",
	},
	{
		step: "three callers leave",
		theirs: func() string {
			b, calls := failsafeBreaker(3)
			for range 3 {
				_ = calls.Run(cancelled)
			}
			return word(b.State())
		},
		theySay: "open", ours: ourCancelled, oursMust: "closed",
	},
	{
		step: "a throttle after five idle windows", theirs: theirThrottle,
		theySay: "rejects at once: true, later: true",
		ours:    ourThrottle, oursMust: "rejects at once: true, later: false",
	},
}
