package scenarios

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

func TestDefaultIsInOrder(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Error(err)
	}
}

func TestKnobNamesAreUnique(t *testing.T) {
	if len(settingOf) != len(settings) || len(knobAt) != len(settings) {
		t.Errorf("%d knobs, %d names, %d places in a file", len(settings), len(settingOf), len(knobAt))
	}
}

func TestKnobsAreDescribed(t *testing.T) {
	for _, k := range Knobs() {
		if k.Doc == "" || !strings.Contains(k.Name, ".") {
			t.Errorf("knob %+v", k)
		}
	}
}

// TestSettingsHaveTheMachinesOwnIndex sends each knob to the machine that it
// names, under the index that it gives, and reads it back from the scenario.
func TestSettingsHaveTheMachinesOwnIndex(t *testing.T) {
	for _, k := range append(Settings(), Default().ScopeSettings()...) {
		s := Default()
		before := k.get(&s)
		changed := k.Stepped(before, 1)
		if changed == before {
			t.Fatalf("%s: a press changes nothing", k.Name)
		}
		switch k.Owner {
		case OwnerPolicy, OwnerFleet:
			fleet.ApplyKnob(&s.Fleet, k.Index, changed)
		case OwnerServer:
			fault.Fields[k.Index].Set(&s.Server, changed)
		case OwnerNetwork:
			if !k.Fixed {
				t.Errorf("%s has no machine, yet is not fixed", k.Name)
			}
			continue
		}
		if got, err := s.Value(k.Name); err != nil || got != changed {
			t.Errorf("%s = %d, %v, want %d", k.Name, got, err, changed)
		}
	}
}

func TestSet(t *testing.T) {
	s := Default()
	for _, change := range [][2]string{
		{"retry.jitter", "none"}, {"retry.base", "30s"}, {"server.workers", "20"},
		{"mix.critical.weight", "3"}, {"network.delay", "2ms"}, {"fleet.clients", "7"},
	} {
		if err := s.Set(change[0], change[1]); err != nil {
			t.Error(err)
		}
	}
	want := Default()
	want.Fleet.Policy.Retry.Backoff.Jitter = 0
	want.Fleet.Policy.Retry.Backoff.Base = 30 * time.Second
	want.Server.Workers = 20
	want.Fleet.Mix[wire.Critical].Weight = 3
	want.NetworkDelay = 2 * time.Millisecond
	want.Fleet.Clients = 7
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err := s.Validate(); err == nil {
		t.Error("Validate accepts a base over the cap")
	}
}

func TestSetErrors(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"retry.jiter", "full", `retry.jiter: there is no such knob; did you mean "retry.jitter"?`},
		{"jitter", "full", `jitter: there is no such knob; did you mean "retry.jitter"?`},
		{"nonsense", "1", `nonsense: there is no such knob`},
		{"retry.jitter", "ful", `retry.jitter: "ful" is not among the choices; ` +
			`allowed: one of none, full, equal, decorrelated, additive, proportional, spread, ` +
			`minus, v2; did you mean "full"?`},
		{"queue.critical.most", "0", `queue.critical.most: "0" could be read either way; write unlimited; ` +
			`allowed: 1 to 1000000, or unlimited`},
	}
	for _, tt := range tests {
		s := Default()
		err := s.Set(tt.name, tt.text)
		var e *Error
		if !errors.As(err, &e) || err.Error() != tt.want {
			t.Errorf("Set(%q, %q)\n got %v\nwant %s", tt.name, tt.text, err, tt.want)
		}
		if diff := cmp.Diff(Default(), s); diff != "" {
			t.Errorf("a refused change is made\n%s", diff)
		}
	}
	s := Default()
	var refused *knob.Error
	if err := s.SetValue("retry.attempts", 0); !errors.As(err, &refused) || refused.Knob != "retry.attempts" {
		t.Errorf("SetValue = %v, want the knob's own error behind it", err)
	}
	if _, err := s.Value("nonsense"); err == nil {
		t.Error("Value of a knob that does not exist")
	}
}

