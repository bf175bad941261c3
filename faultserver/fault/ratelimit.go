package fault

import (
	"math/bits"
	"net/http"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// LimitLaw is how a rate limit counts.
type LimitLaw uint8

// The laws.
const (
	// TokenBucket lets Burst attempts in at once, and refills at Rate.
	TokenBucket LimitLaw = iota
	// FixedWindow lets Rate times Window attempts into each window. Windows are
	// aligned to the beginning of the run, so that all callers' windows end
	// together, and twice the number can pass around an edge.
	FixedWindow
	// SlidingWindow holds an estimate of the attempts of the last Window below
	// the same number: those of the current window, and of the one before the
	// share that the last Window still overlaps, as if they had been spread
	// evenly over it. This is the counter of two numbers that gateways keep, and
	// not a log of all moments: its room does not grow with the limit. It is
	// never exceeded by its own estimate; in truth a Window can hold more, but
	// less than twice the number.
	SlidingWindow
)

var lawNames = []string{"token-bucket", "fixed-window", "sliding-window"}

// String is the law's name, as scenario files write it.
func (l LimitLaw) String() string { return nameOf(lawNames, int(l)) }

// LimitPer is who shares a limit.
type LimitPer uint8

// Who shares a limit.
const (
	// PerServer is everybody together.
	PerServer LimitPer = iota
	// PerClient gives each client the whole limit for itself.
	PerClient
	// PerClass gives each class the whole limit for itself.
	PerClass
)

var perNames = []string{"server", "client", "class"}

// String is the name of those who share, as scenario files write it.
func (p LimitPer) String() string { return nameOf(perNames, int(p)) }

// LimitAnswer is what a limit answers those with that it sends away.
type LimitAnswer uint8

// The answers.
const (
	// AnswerTooMany is 429.
	AnswerTooMany LimitAnswer = iota
	// AnswerUnavailable is 503.
	AnswerUnavailable
)

var answerNames = []string{"429", "503"}

// status is the answer's HTTP status.
func (a LimitAnswer) status() uint16 {
	if a == AnswerUnavailable {
		return http.StatusServiceUnavailable
	}
	return http.StatusTooManyRequests
}

// RateLimit is how many attempts are let in. Both limits in it may be on: an
// attempt that is over the cap takes nothing from the rate.
type RateLimit struct {
	// Rate is how many attempts are let in per second, in thousandths; 0 is off.
	Rate int64
	// Burst is how many tokens the bucket holds; 0 counts as one.
	Burst int
	Law   LimitLaw
	// Window is the length of the windows; 0 counts as a second. The attempts
	// that a window has room for, Rate times Window, are rounded down to a whole
	// number, and are one at least.
	Window time.Duration
	Per    LimitPer
	// Concurrent is how many attempts may be at the server at once, those that
	// wait for a worker included; 0 is off.
	Concurrent int
	Answer     LimitAnswer
	// Form is how the Retry-After of a refusal is written. It names the moment at
	// which the law would let the attempt in if nobody else came, or the next
	// that the form can express: whole seconds, see retryafter.FromDelay. Over
	// the cap there is no such moment; it then asks to wait for a mean service
	// time.
	Form wire.HintForm
	// Jitter lengthens each wait that is asked for by up to this share of it, in
	// thousandths, so that those who obey do not come back together.
	Jitter int64
	// Fields says that the replies to those whom the rate lets in or refuses carry
	// RateLimit and RateLimit-Policy, and those to repeated keys; see wire.Quota.
	// What a fault answers, or a full backlog, does not.
	Fields bool
}

// The largest values of a rate limit.
const (
	// MaxWindow limits how long windows are.
	MaxWindow = time.Hour
	// MaxLimitJitter limits the jitter of a Retry-After, in thousandths.
	MaxLimitJitter = 10_000
)

// rateFields are the fields that the server's own limit and quotas share,
// beside the rate, the burst and the form.
var rateFields = []knob.Field[RateLimit]{
	knob.At(knob.Spec{
		Name: "law", Kind: knob.Choice, Choices: lawNames,
		Doc: "how the limit counts: bursts from a bucket, or attempts in a window",
	}, func(l *RateLimit) *LimitLaw { return &l.Law }),
	{
		Spec: knob.Spec{
			Name: "window", Kind: knob.Duration, Min: int64(time.Millisecond), Max: int64(MaxWindow),
			Doc: "how long a window is; it has room for rate times window attempts, one at least",
		},
		Get: func(l *RateLimit) int64 { return int64(l.settled().Window) },
		Set: func(l *RateLimit, v int64) { l.Window = time.Duration(v) },
	},
	knob.At(knob.Spec{
		Name: "per", Kind: knob.Choice, Choices: perNames,
		Doc: "who shares the limit: everybody, each client alone, or each class",
	}, func(l *RateLimit) *LimitPer { return &l.Per }),
	knob.At(knob.Spec{
		Name: "concurrent", Kind: knob.Int, Unit: "attempts", Max: MaxWorkers, Step: 1, Zero: "off",
		Doc: "attempts that may be at the server at once, waiting or in service",
	}, func(l *RateLimit) *int { return &l.Concurrent }),
	knob.At(knob.Spec{
		Name: "answer", Kind: knob.Choice, Choices: answerNames,
		Doc: "the status for attempts over the limit",
	}, func(l *RateLimit) *LimitAnswer { return &l.Answer }),
	knob.At(knob.Spec{
		Name: "jitter", Kind: knob.Ratio, Max: MaxLimitJitter, Step: 100,
		Doc: "the share of a Retry-After that the server adds at random, to spread returns",
	}, func(l *RateLimit) *int64 { return &l.Jitter }),
	knob.AtBool(knob.Spec{
		Name: "fields", Kind: knob.Switch,
		Doc: "whether replies carry RateLimit and RateLimit-Policy",
	}, func(l *RateLimit) *bool { return &l.Fields }),
}

// settled is the limit with what stands for 0 put in.
func (l RateLimit) settled() RateLimit {
	l.Burst = l.burst()
	if l.Window == 0 {
		l.Window = time.Second
	}
	return l
}

// room is how many attempts a window has room for.
func (l *RateLimit) room() int64 {
	hi, lo := bits.Mul64(uint64(l.Rate), uint64(l.Window))
	n, _ := bits.Div64(hi, lo, token) // at most MaxRate times MaxWindow: no overflow
	return max(int64(n), 1)
}

// key is who an attempt counts for.
func (l *RateLimit) key(a *wire.Attempt) uint64 {
	switch l.Per {
	case PerClient:
		return uint64(a.ID.Client)
	case PerClass:
		return uint64(a.Class)
	}
	return 0
}

// limiter is a rate limit in force, and what it knows of its callers.
type limiter struct {
	limit   RateLimit // settled
	callers callers
}

// start puts a limit in force from now on, and forgets all callers.
func (l *limiter) start(limit RateLimit) {
	l.limit = limit.settled()
	l.callers.clear()
}

// change puts another limit in force. Buckets keep their level as far as there
// is room, and windows their counts; another law, other callers or another
// length of windows start anew, as does a limit that was off.
func (l *limiter) change(limit RateLimit, now clock.Instant) {
	was := l.limit
	limit = limit.settled()
	if was.Law != limit.Law || was.Per != limit.Per || was.Window != limit.Window ||
		was.Rate == 0 || limit.Rate == 0 {
		l.start(limit)
		return
	}
	l.limit = limit
	if was.Rate != limit.Rate || was.Burst != limit.Burst {
		l.callers.change(limit, now)
	}
}

// take lets an attempt in, or says how long it is until there is room for one;
// nobody else has a claim on that.
func (l *limiter) take(key uint64, now clock.Instant) (wait time.Duration, ok bool) {
	if l.limit.Rate == 0 {
		return 0, true
	}
	m := l.callers.of(key, l.limit, now)
	switch l.limit.Law {
	case FixedWindow:
		return m.window.take(now, &l.limit)
	case SlidingWindow:
		return m.window.takeSliding(now, &l.limit)
	}
	return m.bucket.take(now)
}

// quota is what the RateLimit fields say to a caller now.
func (l *limiter) quota(key uint64, now clock.Instant) wire.Quota {
	m := l.callers.of(key, l.limit, now)
	if l.limit.Law == TokenBucket {
		return m.bucket.quota(now)
	}
	return m.window.quota(now, &l.limit)
}
