package run

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herdscope/engine/clock"
	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/faultserver"
	"herdscope/scenarios"
)

// TestGuestBook: what is told of foreign clients adds up as it does of a fleet.
func TestGuestBook(t *testing.T) {
	g := newGuestBook()
	c := metrics.New(metrics.Config{})
	const client = faultserver.FirstForeignClient + 5
	at := func(seconds float64) clock.Instant { return clock.Instant(seconds * 1e9) }
	id := func(request, try int) wire.AttemptID {
		return wire.AttemptID{Client: client, Request: wire.RequestID(request), Try: uint16(try)}
	}
	arrive := func(seconds float64, request, try int) {
		g.saw(wire.Event{Kind: wire.ServerArrived, At: at(seconds), ID: id(request, try), Class: wire.Critical}, c.Observe)
	}
	over := func(seconds float64, took time.Duration, request, try, status int, end faultserver.End) {
		g.over(faultserver.Arrival{At: at(seconds), Took: took, ID: id(request, try), Status: status, End: end}, c.Observe)
	}
	arrive(1, 1, 1)
	over(1, 0, 1, 1, 503, faultserver.Answered)
	arrive(2, 1, 2)
	over(2, 500*time.Millisecond, 1, 2, 200, faultserver.Answered) // 1.5 s after it began
	arrive(3, 3, 1)
	over(3, 0, 3, 1, 404, faultserver.Answered) // nobody tries that again
	arrive(4, 4, 1)
	over(4, 0, 4, 1, 0, faultserver.WasReset)
	arrive(5, 5, 1) // hangs
	over(5, 0, 99, 1, 409, faultserver.Answered)

	c.Advance(at(6))
	s := c.Snapshot()
	if s.Requests != 4 || s.Attempts != 5 || s.Retries != 1 || s.InFlight != 1 || s.Sleeping != 1 {
		t.Errorf("requests %d, attempts %d, retries %d, in flight %d, may come back %d; want 4, 5, 1, 1, 1",
			s.Requests, s.Attempts, s.Retries, s.InFlight, s.Sleeping)
	}
	g.giveUp(at(4).Add(faultserver.RetryWindow)+1, c.Observe)
	summary := c.Summary()
	want := [wire.NumOutcomes]int64{wire.Unfinished: 1, wire.Succeeded: 1, wire.Failed: 2}
	if diff := cmp.Diff(want, summary.Outcomes); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if got := summary.Latency[wire.Critical]; got.Count != 1 || got.Max < 1490*time.Millisecond || got.Max > 1510*time.Millisecond {
		t.Errorf("latency %+v, want one of 1.5 s", got)
	}
	if len(g.open) != 1 || len(g.failed) != 0 {
		t.Errorf("%d open, %d failed are remembered, want 1 and 0", len(g.open), len(g.failed))
	}
}

// openForeign is a session for foreign clients, and a function that calls it.
func openForeign(t *testing.T) (*Session, func(method, url, body string) int) {
	t.Helper()
	session, err := Open(scenarios.Default(), Options{Foreign: &Foreign{Admin: faultserver.DefaultAddr}})
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	return session, func(method, url, body string) int {
		t.Helper()
		r, err := http.NewRequest(method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(faultserver.ClientHeader, "shop")
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		return response.StatusCode
	}
}

func TestForeignTrafficIsWatchedAndSteered(t *testing.T) {
	session, call := openForeign(t)
	faults := session.AdminURL() + "/_fault/faults"
	if got := call("POST", faults, `{"name": "burst", "kind": "errors"}`); got != 201 {
		t.Fatalf("create: status %d", got)
	}
	if got := call("GET", session.Target(), ""); got != 503 {
		t.Errorf("with the fault: status %d, want 503", got)
	}
	if f := session.Scenario().Server.Faults; len(f) != 1 || f[0].Name != "burst" {
		t.Errorf("the scenario has the faults %+v, want burst", f)
	}
	do := scenarios.Action{Kind: scenarios.DoFault, Fault: "burst", Do: wire.FaultOff}
	if err := session.Do(do); err != nil {
		t.Fatal(err)
	}
	eventually(t, session, "the fault is off", func(s *metrics.Snapshot) bool {
		return len(s.Faults) == 1 && !s.Faults[0].On && s.Faults[0].Hits == 1
	})
	if got := call("GET", session.Target(), ""); got != 200 {
		t.Errorf("after the fault: status %d, want 200", got)
	}
	if got := call("DELETE", faults+"/burst", ""); got != 200 {
		t.Errorf("delete: status %d", got)
	}
	eventually(t, session, "the request is done", func(s *metrics.Snapshot) bool {
		return len(s.Faults) == 0 && s.Clients == 1 && s.Requests == 1 && s.Attempts == 2 && s.Retries == 1 &&
			s.Outcomes[wire.Succeeded] == 1
	})
	if f := session.Scenario().Server.Faults; len(f) != 0 {
		t.Errorf("the scenario still has the faults %+v", f)
	}
	if err := session.Do(do); err == nil {
		t.Error("a fault that has gone can be switched")
	}
	set := scenarios.Action{Kind: scenarios.SetKnob, Knob: "retry.attempts", Value: 2}
	if err := session.Do(set); !errors.Is(err, errForeign) {
		t.Errorf("a setting of the clients: %v, want %v", err, errForeign)
	}
	if s := session.Status(); !s.Foreign || !s.Live {
		t.Errorf("status %+v, want foreign and live", s)
	}
}

// What the admin API has changed is saved, and its reset takes it back.
func TestForeignScenarioFollowsTheAdminAPI(t *testing.T) {
	session, call := openForeign(t)
	before := session.Scenario()
	for _, fields := range []string{
		`"name": "burst", "kind": "errors", "share": 0.25, "path": "/pay"`,
		`"name": "later", "kind": "outage", "how": "black-hole", "start": "1h", "length": "5s", "every": "10s"`,
	} {
		if got := call("POST", session.AdminURL()+"/_fault/faults", "{"+fields+"}"); got != 201 {
			t.Fatalf("create %s: status %d", fields, got)
		}
	}
	if got := call("PATCH", session.AdminURL()+"/_fault/knobs", `{"server.workers": 7}`); got != 200 {
		t.Fatalf("change a knob: status %d", got)
	}
	s := session.Scenario()
	if s.Server.Workers != 7 || len(s.Server.Faults) != len(before.Server.Faults)+2 {
		t.Errorf("workers %d, faults %+v", s.Server.Workers, s.Server.Faults)
	}
	text, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	back, err := scenarios.Parse("saved.yaml", text)
	if diff := cmp.Diff(s.Server.Faults, back.Server.Faults); err != nil || diff != "" {
		t.Errorf("%v; the faults that were saved (-running +saved):\n%s", err, diff)
	}
	if got := call("POST", session.AdminURL()+"/_fault/reset", ""); got != 200 {
		t.Fatalf("reset: status %d", got)
	}
	after := session.Scenario()
	if diff := cmp.Diff(before.Server.Faults, after.Server.Faults, cmpopts.EquateEmpty()); diff != "" ||
		after.Server.Workers != before.Server.Workers {
		t.Errorf("after the reset %d workers, faults (-before +after):\n%s", after.Server.Workers, diff)
	}
}

func eventually(t *testing.T, session *Session, what string, is func(*metrics.Snapshot) bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if is(session.Latest()) {
			return
		}
	}
	t.Fatalf("never: %s; now %+v", what, session.Latest())
}
