package run

import (
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/scenarios"
)

// pressed is ten clients with six slots for each of two classes and a few
// connections, who ask for more than these can carry.
func pressed(t *testing.T, settings ...string) scenarios.Scenario {
	t.Helper()
	s := scenarios.Default()
	s.Name = "pressed"
	settings = append([]string{
		"fleet.clients", "10", "arrival.kind", "poisson", "arrival.rate", "400", "retry.attempts", "2",
		"mix.critical.weight", "1", "server.service.mean", "60ms", "server.service.shape", "exponential",
		"queue.limit", "6", "queue.capacity", "20", "transport.conns", "2",
	}, settings...)
	for i := 0; i < len(settings); i += 2 {
		if err := s.Set(settings[i], settings[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	s.Duration, s.Drain = 10*time.Second, time.Minute
	return s
}

// TestSocketWaitsAreShownApart: attempts run into their timeouts before they are
// on the wire, where others without one are; the server never sees those, and every sum still holds.
func TestSocketWaitsAreShownApart(t *testing.T) {
	s := pressed(t, "mix.critical.timeout", "150ms", "server.service.mean", "150ms")
	r := checked(t, s)
	sum := r.Summary
	if sum.Sockets.Unsent < 100 || sum.Sockets.Waits.Count < sum.Sockets.Unsent || sum.Arrivals != sum.Attempts {
		t.Errorf("%+v; %d sent, %d arrived", sum.Sockets, sum.Attempts, sum.Arrivals)
	}
}

// TestSocketWaitIsAPartOfTheTime: what a request waits for a connection is neither
// queue nor wire.
func TestSocketWaitIsAPartOfTheTime(t *testing.T) {
	snap := watched(t, pressed(t), 10*time.Second, metrics.Watch{HeatRows: 4, HeatCols: 4})
	l := snap.Latency.Classes[wire.Critical]
	mean := l.Spent[metrics.PartWire] / time.Duration(max(1, l.Ended))
	if l.Spent[metrics.PartSocket] == 0 || mean > 70*time.Millisecond {
		t.Errorf("%v for a connection, %v on the wire each", l.Spent[metrics.PartSocket], mean)
	}
	if snap.Sockets.Waiting < 20 || snap.InFlight > 20 {
		t.Errorf("%d wait for a connection, %d on the wire", snap.Sockets.Waiting, snap.InFlight)
	}
}

// TestServerSeesNoMoreThanTheConnections in either driver: the machine gives them
// away, and net/http has no say.
func TestServerSeesNoMoreThanTheConnections(t *testing.T) {
	s := pressed(t, "fleet.clients", "1", "arrival.rate", "200", "queue.capacity", "unlimited",
		"server.service.shape", "fixed", "server.service.mean", "30ms")
	s.Duration = time.Second
	var virtual, live busiest
	runVirtual(t, s, &virtual)
	r := runLive(t, s, &live)
	if virtual.most != 2 || live.most != 2 {
		t.Errorf("at most %d at once in virtual time, %d live, on 2 connections", virtual.most, live.most)
	}
	if r.Summary.Sockets.Waits.Count == 0 || r.Summary.Arrivals != r.Summary.Attempts {
		t.Errorf("live: %+v", r.Summary.Sockets)
	}
}

// TestConnectionsMoveWhileTheRunGoesOn: more of them empty the line.
func TestConnectionsMoveWhileTheRunGoesOn(t *testing.T) {
	s := pressed(t)
	s.Timeline = []scenarios.Action{{
		At: clock.Instant(5 * time.Second), Kind: scenarios.SetKnob, Knob: "transport.conns", Value: 6,
	}}
	before := watched(t, pressed(t), 8*time.Second, metrics.Watch{}).Sockets.Waiting
	r := checked(t, s)
	if before < 20 || r.Summary.Outcomes[wire.Shed] == 0 {
		t.Errorf("%d waited on 2 connections, %v", before, r.Summary.Outcomes)
	}
	if still := checked(t, pressed(t)).Summary.Outcomes[wire.Shed]; r.Summary.Outcomes[wire.Shed] > still*3/4 {
		t.Errorf("%d shed with 6 connections from the middle on, %d without", r.Summary.Outcomes[wire.Shed], still)
	}
}
