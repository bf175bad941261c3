package engine

import (
	"strconv"
	"time"

	"herdscope/engine/backoff"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// Limits of what a Policy can ask for.
const (
	maxSlots   = 1_000_000
	maxBackoff = int64(time.Hour)
	maxWait    = int64(24 * time.Hour)
	leastTime  = int64(time.Millisecond)
)

var methodSetNames = []string{"idempotent", "all", "with-key"}

// Fields is every field of a Policy as a knob: those of retries, of the
// breaker, of a scope's queue, of the fallback, and of each class in a queue.
var Fields = policyFields()

func policyFields() []knob.Field[Policy] {
	fields := append(retryFields(), retryAfterFields()...)
	fields = append(fields, retryClockFields()...)
	fields = append(fields, pushbackFields()...)
	fields = append(fields, waitFields()...)
	fields = append(fields, breakerFields()...)
	fields = append(fields, queueFields()...)
	fields = append(fields, fallbackFields()...)
	fields = append(fields, authFields()...)
	fields = append(fields, transportFields()...)
	fields = append(fields, budgetFields()...)
	fields = append(fields, limiterFields()...)
	fields = append(fields, dedupFields()...)
	for class := range wire.NumClasses {
		fields = append(fields, classFields(wire.Class(class))...)
	}
	for scope := range wire.MaxScopes {
		fields = append(fields, scopeFields(scope)...)
	}
	return fields
}

func retryFields() []knob.Field[Policy] {
	return []knob.Field[Policy]{
		knob.At(knob.Spec{
			Name: "retry.attempts", Kind: knob.Int, Unit: "attempts", Min: 1, Max: 100, Step: 1,
			Doc: "the most tries of a request, the first included",
		}, func(p *Policy) *int { return &p.Retry.Attempts }),
		knob.At(knob.Spec{
			Name: "retry.curve", Kind: knob.Choice, Choices: backoff.CurveNames(),
			Doc: "how the wait grows from one retry to the next",
		}, func(p *Policy) *backoff.Curve { return &p.Retry.Backoff.Curve }),
		knob.At(knob.Spec{
			Name: "retry.base", Kind: knob.Duration,
			Max: maxBackoff, Step: int64(100 * time.Millisecond),
			Doc: "the wait before the first retry, jitter aside",
		}, func(p *Policy) *time.Duration { return &p.Retry.Backoff.Base }),
		knob.At(knob.Spec{
			Name: "retry.cap", Kind: knob.Duration,
			Min: leastTime, Max: maxBackoff, Step: int64(time.Second),
			Doc: "the longest wait before a retry; not below retry.base",
		}, func(p *Policy) *time.Duration { return &p.Retry.Backoff.Cap }),
		knob.At(knob.Spec{
			Name: "retry.total", Kind: knob.Duration,
			Max: maxWait, Step: int64(time.Second), Zero: "off",
			Doc: "how long a request may take in all, queue and backoff included",
		}, func(p *Policy) *time.Duration { return &p.Retry.Total }),
		knob.At(knob.Spec{
			Name: "retry.multiplier", Kind: knob.Ratio, Min: 1000, Max: 10_000, Step: 100,
			Doc: "how many times longer each wait of the exponential curve is",
		}, func(p *Policy) *int64 { return &p.Retry.Backoff.Multiplier }),
		knob.At(knob.Spec{
			Name: "retry.jitter", Kind: knob.Choice, Choices: backoff.JitterNames(),
			Doc: "how the wait is drawn at random, so that clients do not come back together",
		}, func(p *Policy) *backoff.Jitter { return &p.Retry.Backoff.Jitter }),
		knob.At(knob.Spec{
			Name: "retry.statuses", Kind: knob.Choice, Choices: statusSetNames,
			Doc: "which responses are retried: 408, 425, 429, 500, 502 to 504; every 5xx; none; or by a client's list",
		}, func(p *Policy) *StatusSet { return &p.Retry.Statuses }),
		knob.AtBool(knob.Spec{
			Name: "retry.network", Kind: knob.Switch,
			Doc: "whether attempts are retried that were refused or reset",
		}, func(p *Policy) *bool { return &p.Retry.Network }),
		knob.AtBool(knob.Spec{
			Name: "retry.timeouts", Kind: knob.Switch,
			Doc: "whether attempts are retried that ran into their timeout",
		}, func(p *Policy) *bool { return &p.Retry.Timeouts }),
		knob.At(knob.Spec{
			Name: "retry.methods", Kind: knob.Choice, Choices: methodSetNames,
			Doc: "which methods are retried; with all, a POST may take effect twice; with-key wants a key of it",
		}, func(p *Policy) *MethodSet { return &p.Retry.Methods }),
	}
}

func queueFields() []knob.Field[Policy] {
	fields := []knob.Field[Policy]{
		limitField(),
		knob.At(knob.Spec{
			Name: "queue.capacity", Kind: knob.Int, Unit: "requests",
			Min: 1, Max: maxSlots, Zero: "unlimited",
			Doc: "how many requests may wait in one scope of a client; one more is shed",
		}, func(p *Policy) *int { return &p.Queue.Capacity }),
	}
	fields = append(append(fields, orderFields()...), protectFields()...)
	return append(fields, nestedFields()...)
}

func classFields(class wire.Class) []knob.Field[Policy] {
	prefix := "queue." + class.String() + "."
	return []knob.Field[Policy]{
		knob.At(knob.Spec{
			Name: prefix + "least", Kind: knob.Int, Unit: "slots", Max: maxSlots, Step: 1,
			Doc: "how many slots of a scope the other classes leave to this one",
		}, func(p *Policy) *int { return &p.Queue.Class[class].Least }),
		knob.At(knob.Spec{
			Name: prefix + "most", Kind: knob.Int, Unit: "slots",
			Min: 1, Max: maxSlots, Step: 1, Zero: "unlimited",
			Doc: "how many slots of a scope this class may hold",
		}, func(p *Policy) *int { return &p.Queue.Class[class].Most }),
		knob.At(knob.Spec{
			Name: prefix + "deadline", Kind: knob.Duration,
			Min: leastTime, Max: maxWait, Step: int64(time.Second), Zero: "off",
			Doc: "how long a request may take in all, queue and backoff included",
		}, func(p *Policy) *time.Duration { return &p.Queue.Class[class].Deadline }),
		knob.At(knob.Spec{
			Name: prefix + "starved_after", Kind: knob.Duration,
			Min: leastTime, Max: maxWait, Step: int64(time.Second), Zero: "off",
			Doc: "how long the oldest may wait and be overtaken before the class starves",
		}, func(p *Policy) *time.Duration { return &p.Queue.Class[class].StarvedAfter }),
		turnsField(class),
	}
}

// Validate checks every field against its knob, and the rules that tie fields
// together. The error names the knob; it is a *knob.Error.
func (p Policy) Validate() error {
	if err := knob.CheckAll(Fields, &p); err != nil {
		return err
	}
	switch b := p.Retry.Backoff; {
	case b.Cap < b.Base:
		return p.fail("retry.cap", "is below retry.base",
			format("retry.base", int64(b.Base))+" or more")
	}
	if err := p.checkBreaker(); err != nil {
		return err
	}
	if err := p.checkSlots(); err != nil {
		return err
	}
	return p.checkOrder()
}

// checkSlots refuses shares of a scope that cannot all be kept.
func (p *Policy) checkSlots() error {
	promised := 0
	for i := range p.Queue.Class {
		class, name := &p.Queue.Class[i], "queue."+wire.Class(i).String()+".least"
		if class.Most > 0 && class.Least > class.Most {
			return p.fail(name, "is more than the class may hold",
				"0 to "+strconv.Itoa(class.Most))
		}
		promised += class.Least
		if p.Queue.Limit > 0 && promised > p.Queue.Limit {
			left := p.Queue.Limit - (promised - class.Least)
			return p.fail(name, "leaves too few of queue.limit", "0 to "+strconv.Itoa(left))
		}
	}
	return nil
}

func (p *Policy) fail(name, problem, allowed string) error {
	i, _ := knob.Index(Fields, name)
	return &knob.Error{
		Knob: name, Value: Fields[i].Format(Fields[i].Get(p)), Problem: problem, Allowed: allowed,
	}
}

func format(name string, v int64) string {
	i, _ := knob.Index(Fields, name)
	return Fields[i].Format(v)
}
