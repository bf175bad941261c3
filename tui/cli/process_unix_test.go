//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// healthy is the file of a scenario whose server answers at once.
func healthy(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "healthy.yaml")
	text := "version: 1\nname: healthy\nserver: {service: {mean: 1ms}}\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestServeAnswersAndStops(t *testing.T) {
	cmd := program(t, "serve", healthy(t))
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

// TestServeLogsAndIsSteered drives a server from outside: its log has what came,
// its admin API changes what comes next, and a black hole does not hold it up.
func TestServeLogsAndIsSteered(t *testing.T) {
	arrivals := filepath.Join(t.TempDir(), "arrivals")
	cmd := program(t, "serve", healthy(t), "--log", arrivals)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var url, admin string
	if _, err := fmt.Fscan(stdout, &url, &admin); err != nil {
		t.Fatal(err)
	}
	send := func(method, url, body string) int {
		r, err := http.NewRequest(method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Client-Id", "shop")
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		text, err := io.ReadAll(reply.Body)
		if err != nil || reply.StatusCode == 400 {
			t.Errorf("%s %s: %s, %v", method, url, text, err)
		}
		return reply.StatusCode
	}
	burst := `{"name": "burst", "kind": "errors", "status": 502, "length": "1h"}`
	for _, step := range []struct {
		method, url, body string
		want              int
	}{
		{"GET", url + "/a?b=c", "", 200},
		{"POST", admin + "/_fault/faults", burst, 201},
		{"GET", url + "/a", "", 502},
		{"DELETE", admin + "/_fault/faults/burst", "", 200},
		{"PATCH", admin + "/_fault/knobs", `{"server.service.shape": "fixed", "server.service.mean": "1h"}`, 200},
	} {
		if got := send(step.method, step.url, step.body); got != step.want {
			t.Fatalf("%s %s: status %d, want %d", step.method, step.url, got, step.want)
		}
	}
	go func() {
		if reply, err := http.Get(url); err == nil {
			reply.Body.Close()
		}
	}()
	eventually(t, "a request hangs", func() bool {
		reply, err := http.Get(admin + "/_fault/stats")
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		var stats struct{ Open int }
		return json.NewDecoder(reply.Body).Decode(&stats) == nil && stats.Open == 1
	})
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := ended(t, cmd); code != exitOK {
		t.Errorf("code %d, want %d", code, exitOK)
	}
	checkArrivals(t, arrivals)
}

// checkArrivals looks at what the log of TestServeLogsAndIsSteered says.
func checkArrivals(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		var v arrivalLine
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		status, fault := 0, "-"
		if v.Status != nil {
			status = *v.Status
		}
		if v.Fault != nil {
			fault = *v.Fault
		}
		got = append(got, fmt.Sprint(v.Client, v.Request, v.Try, v.Method, v.Path, v.End, status, fault))
	}
	want := []string{
		fmt.Sprint("shop", 1, 1, "GET", "/a?b=c", "answered", 200, "-"),
		fmt.Sprint("shop", 2, 1, "GET", "/a", "answered", 502, "burst"),
		fmt.Sprint("127.0.0.1", 1, 1, "GET", "/", "closed", 0, "-"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arrivals (-want +got):\n%s", diff)
	}
}

// A port that only the system may use is one clear error (P-E2).
func TestServeOnAPrivilegedPort(t *testing.T) {
	if l, err := net.Listen("tcp", "127.0.0.1:81"); err == nil {
		l.Close()
		t.Skip("this process may use any port")
	}
	code, _, complaint := call("serve", "restart", "--listen", "127.0.0.1:81")
	if code != exitEnvironment || !strings.Contains(complaint, "127.0.0.1:81") || strings.Count(complaint, "\n") != 1 {
		t.Errorf("code %d, %q", code, complaint)
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
