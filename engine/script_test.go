package engine_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/backoff"
	"herdscope/engine/breaker"
	"herdscope/engine/enginetest"

	"github.com/google/go-cmp/cmp"
)

var rewrite = flag.Bool("rewrite", false, "write what the machine does into the scripts")

// plain is the policy that the scripts start from: no jitter, no limits.
func plain() engine.Policy {
	return engine.Policy{
		Retry: engine.Retry{
			Attempts: 3, Network: true, Timeouts: true, RetryAfter: true,
			Backoff: backoff.Config{Base: time.Second, Cap: 10 * time.Second, Multiplier: 2000},
		},
		Breaker: breaker.Config{OpenFor: 10 * time.Second, Probes: 1, Successes: 1},
	}
}

// TestScripts plays every story in testdata: commands, a line ----, and what
// the machine does. Run with -rewrite to write down what it does now.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(text))
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(text), got); diff != "" && !*rewrite {
				t.Errorf("the machine does something else (-want +got):\n%s", diff)
			}
		})
	}
}

// play returns the script with what the machine really does.
func play(t *testing.T, text string) string {
	s := enginetest.NewScript(plain(), 1)
	var out strings.Builder
	for _, block := range strings.Split(strings.TrimSpace(text), "\n\n") {
		commands, _, _ := strings.Cut(block, "\n----")
		if out.Len() > 0 {
			out.WriteString("\n")
		}
		out.WriteString(commands + "\n")
		if strings.HasPrefix(commands, "#") && !strings.Contains(commands, "\n") {
			continue
		}
		out.WriteString("----\n")
		for _, command := range strings.Split(commands, "\n") {
			if strings.HasPrefix(command, "#") {
				continue
			}
			lines, err := s.Play(command)
			if err != nil {
				t.Errorf("%s: %v", command, err)
			}
			out.WriteString(lines)
		}
	}
	return out.String()
}
