package preset

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herdscope/engine"
	"herdscope/engine/backoff"
	"herdscope/engine/breaker"
)

// sound is a valid policy in which nothing about retries is as any preset has it.
func sound() engine.Policy {
	p := engine.Policy{Breaker: breaker.Config{OpenFor: time.Second, Probes: 2, Successes: 1}}
	p.Queue.Limit, p.Queue.Capacity = 7, 11
	p.Retry = engine.Retry{
		Attempts: 77, Backoff: backoff.Config{Base: time.Second, Cap: time.Minute, Multiplier: 3000},
		Statuses: engine.StatusTransient, Total: time.Hour, RetryAfterJitter: 123,
		RetryAfterMax: time.Minute, RetryAfterOver: engine.HintFollow, RetryAfterDefault: time.Second,
	}
	return p
}

func TestApplySetsRetriesAndBudgetAndNothingElse(t *testing.T) {
	for _, p := range All() {
		got, want := sound(), sound()
		p.Apply(&got)
		want.Retry.Attempts, want.Retry.Total = p.Retries+1, p.Total
		want.Retry.Backoff = p.Backoff
		if p.Backoff.Cap == 0 {
			want.Retry.Backoff.Cap = time.Hour
		}
		want.Retry.Statuses, want.Retry.Methods = p.Statuses, p.Methods
		want.Retry.Network, want.Retry.Timeouts = p.Network, p.Timeouts
		want.Retry.RetryAfter, want.Retry.RetryAfterJitter = p.RetryAfter, p.RetryAfterJitter
		want.Retry.RetryAfterMax, want.Retry.RetryAfterOver = p.RetryAfterMax, p.RetryAfterOver
		want.Retry.RetryAfterDefault, want.Retry.Pushback = 0, p.Pushback
		want.Budget.Config = p.Budget
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", p.Name, diff)
		}
	}
}

