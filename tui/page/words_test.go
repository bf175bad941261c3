package page_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/scenarios"
	"herdscope/tui/page"
	"herdscope/tui/page/pagetest"
	"herdscope/tui/widget"
)

// What is said in words is cut at no size that shows it beside other panels.
func TestNoSentenceIsCut(t *testing.T) {
	limited := func(s scenarios.Scenario, limit int) scenarios.Scenario {
		s.Fleet.Policy.Queue.Limit = limit
		return s
	}
	p := page.Pages()[0]
	for _, size := range sizes[:4] {
		for _, s := range []scenarios.Scenario{
			limited(pagetest.Scenario(), 0), limited(pagetest.Scenario(), 4),
			limited(pagetest.Gateway(), 0), limited(pagetest.Gateway(), 4),
		} {
			w, h := size.w, size.h-3
			v := viewFor(p, w, h, s, 14*time.Second, false)
			v.Snap.Recovery = metrics.Recovery{Why: "not yet recovered after 12.3 s"}
			got := frame(plain, w, h, p, v)
			for _, line := range strings.Split(got, "\n") {
				if strings.Contains(line, "…") && !strings.Contains(line, ".most ") {
					t.Errorf("%dx%d: %s", size.w, size.h, line)
				}
			}
		}
	}
}

// Wherever the load lies, its marker leaves the name of the zone to be read.
func TestTheMarkerLeavesTheZonesName(t *testing.T) {
	p := page.Pages()[0]
	for _, size := range sizes[:3] {
		v := viewFor(p, size.w, size.h-3, pagetest.Gateway(), 14*time.Second, false)
		for offered := 10.0; offered < 2000; offered *= 1.1 {
			v.Snap.Now.Offered = offered
			got := frame(plain, size.w, size.h-3, p, v)
			for _, name := range []string{" stable", " VULNERABLE", " overload "} {
				if !strings.Contains(got, name) || !strings.Contains(got, "●"+widget.Rate(offered)) {
					t.Fatalf("%dx%d: at %.0f/s it does not say%s in\n%s", size.w, size.h, offered, name, got)
				}
			}
		}
	}
}

// Where one scope has a limit of its own, and where all are paused, it is said
// whole.
func TestTheOrderSaysWhoseSlots(t *testing.T) {
	p := page.Pages()[3]
	s := pagetest.Scenario()
	s.Fleet.Policy.Queue.Limit = 4
	s.Fleet.Policy.Queue.Scope[0].Limit = 2
	v := viewFor(p, 160, 42, s, 14*time.Second, false)
	if got := frame(plain, 160, 42, p, v); !strings.Contains(got, "has its own ") {
		t.Errorf("got\n%s", got)
	}
	v.Snap.Paused = 20
	if got := frame(plain, 160, 42, p, v); !strings.Contains(got, "clients ") || strings.Contains(got, "scopes of …") {
		t.Errorf("got\n%s", got)
	}
}

// Outcomes that have no line of their own are counted all the same.
func TestEveryOutcomeIsCounted(t *testing.T) {
	p := page.Pages()[4]
	for _, h := range []int{42, 47, 60} {
		v := viewFor(p, 160, h, pagetest.Gateway(), 14*time.Second, false)
		for o := wire.Succeeded; int(o) < wire.NumOutcomes; o++ {
			v.Snap.Outcomes[o] = 700 + int64(o)
		}
		got := frame(plain, 160, h, p, v)
		for o := wire.Succeeded; int(o) < wire.NumOutcomes; o++ {
			if n := strconv.Itoa(700 + int(o)); !strings.Contains(got, n) {
				t.Errorf("160x%d: no %s of %s in\n%s", h, n, o, got)
			}
		}
	}
}

// A rule that is met while breakers only count is no transition.
func TestARuleThatOnlyCountsWouldOpen(t *testing.T) {
	p := page.Pages()[0]
	v := viewFor(p, 160, 42, pagetest.Gateway(), 14*time.Second, false)
	v.Snap.Breakers.Last = []wire.Event{{From: wire.MetricsOnly, To: wire.MetricsOnly}}
	got := frame(plain, 160, 42, p, v)
	if !strings.Contains(got, "c0 would open 0.0 s") || strings.Contains(got, "metrics only→") {
		t.Errorf("got\n%s", got)
	}
}

// Whoever waits for a limit of 0 is told so.
func TestQueuesSayThatTheyArePaused(t *testing.T) {
	p := page.Pages()[0]
	v := viewFor(p, 160, 42, pagetest.Scenario(), 14*time.Second, false)
	v.Snap.Paused = 12
	if got := frame(plain, 160, 42, p, v); !strings.Contains(got, "PAUSED by a limit of 0: 12 scopes of clients") {
		t.Errorf("got\n%s", got)
	}
}

// What waits for a connection is shown beside what waits for a slot and what is on
// the wire.
func TestConnectionsAreShownApart(t *testing.T) {
	p := page.Pages()[0]
	s := pagetest.Scenario()
	s.Fleet.Policy.Queue.Limit, s.Fleet.Policy.Transport.Conns = 4, 2
	v := viewFor(p, 200, 47, s, 14*time.Second, false)
	v.Snap.Sockets.Waiting = 77
	got := frame(plain, 200, 47, p, v)
	for _, want := range []string{", 77 for a connection", "77 unconnected"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// A server without a limit is not what hurts, and neither are herds, where the
// clients wait for slots of their own.
func TestStabilityNamesWhatHurts(t *testing.T) {
	p := page.Pages()[0]
	s := pagetest.Scenario()
	s.Server.Workers, s.Fleet.Policy.Queue.Limit = 0, 4
	got := frame(plain, 160, 42, p, viewFor(p, 160, 42, s, 14*time.Second, false))
	if !strings.Contains(got, "what hurts is 4 slots per client and scope, for which 138 wait") ||
		strings.Contains(got, "come together") {
		t.Errorf("got\n%s", got)
	}
}
