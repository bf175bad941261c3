// Package preset holds the retry rules of well-known HTTP clients and resilience
// libraries, with the exact numbers of their defaults, so that a policy can
// start from what a program runs today.
//
// A preset is faithful, defects included: Fault names each defect that it
// reproduces, and Differs what the engine does otherwise than the library. The
// numbers were read in the source of the version given, and the share of a herd
// that comes back at once under each is held by a test.
//
// It is data: nothing here has state. It imports engine, its backoff and its
// knobs; engine must not import it.
package preset

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"herdscope/engine"
	"herdscope/engine/backoff"
	"herdscope/engine/budget"
	"herdscope/engine/knob"
)

// MostRetries is how often the engine can retry a request.
const MostRetries = 99

// longestCap stands for the cap of a library that has none: the engine's own
// longest.
const longestCap = time.Hour

// Preset is the retry rule of one client.
type Preset struct {
	// Name is how the preset is asked for: lower case words with hyphens.
	Name string
	// Library is whose rule it is.
	Library string
	// Version is the release, commit or branch that it was read in; "" for an
	// article.
	Version string
	// Doc says in a line how it waits.
	Doc string
	// Fault is the defects of the library that the preset reproduces; "" if
	// there are none.
	Fault string
	// Differs is what the engine does otherwise than the library; "" if there
	// is nothing.
	Differs string

	// Retries is how often a request is tried again after its first try.
	Retries int
	// Endless says that the library itself sets no limit. Retries is then
	// MostRetries.
	Endless bool
	// Total is how long a request may take in all, waits included; 0 is off.
	Total time.Duration
	// Backoff is the wait. A Cap of 0 is none.
	Backoff backoff.Config
	// Statuses is which responses are retried.
	Statuses engine.StatusSet
	// Methods is which methods are retried.
	Methods engine.MethodSet
	// Network retries what was refused or reset.
	Network bool
	// Timeouts retries attempts that ran into their timeout.
	Timeouts bool
	// RetryAfter honours Retry-After.
	RetryAfter bool
	// RetryAfterJitter spreads a retry above its Retry-After by up to this share
	// of it, in thousandths.
	RetryAfterJitter int64
	// RetryAfterMax is the longest Retry-After that is simply followed; 0 is
	// none.
	RetryAfterMax time.Duration
	// RetryAfterOver is what becomes of a longer one.
	RetryAfterOver engine.HintRule
	// Pushback obeys gRPC's field with the server's own wait.
	Pushback bool
	// Budget limits its retries as a whole; the zero value is none.
	Budget budget.Config
}

// All is every preset, by ecosystem: those of articles, of JavaScript, of Go,
// and of others. The caller may change the slice.
func All() []Preset { return slices.Concat(articles, javascript, golang, others) }

// Names is the name of every preset, in the order of All.
func Names() []string {
	var names []string
	for _, p := range All() {
		names = append(names, p.Name)
	}
	return names
}

// Named is the preset of that name. The error lists the names, and says which
// was probably meant.
func Named(name string) (Preset, error) {
	all := All()
	i := slices.IndexFunc(all, func(p Preset) bool { return p.Name == name })
	if i >= 0 {
		return all[i], nil
	}
	names := Names()
	text := knob.Quote(name) + " is not a preset; allowed: " + strings.Join(names, ", ")
	if near, ok := knob.Nearest(name, names); ok {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return Preset{}, fmt.Errorf("find preset: %s", text)
}

// Apply makes the preset's rule the policy's, and leaves everything that is not
// about retries as it is. A policy that was valid stays so.
func (p Preset) Apply(policy *engine.Policy) {
	r := &policy.Retry
	r.Attempts = p.Retries + 1
	r.Total = p.Total
	r.Backoff = p.Backoff
	if r.Backoff.Cap == 0 {
		r.Backoff.Cap = longestCap
	}
	r.Statuses, r.Methods = p.Statuses, p.Methods
	r.Network, r.Timeouts = p.Network, p.Timeouts
	r.RetryAfter, r.RetryAfterJitter = p.RetryAfter, p.RetryAfterJitter
	r.RetryAfterMax, r.RetryAfterOver, r.RetryAfterDefault = p.RetryAfterMax, p.RetryAfterOver, 0
	r.RetryAfterClock, r.Pushback = engine.ClockOwn, p.Pushback
	policy.Budget.Config = p.Budget
}

// Words that many rows share.
const (
	noJitter    = "no jitter: clients that failed together come back together"
	unsafePosts = "a POST is retried, and may take effect twice"
	anyError    = "what is an error is for the caller to say; here every 4xx and 5xx is one"
	noCode      = "no header of the server's own decides whether a retry is made"
)

// Multipliers of the exponential curve.
const (
	sesqui = 1500
	twice  = 2000
)

const ms = time.Millisecond

// doubling is base * 2^(n-1) before retry n, with the cap before the jitter.
func doubling(base, limit time.Duration, jitter backoff.Jitter) backoff.Config {
	return backoff.Config{Base: base, Cap: limit, Multiplier: twice, Jitter: jitter}
}

// constant is the same wait before every retry.
func constant(wait time.Duration) backoff.Config {
	return backoff.Config{Curve: backoff.Fixed, Base: wait, Multiplier: twice}
}