func TestAValidPolicyStaysValid(t *testing.T) {
	policy := sound()
	if err := policy.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, p := range All() {
		p.Apply(&policy)
		if err := policy.Validate(); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

// The engine's longest cap stands for no cap: no preset may notice.
func TestNoWaitReachesTheCapThatStandsForNone(t *testing.T) {
	for _, p := range All() {
		w := p.Backoff.Delay(p.Retries, 0, math.MaxUint64)
		if p.Backoff.Cap == 0 && w.Ceiling >= longestCap {
			t.Errorf("%s waits up to %v before retry %d", p.Name, w.Ceiling, p.Retries)
		}
	}
}

func TestMostRetriesIsTheEngines(t *testing.T) {
	policy := sound()
	policy.Retry.Attempts = MostRetries + 1
	if err := policy.Validate(); err != nil {
		t.Error(err)
	}
	if policy.Retry.Attempts++; policy.Validate() == nil {
		t.Error("the engine allows more")
	}
	for _, p := range All() {
		if p.Retries < 1 || p.Endless != (p.Retries == MostRetries) {
			t.Errorf("%s: %d retries, endless %v", p.Name, p.Retries, p.Endless)
		}
	}
}

// What each library makes of a Retry-After that is long: follows it, unless it
// says otherwise.
func TestLongRetryAfters(t *testing.T) {
	want := map[string]struct {
		most time.Duration
		over engine.HintRule
	}{
		"retry-axios":   {300 * time.Second, engine.HintGiveUp},
		"got":           {0, engine.HintGiveUp},
		"openai-python": {120 * time.Second, engine.HintGiveUp},
		"urllib3":       {6 * time.Hour, engine.HintClamp},
		"envoy":         {300 * time.Second, engine.HintIgnore},
	}
	for _, p := range All() {
		w := want[p.Name]
		if p.RetryAfterMax != w.most || p.RetryAfterOver != w.over {
			t.Errorf("%s: %v above %v, want %v above %v", p.Name, p.RetryAfterOver,
				p.RetryAfterMax, w.over, w.most)
		}
		if early := w.over == engine.HintIgnore || w.over == engine.HintClamp && w.most > 0; early &&
			!strings.Contains(p.Fault, "Retry-After") {
			t.Errorf("%s: is earlier than asked, and no fault says so", p.Name)
		}
	}
}

// The rows as the list asks for them.
func TestRowsAreThere(t *testing.T) {
	want := strings.Fields(`axios-interceptor axios-interceptor-factory request-scheduler
		axios-full-jitter vue-safe-retry axios-retry axios-retry-exp ky got go-retryablehttp
		failsafe-go cenkalti avast-retry resilience4j polly ms-standard-handler aws-go-standard
		aws-2026 gax-go grpc-go envoy stripe-go openai-python`)
	names := Names()
	for _, name := range want {
		if !slices.Contains(names, name) {
			t.Errorf("there is no %s", name)
		}
	}
	slices.Sort(names)
	if all := slices.Compact(slices.Clone(names)); len(all) != len(names) {
		t.Errorf("a name is there twice: %q", names)
	}
}

func TestRowsSayWhatTheyAre(t *testing.T) {
	name := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	for _, p := range All() {
		if !name.MatchString(p.Name) || p.Library == "" || p.Doc == "" {
			t.Errorf("%+v", p)
		}
		if article := strings.HasPrefix(p.Library, "article: "); article != (p.Version == "") {
			t.Errorf("%s: version %q of %s", p.Name, p.Version, p.Library)
		}
		for _, text := range []string{p.Doc, p.Fault, p.Differs} {
			if strings.HasSuffix(text, ".") || strings.Contains(text, "  ") || strings.HasPrefix(text, " ") {
				t.Errorf("%s: %q", p.Name, text)
			}
		}
	}
}

// What is wrong with a preset's numbers must be said: a jitter that passes the
// cap or piles up on it, and waits without jitter.
func TestDefectsAreLabelled(t *testing.T) {
	for _, p := range All() {
		if p.Backoff.CapRule != backoff.CapBefore && p.Fault == "" {
			t.Errorf("%s: its cap rule is %v, and no fault is named", p.Name, p.Backoff.CapRule)
		}
		if p.Backoff.Jitter == backoff.None && !strings.Contains(p.Fault, "no jitter") &&
			!strings.Contains(p.Fault, "no wait") {
			t.Errorf("%s: has no jitter, and its faults are %q", p.Name, p.Fault)
		}
		if p.Endless && p.Differs == "" {
			t.Errorf("%s: does not say that it ends after %d retries", p.Name, MostRetries)
		}
	}
}

func TestNamed(t *testing.T) {
	for _, want := range All() {
		got, err := Named(want.Name)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", want.Name, err, diff)
		}
	}
}

func TestNamedSuggestsTheNearest(t *testing.T) {
	for name, near := range map[string]string{
		"axios-rety": "axios-retry", "Polly": "polly", "stripe": "stripe-go", "cenkalty": "cenkalti",
	} {
		_, err := Named(name)
		if err == nil || !strings.HasSuffix(err.Error(), `; did you mean "`+near+`"?`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := Named("nonsense")
	want := `find preset: "nonsense" is not a preset; allowed: axios-interceptor, `
	if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "mean") {
		t.Errorf("error = %v", err)
	}
}

func TestAllMayBeChanged(t *testing.T) {
	All()[0].Name = "changed"
	if got := All()[0].Name; got == "changed" {
		t.Error("a change of one copy is seen in another")
	}
}

// N-E1 for presets: never negative, and never above the cap but by overshoot.
func TestNE1NoPresetOverflows(t *testing.T) {
	for _, p := range All() {
		c := p.Backoff
		for n := 1; n <= MostRetries; n++ {
			for _, u := range []uint64{0, 1 << 63, math.MaxUint64} {
				w := c.Delay(n, 0, u)
				over := c.Cap > 0 && c.CapRule != backoff.CapOvershoot && w.Ceiling > c.Cap
				if w.Delay < 0 || w.Delay > w.Ceiling || over {
					t.Fatalf("%s retry %d: %+v", p.Name, n, w)
				}
			}
		}
	}
}