func TestAfter(t *testing.T) {
	s := builtin(t, "restart")
	got, err := s.After(Action{Kind: SetKnob, Knob: "retry.jitter", Value: 1})
	if err != nil || got.Fleet.Policy.Retry.Backoff.Jitter != 1 {
		t.Errorf("jitter = %v, %v", got.Fleet.Policy.Retry.Backoff.Jitter, err)
	}
	if _, err := s.After(Action{Kind: DoFault, Fault: "restart", Do: wire.FaultNow}); err != nil {
		t.Error(err)
	}
	tests := []struct {
		action Action
		want   string
	}{
		{Action{Kind: SetKnob, Knob: "fleet.clients", Value: 5},
			`fleet.clients: is fixed while a run goes on; set it beforehand`},
		{Action{Kind: SetKnob, Knob: "retry.cap", Value: int64(time.Second)},
			`retry.cap: "1s" is below retry.base; allowed: 1.2s or more`},
		{Action{Kind: SetKnob, Knob: "mix.interactive.weight"},
			`classes.interactive.weight: "0" leaves no class a weight; allowed: 1 to 1000 for at least one class`},
		{Action{Kind: DoFault, Fault: "restrat"},
			`fault: "restrat" does not exist; allowed: restart; did you mean "restart"?`},
		{Action{Kind: DoFault, Fault: "restart", Do: 9}, `restart: cannot be done to a fault: unknown(9)`},
	}
	for _, tt := range tests {
		if _, err := s.After(tt.action); err == nil || err.Error() != tt.want {
			t.Errorf("After(%v)\n got %v\nwant %s", tt.action, err, tt.want)
		}
	}
	if diff := cmp.Diff(builtin(t, "restart"), s); diff != "" {
		t.Errorf("After changes its receiver\n%s", diff)
	}
}

func TestActionString(t *testing.T) {
	tests := []struct {
		action Action
		want   string
	}{
		{Action{Kind: SetKnob, Knob: "retry.jitter", Value: 1}, "jitter=full"},
		{Action{Kind: SetKnob, Knob: "queue.critical.most", Value: 3}, "critical.most=3"},
		{Action{Kind: SetKnob, Knob: "queue.limit"}, "limit=unlimited"},
		{Action{Kind: SetKnob, Knob: "breaker.open_for", Value: int64(10 * time.Second)}, "open_for=10s"},
		{Action{Kind: SetKnob, Knob: "arrival.rate", Value: 200_000}, "rate=200/s"},
		{Action{Kind: SetKnob, Knob: "no.such"}, "such"},
		{Action{Kind: DoFault, Fault: "outage", Do: wire.FaultNow}, "outage now"},
	}
	for _, tt := range tests {
		if got := tt.action.String(); got != tt.want {
			t.Errorf("String() = %q, want %q", got, tt.want)
		}
	}
}

func TestWithActionsSorts(t *testing.T) {
	at := func(seconds int, value int64) Action {
		return Action{At: clock.Instant(seconds) * clock.Instant(time.Second), Knob: "retry.attempts", Value: value}
	}
	s := Default()
	s.Timeline = []Action{at(5, 1), at(9, 2)}
	got := s.WithActions([]Action{at(7, 3), at(5, 4), at(1, 5)})
	want := []Action{at(1, 5), at(5, 1), at(5, 4), at(7, 3), at(9, 2)}
	if diff := cmp.Diff(want, got.Timeline); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(s.Timeline) != 2 {
		t.Error("WithActions changes its receiver")
	}
}

func TestTimelineHasAnEnd(t *testing.T) {
	s := Default().WithActions(make([]Action, maxActions+1))
	want := "timeline: has 3001 actions; allowed: 3000"
	if err := s.Validate(); err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}

// TestLongestTimelineCanBeRead: a session that was saved can be played again,
// however long it was.
func TestLongestTimelineCanBeRead(t *testing.T) {
	actions := make([]Action, maxActions)
	for i := range actions {
		actions[i] = Action{At: clock.Instant(i * 1e6), Kind: SetKnob, Knob: "retry.attempts", Value: 5}
	}
	text, err := Default().WithActions(actions).YAML()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse("f", text)
	if err != nil || len(got.Timeline) != maxActions {
		t.Errorf("%d actions, %v", len(got.Timeline), err)
	}
}

func TestFileName(t *testing.T) {
	taken := map[string]bool{"restart-1.yaml": true, "restart-2.yaml": true, "restart-4.yaml": true}
	s := Scenario{Name: "restart"}
	if got := FileName(s, func(name string) bool { return taken[name] }); got != "restart-3.yaml" {
		t.Errorf("FileName = %q, want restart-3.yaml", got)
	}
}

