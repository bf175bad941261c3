package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"herdscope/scenarios"
)

// asProgram makes the test binary behave as herdscope, for tests that need a
// process: signals, closed streams, terminals.
const asProgram = "HERDSCOPE_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// call runs the program in this process.
func call(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = Main(args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

// TestMistakes: whatever is wrong is said in one line that helps, with code 2.
func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing.yaml")
	for _, tc := range []struct {
		args string
		says []string
	}{
		{"restrat", []string{`"restrat"`, "restart"}},
		{"run restrat", []string{`"restrat"`, "restart"}},
		{"run nothing-like-it", []string{"herdscope scenarios list"}},
		{"run", []string{"scenario"}},
		{"run restart starvation", []string{`"starvation"`}},
		{"restart starvation", []string{`"starvation"`}},
		{"run " + missing, []string{missing}},
		{"run " + dir, []string{dir}},
		{"scenaros", []string{"scenarios"}},
		{"verson", []string{"version"}},
		{"rum restart", []string{`"rum"`, "run"}},
		{"zzz restart", []string{`"zzz"`, "--help"}},
		{"scenarios lst", []string{`"lst"`, "list"}},
		{"scenarios list x", []string{`"x"`}},
		{"scenarios show", []string{"scenario"}},
		{"scenarios show restat", []string{"restart"}},
		{"knobs x", []string{`"x"`}},
		{"version x", []string{`"x"`}},
		{"help rnn", []string{`"rnn"`, "run"}},
		{"run restart --sed 1", []string{"--sed", "--seed"}},
		{"run restart --evnts f", []string{"--events"}},
		{"run restart --frobnicate", []string{"--frobnicate", "herdscope run --help"}},
		{"run restart -z", []string{"-z"}},
		{"run restart --seed", []string{"--seed", "value"}},
		{"run restart --seed -1", []string{`"-1"`, "whole number"}},
		{"run restart --seed 1.5", []string{`"1.5"`, "whole number"}},
		{"run restart --seed 0x10", []string{`"0x10"`}},
		{"run restart --seed 18446744073709551616", []string{"18446744073709551615"}},
		{"run restart --seed=", []string{"whole number"}},
		{"run restart --virtual=perhaps", []string{`"perhaps"`, "true or false"}},
		{"run restart --duration 10", []string{`"10"`, "10s"}},
		{"run restart --duration 0s", []string{`"0s"`}},
		{"run restart --duration -5s", []string{`"-5s"`}},
		{"run restart --duration NaN", []string{`"NaN"`}},
		{"run restart --set retry.jitter", []string{"knob=value"}},
		{"run restart --set =full", []string{`"=full"`, "knob=value"}},
		{"run restart --set retry.jiter=full", []string{"retry.jiter", "retry.jitter"}},
		{"run restart --set retry.jitter=ful", []string{"retry.jitter", `"ful"`, "none, full, equal", `"full"`}},
		{"run restart --set retry.attempts=0", []string{"retry.attempts", `"0"`, "1 to"}},
		{"run restart --set retry.base=5", []string{"retry.base", `"5"`, "5s"}},
		{"run restart --set retry.base=NaN", []string{"retry.base", "NaN"}},
		{"run restart --set retry.attempts=1e3", []string{"retry.attempts", "1e3"}},
		{"run restart --virtual --events -", []string{"--events"}},
		{"run restart --virtual --events=", []string{"--events", "file"}},
		{"run restart --virtual --events " + filepath.Join(dir, "no", "file"), []string{"--events", "no such file"}},
		{"--fps 0", []string{"--fps", `"0"`}},
		{"--fps 1000", []string{"--fps", `"1000"`}},
		{"serve --listen nonsense", []string{"--listen", "host:port"}},
		{"serve --listen 127.0.0.1:65536", []string{"--listen 127.0.0.1:65536", "0 to 65535"}},
		{"serve --listen 127.0.0.1:http", []string{"0 to 65535"}},
		{"serve --admin nonsense", []string{"--admin", "host:port"}},
		{"serve --admin 0.0.0.0:0", []string{"--admin 0.0.0.0:0", "--admin-token"}},
		{"serve --admin :0", []string{"--admin-token"}},
		{"serve --log " + filepath.Join(dir, "no", "file"), []string{"--log", "no such file"}},
		{"serve restrat", []string{"restart"}},
	} {
		t.Run(tc.args, func(t *testing.T) {
			code, out, err := call(strings.Fields(tc.args)...)
			if code != exitUsage || out != "" {
				t.Errorf("code %d, stdout %q; want %d and nothing", code, out, exitUsage)
			}
			if strings.Count(err, "\n") != 1 || !strings.HasSuffix(err, "\n") {
				t.Errorf("want one line, got %q", err)
			}
			for _, part := range tc.says {
				if !strings.Contains(err, part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

func TestScenarioFileErrorsNameThePlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bad.yaml")
	text := "version: 1\nname: bad\nretry:\n  jiter: full\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, err := call("run", path)
	for _, part := range []string{path + ":4:3", "jiter", "jitter"} {
		if !strings.Contains(err, part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	if code != exitUsage || strings.Count(err, "\n") != 1 {
		t.Errorf("code %d, %q", code, err)
	}
}

func TestScenarioFromTheStandardInput(t *testing.T) {
	for text, want := range map[string]int{
		"version: 1\nname: mine\n": exitOK, "version: 1\nnam: mine\n": exitUsage, "": exitUsage,
		strings.Repeat("# much too much\n", 1<<17): exitUsage,
	} {
		var out, complaint bytes.Buffer
		code := Main([]string{"scenarios", "show", "-"}, strings.NewReader(text), &out, &complaint)
		if code != want || strings.Contains(out.String(), "name: mine") != (want == exitOK) {
			t.Errorf("%.30q: code %d, %q, %q", text, code, out.String(), complaint.String())
		}
	}
}

func TestLists(t *testing.T) {
	_, text, _ := call("scenarios", "list")
	_, short, _ := call("scenarios")
	if text != short {
		t.Error("scenarios and scenarios list differ")
	}
	_, object, _ := call("scenarios", "list", "--json")
	var entries []entry
	if err := json.Unmarshal([]byte(object), &entries); err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(scenarios.Library()) || len(entries) < 4 {
		t.Errorf("%d scenarios listed, the library has %d", len(entries), len(scenarios.Library()))
	}
	for _, e := range entries {
		if !strings.Contains(text, e.Name) || !strings.Contains(text, e.Title) {
			t.Errorf("the list lacks %s", e.Name)
		}
		if e.Title == "" || e.Story == "" || e.Clients < 1 || e.DurationS <= 0 {
			t.Errorf("%s says too little: %+v", e.Name, e)
		}
	}
}

func TestKnobs(t *testing.T) {
	_, text, _ := call("knobs")
	_, object, _ := call("knobs", "--json")
	var entries []knobEntry
	if err := json.Unmarshal([]byte(object), &entries); err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(scenarios.Knobs()) {
		t.Errorf("%d knobs listed, there are %d", len(entries), len(scenarios.Knobs()))
	}
	for _, e := range entries {
		if e.Kind == "" || e.Allowed == "" || e.Doc == "" || !strings.Contains(text, e.Name) {
			t.Errorf("knob says too little, or is not in the text: %+v", e)
		}
	}
}

// TestShownScenarioCanBeRunAgain: show NAME > file, run file.
func TestShownScenarioCanBeRunAgain(t *testing.T) {
	for _, s := range scenarios.Library() {
		code, text, _ := call("scenarios", "show", s.Name)
		if code != exitOK {
			t.Fatalf("show %s: code %d", s.Name, code)
		}
		path := filepath.Join(t.TempDir(), s.Name+".yaml")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		code, again, stderr := call("scenarios", "show", path)
		if code != exitOK || again != text {
			t.Errorf("%s reads back differently: %s", s.Name, stderr)
		}
	}
}

func TestVersionAndHelp(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"--version"}} {
		if code, out, _ := call(args...); code != exitOK || !strings.HasPrefix(out, "herdscope ") {
			t.Errorf("%v: code %d, %q", args, code, out)
		}
	}
	for _, args := range [][]string{{"--help"}, {"help"}, {"help", "run"}, {"run", "--help"}, {"help", "scenarios", "show"}} {
		if code, out, err := call(args...); code != exitOK || !strings.Contains(out, "Usage:") || err != "" {
			t.Errorf("%v: code %d, stdout %q, stderr %q", args, code, out, err)
		}
	}
}

func TestStoppedRunSaysHowFarItCame(t *testing.T) {
	for _, tt := range []struct {
		at   time.Duration
		want string
	}{
		{3 * time.Second, "stopped at 3s of 12s; the summary covers that much"},
		{12 * time.Second, "stopped while the last requests ended; what was left of them is unfinished"},
		{12*time.Second + 9*time.Millisecond, // a live run looks at the clock every 10 ms
			"stopped while the last requests ended; what was left of them is unfinished"},
	} {
		if got := (&abortedError{tt.at, 12 * time.Second}).Error(); got != tt.want {
			t.Errorf("at %v: %q, want %q", tt.at, got, tt.want)
		}
	}
}

func TestErrorsBecomeCodes(t *testing.T) {
	for _, tc := range []struct {
		err  error
		code int
	}{
		{nil, exitOK},
		{usage("x"), exitUsage},
		{fmt.Errorf("y: %w", &scenarios.Error{Msg: "x"}), exitUsage},
		{&abortedError{time.Second, time.Minute}, exitAborted},
		{errors.Join(nil, &abortedError{}), exitAborted},
		{fmt.Errorf("write: %w", syscall.EPIPE), exitOK},
		{fmt.Errorf("write: %w", syscall.ENOSPC), exitEnvironment},
		{errors.New("anything"), exitEnvironment},
	} {
		if got := exitCode(tc.err); got != tc.code {
			t.Errorf("exitCode(%v) is %d, want %d", tc.err, got, tc.code)
		}
	}
}

// broken is a stream that fails.
type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

func TestOutputThatFails(t *testing.T) {
	for _, args := range [][]string{
		{"knobs"}, {"knobs", "--json"}, {"scenarios", "list"}, {"scenarios", "list", "--json"},
		{"scenarios", "show", "restart"}, {"version"},
	} {
		var stderr bytes.Buffer
		if code := Main(args, nil, broken{syscall.ENOSPC}, &stderr); code != exitEnvironment {
			t.Errorf("%v on a full disk: code %d", args, code)
		}
		stderr.Reset()
		if code := Main(args, nil, broken{syscall.EPIPE}, &stderr); code != exitOK || stderr.Len() > 0 {
			t.Errorf("%v into a closed pipe: code %d, %q", args, code, stderr.String())
		}
	}
}

func TestScreenTrouble(t *testing.T) {
	for _, tc := range []struct {
		in, out bool
		term    string
		fine    bool
	}{
		{true, true, "xterm-256color", true},
		{true, true, "linux", true},
		{false, true, "xterm", false},
		{true, false, "xterm", false},
		{false, false, "xterm", false},
		{true, true, "", false},
		{true, true, "dumb", false},
	} {
		if why := screenTrouble(tc.in, tc.out, tc.term); (why == "") != tc.fine {
			t.Errorf("in %v, out %v, TERM %q: %q", tc.in, tc.out, tc.term, why)
		}
	}
}

func TestDashboardWithoutATerminal(t *testing.T) {
	var stderr bytes.Buffer
	code := Main(nil, nil, io.Discard, &stderr)
	line := stderr.String()
	if code != exitUsage || strings.Count(line, "\n") != 1 || !strings.Contains(line, "herdscope run restart") {
		t.Errorf("code %d, %q", code, line)
	}
}

func TestExposed(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:0": false, "localhost:80": false, "[::1]:0": false, "127.9.9.9:1": false,
		":8080": true, "0.0.0.0:0": true, "[::]:0": true, "192.0.2.1:80": true, "example.org:80": true,
	} {
		if got, err := exposed("--listen", address); err != nil || got != want {
			t.Errorf("exposed(%q) is %v, %v; want %v", address, got, err, want)
		}
	}
}

func TestTailKeepsTheLast(t *testing.T) {
	var log tail
	for i := range 3 * tailLines {
		fmt.Fprintf(&log, "line %d\n", i)
	}
	var out bytes.Buffer
	log.show(&out)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != tailLines || !strings.HasSuffix(lines[tailLines-1], fmt.Sprint("line ", 3*tailLines-1)) {
		t.Errorf("kept %d lines, the last being %q", len(lines), lines[len(lines)-1])
	}
}
