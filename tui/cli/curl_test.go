package cli

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herdscope/engine/live"
	"herdscope/faultserver"
	"herdscope/faultserver/fault"
)

// TestReadmeTranscriptIsTrue runs the commands of the README's transcript against
// a server and compares what they print. It needs curl and a shell.
func TestReadmeTranscriptIsTrue(t *testing.T) {
	for _, tool := range []string{"curl", "sh"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	model, err := fault.New(fault.Config{}, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	clock := live.NewClock()
	clock.Resume()
	server, err := faultserver.Start(faultserver.Config{Model: model, Clock: clock, AdHoc: true})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	want := transcript(t)
	var got strings.Builder
	for line := range strings.Lines(want) {
		command, is := strings.CutPrefix(line, "$ ")
		if !is {
			continue
		}
		got.WriteString(line)
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Env = append(cmd.Environ(), "SERVER="+server.URL(), "no_proxy=127.0.0.1")
		out, _ := cmd.Output() // grep and curl have codes of their own
		text := strings.TrimRight(strings.ReplaceAll(string(out), "\r", ""), " \n")
		if text != "" {
			text += "\n"
		}
		got.WriteString(text)
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("the transcript (-README +here):\n%s", diff)
	}
}

// transcript is the block of the README that begins with a curl command.
func transcript(t *testing.T) string {
	t.Helper()
	_, rest, found := strings.Cut(readme(t), "```text\n$ curl")
	text, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatal("no transcript in the README")
	}
	return "$ curl" + text
}
