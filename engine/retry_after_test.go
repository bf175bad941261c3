package engine_test

import (
	"strconv"
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/retryafter"
	"herdscope/engine/wire"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// hintedBy is what a machine makes of a 503 at 0 with a Retry-After.
func hintedBy(t *testing.T, p engine.Policy, value string) string {
	t.Helper()
	const epoch = retryafter.VirtualEpochUnixNanos
	hint, err := retryafter.Parse(value, epoch/int64(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	m := engine.New(1, 1, 1, &p)
	m.Step(0, engine.Input{Kind: engine.Submit, Request: 1}, nil)
	effects := m.Step(0, engine.Input{
		Kind: engine.Answered, ID: wire.AttemptID{Client: 1, Request: 1, Try: 1},
		Reply:     wire.Reply{Status: 503, Hint: hint},
		NotBefore: retryafter.Resolve(hint, 0, epoch),
	}, nil)
	said := ""
	for _, e := range effects {
		switch {
		case e.Kind != engine.Report:
		case e.Event.Kind == wire.RetryScheduled:
			said = seconds(e.Event.Delay) + " " + e.Event.Hint.String()
		case e.Event.Kind == wire.RetryRefused:
			said = "asked " + seconds(e.Event.Delay) + ", "
		case e.Event.Kind == wire.RequestDone:
			said += e.Event.Outcome.String()
		}
	}
	return said
}

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) + " s" }

// N-E7: a hint above the maximum does what the rule says, and the log shows it.
// A wait beyond what the run clock holds, 292 years, is none: the request ends.
func TestNE7RetryAfterAboveTheMaximum(t *testing.T) {
	const date = "Fri, 31 Dec 2100 23:59:59 GMT"
	values := []string{"10", "301", "86400", "9999999999", date}
	for rule, want := range map[engine.HintRule][]string{
		engine.HintClamp: {
			"10 s followed", "300 s clamped", "300 s clamped", "300 s clamped", "300 s clamped",
		},
		engine.HintGiveUp: {
			"10 s followed", "asked 301 s, failed", "asked 86400 s, failed",
			"asked 9223372036 s, failed", "asked 2556143999 s, failed",
		},
		engine.HintFollow: {
			"10 s followed", "301 s followed", "86400 s followed", "failed",
			"2556143999 s followed",
		},
		engine.HintIgnore: {
			"10 s followed", "1 s ignored", "1 s ignored", "1 s ignored", "1 s ignored",
		},
	} {
		p := plain()
		p.Retry.RetryAfterMax, p.Retry.RetryAfterOver = 300*time.Second, rule
		var got []string
		for _, value := range values {
			got = append(got, hintedBy(t, p, value))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v: -want +got\n%s", rule, diff)
		}
	}
}

// N-E7: whatever the rule, no wait goes beyond the deadline of 30 s: the request
// ends at once.
func TestNE7ADeadlineWinsOverEveryRule(t *testing.T) {
	for rule, want := range map[engine.HintRule]string{
		engine.HintClamp: "failed", engine.HintGiveUp: "asked 301 s, failed",
		engine.HintFollow: "failed",
	} {
		p := plain()
		p.Retry.RetryAfterMax, p.Retry.RetryAfterOver = 300*time.Second, rule
		p.Queue.Class[wire.Critical].Deadline = 30 * time.Second
		if got := hintedBy(t, p, "301"); got != want {
			t.Errorf("%v: %q, want %q", rule, got, want)
		}
		if got := hintedBy(t, p, "10"); got != "10 s followed" {
			t.Errorf("%v: %q for 10 s", rule, got)
		}
	}
}

// TestRetryIsNeverEarlierThanAsked holds for any Retry-After, spread and rule;
// only what is above the maximum may be cut to it, or be left to the backoff.
func TestRetryIsNeverEarlierThanAsked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := plain()
		p.Retry.RetryAfterJitter = rapid.Int64Range(0, 1000).Draw(t, "spread")
		p.Retry.RetryAfterMax = time.Duration(rapid.Int64Min(0).Draw(t, "most"))
		p.Retry.RetryAfterOver = engine.HintRule(rapid.IntRange(0, 3).Draw(t, "rule"))
		m := engine.New(1, rapid.Uint64().Draw(t, "seed"), 1, &p)
		m.Step(0, engine.Input{Kind: engine.Submit, Request: 1}, nil)
		asked := clock.Instant(rapid.Int64Range(1, int64(clock.Never)-1).Draw(t, "asked"))
		m.Step(0, engine.Input{
			Kind: engine.Answered, ID: wire.AttemptID{Client: 1, Request: 1, Try: 1},
			Reply: wire.Reply{Status: 429, Hint: wire.Hint{Form: wire.HintSeconds}}, NotBefore: asked,
		}, nil)
		least := asked
		if most := p.Retry.RetryAfterMax; most > 0 && asked.Duration() > most {
			switch p.Retry.RetryAfterOver {
			case engine.HintClamp:
				least = clock.Instant(most)
			case engine.HintIgnore:
				least = clock.Instant(p.Retry.Backoff.Base)
			case engine.HintGiveUp:
				least = clock.Never
			}
		}
		if at, ok := m.Deadline(); ok && at < least {
			t.Fatalf("retries at %d, asked for %d", at, asked)
		}
	})
}