func TestPanel(t *testing.T) {
	closed, open := builtin(t, "restart").Panel(), builtin(t, "starvation").Panel()
	first := []string{
		"retry.jitter", "retry.attempts", "retry.base", "retry.cap", "retry.preset",
		"queue.limit", "queue.critical.most", "queue.interactive.most", "queue.background.most",
		"queue.order", "breaker.failures", "breaker.open_for", "budget.kind", "limiter.kind",
		"arrival.think", "server.workers",
	}
	if diff := cmp.Diff(first, closed[:len(first)]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if open[14] != "arrival.rate" || slices.Contains(open, "arrival.think") || slices.Contains(closed, "arrival.rate") {
		t.Error("the panel shows the knobs of the other kind of arrival")
	}
	for _, k := range Settings() {
		shown := slices.Contains(closed, k.Name) || slices.Contains(open, k.Name)
		if shown == k.Fixed {
			t.Errorf("%s: fixed %v, shown %v", k.Name, k.Fixed, shown)
		}
	}
	if slices.Sort(closed); len(slices.Compact(closed)) != len(closed) {
		t.Error("a knob is shown twice")
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good.yaml")
	if err := os.WriteFile(good, []byte(head), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := Load(good); err != nil || s.Name != "x" {
		t.Errorf("Load = %q, %v", s.Name, err)
	}
	missing := filepath.Join(dir, "missing.yaml")
	_, err := Load(missing)
	if want := missing + ": cannot be read: no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v is not os.ErrNotExist", err)
	}
	_, err = Load(dir)
	if want := dir + ": cannot be read: it is a directory, not a file"; err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}

// TestLoadStopsReading: a file without an end is refused, not read.
func TestLoadStopsReading(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("no /dev/zero")
	}
	want := "/dev/zero: is too large; a scenario may have 1 MB"
	if _, err := Load("/dev/zero"); err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}

func TestLoadReadsStandardInput(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if _, err := write.WriteString("version: 1\nname: Bad\n"); err != nil {
		t.Fatal(err)
	}
	write.Close()
	defer func(old *os.File) { os.Stdin = old }(os.Stdin)
	os.Stdin = read
	_, err = Load("-")
	if err == nil || !strings.HasPrefix(err.Error(), "stdin:2:7: name: ") {
		t.Errorf("error = %v", err)
	}
}

// TestValidateChecksWhatFilesCannotSay: scenarios are also made by programs.
func TestValidateChecksWhatFilesCannotSay(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(*Scenario)
		want  string
	}{
		{"no routes", func(s *Scenario) { s.Routes = nil }, "routes: there must be 1 to 16"},
		{"many scopes", func(s *Scenario) { s.Scopes = make([]string, 5) }, "scopes: there must be 1 to 4"},
		{"no such route", func(s *Scenario) { s.Fleet.Mix[2].Route = 7 },
			"classes.background: refers to a route or scope that does not exist"},
		{"kind", func(s *Scenario) { s.Server.Faults = []fault.Fault{{Name: "a", Kind: 99}} },
			"faults[0].kind: there is no kind unknown(99); allowed: outage, errors, latency, quota, capacity, close, reset, truncated, garbage, bad-chunk, drip, slow-header, idle-close"},
		{"long title", func(s *Scenario) { s.Title = strings.Repeat("a", 121) },
			"title: is longer than 120 bytes"},
		{"title with space", func(s *Scenario) { s.Title = " a" }, "title: has spaces at its ends"},
		{"many faults", func(s *Scenario) { s.Server.Faults = make([]fault.Fault, 65) },
			"faults: there are more than 64"},
		{"effect of another kind", func(s *Scenario) {
			s.Server.Faults = []fault.Fault{{Name: "a", Length: time.Second, Status: 500}}
		}, "faults[0].status: does not belong to a fault of the kind outage; " +
			"allowed: name, kind, manual, start, length, every, clients, how, service, path, header, methods, classes"},
		{"timeline out of order", func(s *Scenario) {
			s.Timeline = []Action{{At: 2, Knob: "retry.attempts", Value: 1}, {At: 1}}
		}, "at: the timeline is not in order of time"},
		{"before the run", func(s *Scenario) { s.Timeline = []Action{{At: -1}} },
			`at: the timeline is not in order of time`},
		{"class knob", func(s *Scenario) { s.Fleet.Policy.Queue.Class[0] = engine.ClassQueue{Most: -1} },
			`classes.critical.most: "-1" is out of range; allowed: 1 to 1000000, or unlimited`},
		{"server knob", func(s *Scenario) { s.Server.Workers = -1 },
			`server.workers: "-1" is out of range; allowed: 1 to 1000000, or unlimited`},
		{"network", func(s *Scenario) { s.NetworkDelay = -1 },
			`network.delay: "-1ns" is out of range; allowed: 0s to 1m`},
	}
	for _, tt := range tests {
		s := Default()
		tt.spoil(&s)
		if err := s.Validate(); err == nil || err.Error() != tt.want {
			t.Errorf("%s:\n got %v\nwant %s", tt.name, err, tt.want)
		}
	}
}
