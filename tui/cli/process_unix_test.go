//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"herdscope/scenarios"
)

// patience is far longer than anything here takes, so that a slow machine fails
// no test and a hang fails one.
const patience = time.Minute

// program is herdscope as a process of its own, to be started.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1", "TERM=xterm-256color")
	cmd.WaitDelay = patience
	return cmd
}

// shell runs a script in which $0 is herdscope.
func shell(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	cmd := program(t)
	cmd.Args = []string{"sh", "-c", script, cmd.Path}
	cmd.Path = "/bin/sh"
	return cmd
}

// ended is the exit code of a process that has ended; -1 is a signal.
func ended(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	stuck := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	if !stuck.Stop() {
		t.Fatalf("%v did not end", cmd.Args)
	}
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

func TestCtrlCStopsARunAndKeepsItsSummary(t *testing.T) {
	events := filepath.Join(t.TempDir(), "events")
	cmd := program(t, "run", "restart", "--set", "fleet.clients=20", "--duration", "10m", "--json", "--events", events)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the run begins", func() bool { _, err := os.Stat(events); return err == nil })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := ended(t, cmd); code != exitAborted {
		t.Errorf("code %d, want %d", code, exitAborted)
	}
	if line := complaint.String(); strings.Count(line, "\n") != 1 || !strings.Contains(line, "stopped") {
		t.Errorf("stderr is %q", line)
	}
	var summary struct {
		Aborted  bool
		Scenario string
	}
	if err := json.Unmarshal(out.Bytes(), &summary); err != nil || !summary.Aborted || summary.Scenario != "restart" {
		t.Errorf("summary %+v, %v, of %q", summary, err, out.String())
	}
}

func TestServeAnswersAndStops(t *testing.T) {
	cmd := program(t, "serve", "restart")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.Get(strings.TrimSpace(url))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, reply.Body)
	reply.Body.Close()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := ended(t, cmd); code != exitOK {
		t.Errorf("code %d", code)
	}
}

func TestServeOnABusyPort(t *testing.T) {
	first := program(t, "serve", "restart")
	out, err := first.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimPrefix(strings.TrimSpace(url), "http://")
	code, _, complaint := call("serve", "restart", "--listen", address)
	if code != exitEnvironment || !strings.Contains(complaint, address) || strings.Count(complaint, "\n") != 1 {
		t.Errorf("code %d, %q", code, complaint)
	}
	_ = first.Process.Signal(os.Interrupt)
	if code := ended(t, first); code != exitOK {
		t.Errorf("the first ends with code %d", code)
	}
}

// TestReaderThatHasSeenEnough is `herdscope knobs | head -1`: a quiet end.
func TestReaderThatHasSeenEnough(t *testing.T) {
	for _, args := range [][]string{
		{"knobs"},
		{"run", "restart", "--virtual", "--duration", "2s", "--events", "/dev/stdout"},
	} {
		cmd := program(t, args...)
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var complaint bytes.Buffer
		cmd.Stdout, cmd.Stderr = writer, &complaint
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		writer.Close()
		if _, err := bufio.NewReaderSize(reader, 16).ReadByte(); err != nil {
			t.Fatal(err)
		}
		reader.Close()
		if code := ended(t, cmd); code > 0 || complaint.Len() > 0 {
			t.Errorf("%v: code %d, stderr %q", args, code, complaint.String())
		}
	}
}

func TestTooFewFilesForALiveRun(t *testing.T) {
	cmd := shell(t, `ulimit -n 256 && exec "$0" run restart`)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if code := ended(t, cmd); code != exitEnvironment {
		t.Errorf("code %d, want %d", code, exitEnvironment)
	}
	for _, part := range []string{"2064", "256", "--virtual"} {
		if !strings.Contains(complaint.String(), part) {
			t.Errorf("%q does not name %s", complaint.String(), part)
		}
	}
}

func TestTheLimitOfFilesIsRaised(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if before.Max < 1024 {
		t.Skipf("the hard limit is %d", before.Max)
	}
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before) })
	low := before
	low.Cur = 128
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	var s scenarios.Scenario
	s.Fleet.Clients = 200
	if err := allowLive(s); err != nil {
		t.Fatal(err)
	}
	var after syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &after); err != nil || after.Cur < 464 {
		t.Errorf("the limit is %d, %v", after.Cur, err)
	}
}
