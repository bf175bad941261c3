package engine_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/backoff"
	"herdscope/engine/breaker"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// sound is a policy with which nothing is wrong.
func sound() engine.Policy {
	return engine.Policy{
		Retry: engine.Retry{
			Attempts: 3,
			Backoff:  backoff.Config{Base: time.Second, Cap: 10 * time.Second, Multiplier: 2000},
		},
		Breaker: breaker.Config{OpenFor: time.Second, Probes: 1, Successes: 1},
	}
}

// TestEveryFieldIsAKnob sets each knob of an empty policy, and then expects every
// field to have changed: one that was forgotten in the table would not have.
func TestEveryFieldIsAKnob(t *testing.T) {
	var p engine.Policy
	for _, f := range engine.Fields {
		f.Set(&p, 1)
		if got := f.Get(&p); got != 1 {
			t.Errorf("%s = %d after setting 1", f.Name, got)
		}
	}
	checkAllSet(t, "Policy", reflect.ValueOf(p))
}

func checkAllSet(t *testing.T, path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			checkAllSet(t, path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			checkAllSet(t, path, v.Index(i))
		}
	default:
		if v.IsZero() {
			t.Errorf("no knob sets %s", path)
		}
	}
}

func TestKnobsAreDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range engine.Fields {
		if seen[f.Name] {
			t.Errorf("%s is there twice", f.Name)
		}
		seen[f.Name] = true
		if f.Doc == "" || strings.HasSuffix(f.Doc, ".") {
			t.Errorf("%s: Doc = %q", f.Name, f.Doc)
		}
		if f.Kind == knob.Int && f.Unit == "" {
			t.Errorf("%s has no unit", f.Name)
		}
		if v := f.Stepped(0, 1); f.Check(v) != nil {
			t.Errorf("%s: a press leads to %d, which is not allowed", f.Name, v)
		}
	}
}

func TestValidate(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(*engine.Policy)
		want  string
	}{
		{"sound", func(*engine.Policy) {}, ""},
		{"no attempts", func(p *engine.Policy) { p.Retry.Attempts = 0 },
			`retry.attempts: "0" is out of range; allowed: 1 to 100`},
		{"no base", func(p *engine.Policy) { p.Retry.Backoff.Base = 0 }, ""},
		{"negative base", func(p *engine.Policy) { p.Retry.Backoff.Base = -time.Second },
			`retry.base: "-1s" is out of range; allowed: 0s to 1h`},
		{"unknown jitter", func(p *engine.Policy) { p.Retry.Backoff.Jitter = 99 },
			`retry.jitter: "99" is out of range; allowed: one of none, full, equal, decorrelated, ` +
				`additive, proportional, spread, minus, v2`},
		{"cap under base", func(p *engine.Policy) { p.Retry.Backoff.Cap = time.Millisecond },
			`retry.cap: "1ms" is below retry.base; allowed: 1s or more`},
		{"successes over probes", func(p *engine.Policy) { p.Breaker.Successes = 2 },
			`breaker.successes: "2" is more than breaker.probes; allowed: 1 to 1`},
		{"least over most", func(p *engine.Policy) {
			p.Queue.Class[wire.Critical] = engine.ClassQueue{Least: 3, Most: 2}
		}, `queue.critical.least: "3" is more than the class may hold; allowed: 0 to 2`},
		{"least over limit", func(p *engine.Policy) {
			p.Queue.Limit = 4
			p.Queue.Class[wire.Critical].Least = 3
			p.Queue.Class[wire.Background].Least = 2
		}, `queue.background.least: "2" leaves too few of queue.limit; allowed: 0 to 1`},
		{"pause", func(p *engine.Policy) { p.Queue.Limit = engine.Paused }, ""},
		{"no limit by name", func(p *engine.Policy) { p.Queue.Limit = engine.Unlimited }, ""},
		{"neither limit nor word", func(p *engine.Policy) { p.Queue.Limit = -3 },
			`queue.limit: "-3" is out of range; allowed: 1 to 1000000, 0 to pause, or unlimited`},
		{"least beside a scope's own limit", func(p *engine.Policy) {
			p.Queue.Limit, p.Queue.Scope[1].Limit = 4, 1
			p.Queue.Class[wire.Critical].Least = 3
		}, ""},
		{"least without limit", func(p *engine.Policy) {
			p.Queue.Class[wire.Critical].Least = 3
		}, ""},
		{"absurd least", func(p *engine.Policy) {
			p.Queue.Class[wire.Critical].Least = 1 << 60
		}, `queue.critical.least: "1152921504606846976" is out of range; allowed: 0 to 1000000`},
	}
	for _, tt := range tests {
		p := sound()
		tt.spoil(&p)
		got := ""
		if err := p.Validate(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}
