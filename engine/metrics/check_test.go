package metrics

import (
	"math"
	"testing"
	"time"

	"herdscope/engine/wire"
)

// TestCheckFindsWhatIsWrong breaks one thing at a time.
func TestCheckFindsWhatIsWrong(t *testing.T) {
	c := New(Config{Clients: 30, BreakersOn: true, Faults: []FaultPlan{{Name: "outage"}}})
	newTraffic(13, 30, 10*ms, c.Observe).run(5000)
	for name, spoil := range map[string]func(*Snapshot){
		"outcomes":       func(s *Snapshot) { s.Outcomes[wire.Failed]++ },
		"unfinished":     func(s *Snapshot) { s.Requests -= 1e6; s.Outcomes[0] -= 1e6 },
		"retries":        func(s *Snapshot) { s.Retries = s.Attempts + 1 },
		"in flight":      func(s *Snapshot) { s.InFlight = -1 },
		"waiting":        func(s *Snapshot) { s.Waiting++ },
		"breakers":       func(s *Snapshot) { s.Breakers.Counts[wire.Open]++ },
		"breaker total":  func(s *Snapshot) { s.Breakers.Total++; s.Breakers.Counts[0]++ },
		"percentiles":    func(s *Snapshot) { s.Now.P50 = s.Now.Max + 1 },
		"p99":            func(s *Snapshot) { s.Was = Headline{Count: 100, P50: 2, P99: 1, Max: 3} },
		"wait":           func(s *Snapshot) { s.Queues[1].P99 = s.Queues[1].Max + 1 },
		"oldest":         func(s *Snapshot) { s.Queues[1].Oldest = time.Hour },
		"not a number":   func(s *Snapshot) { s.Now.Chance = math.NaN() },
		"infinite":       func(s *Snapshot) { s.Notes[0].Times = math.Inf(1) },
		"share":          func(s *Snapshot) { s.Server.WastedShare = 1.1 },
		"server":         func(s *Snapshot) { s.Server.Arrivals++ },
		"backlog":        func(s *Snapshot) { s.Server.Backlog = -1; s.Server.Arrivals-- },
		"gap":            func(s *Snapshot) { s.Bins[3].Start++ },
		"no bins":        func(s *Snapshot) { s.Bins = nil },
		"last bin":       func(s *Snapshot) { s.At += 1e9 },
		"negative bin":   func(s *Snapshot) { s.Bins[3].Good = -1 },
		"order of notes": func(s *Snapshot) { s.Notes[1].At = s.Notes[0].At - 1 },
		"order of marks": func(s *Snapshot) { s.Marks[0].Until = s.Marks[0].At - 1 },
	} {
		s := c.Snapshot()
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		spoil(s)
		if s.Check() == nil {
			t.Errorf("%s: not found", name)
		}
	}
}

func TestSummaryCheckFindsWhatIsWrong(t *testing.T) {
	c := New(Config{Clients: 30})
	newTraffic(14, 30, 10*ms, c.Observe).run(5000)
	for name, spoil := range map[string]func(*Summary){
		"outcomes":     func(s *Summary) { s.Requests++ },
		"statuses":     func(s *Summary) { s.Statuses[200]++ },
		"latency":      func(s *Summary) { s.Latency[0].P90 = s.Latency[0].P99 + 1 },
		"wait":         func(s *Summary) { s.Waits[2].P50 = s.Waits[2].Max + 1 },
		"no count":     func(s *Summary) { s.Latency[1].Count = 0 },
		"oldest":       func(s *Summary) { s.Oldest[0] = s.Waits[0].Max + 1 },
		"arrivals":     func(s *Summary) { s.Herd.Arrivals = s.Arrivals + 1 },
		"rejected":     func(s *Summary) { s.Rejected = s.Arrivals + 1 },
		"share":        func(s *Summary) { s.BusyShare = -0.1 },
		"not a number": func(s *Summary) { s.Herd.Fano[2] = math.NaN() },
	} {
		s := c.Summary()
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		spoil(&s)
		if s.Check() == nil {
			t.Errorf("%s: not found", name)
		}
	}
}

func TestWorkers(t *testing.T) {
	c := New(Config{Clients: 4})
	work := func(kind wire.EventKind, now time.Duration, client int, e wire.Event) {
		e.Kind, e.At, e.ID, e.Fault = kind, at(now), id(client), wire.NoFault
		c.Observe(e)
	}
	for client := range 4 {
		work(wire.ServerArrived, 0, client, wire.Event{})
		work(wire.ServerBegan, 0, client, wire.Event{})
	}
	c.Advance(at(10 * time.Second))
	if s, _ := mustHold(t, c); s.Server.BusyShare != 0 || s.Server.Busy != 4 {
		t.Errorf("without a limit: %+v", s.Server)
	}
	c.SetWorkers(2) // lowers it under what is in service
	work(wire.ServerDone, 15*time.Second, 0, wire.Event{Delay: 15 * time.Second, Status: 200})
	work(wire.ServerDone, 15*time.Second, 1, wire.Event{Delay: 15 * time.Second, Status: 200, Wasted: true})
	work(wire.ServerDone, 20*time.Second, 2, wire.Event{Delay: 20 * time.Second, Status: 500})
	work(wire.ServerReset, 20*time.Second, 3, wire.Event{Delay: 20 * time.Second, Wasted: true})
	c.Advance(at(30 * time.Second))
	s, _ := mustHold(t, c)
	if v := s.Server; v.BusyShare != 0.5 || v.WastedShare != 55.0/70 || v.Busy != 0 || v.Backlog != 0 {
		t.Errorf("server is %+v", v)
	}
}

func TestReturnsAfterAHint(t *testing.T) {
	c := New(Config{Clients: 1})
	for _, d := range []time.Duration{-1, 0, ms, time.Second, time.Second + 1} {
		c.Observe(wire.Event{Kind: wire.ServerReturned, Delay: d})
	}
	if s := c.Summary(); s.Early != 1 || s.OnTime != 3 || s.Late != 1 {
		t.Errorf("early %d, on time %d, late %d", s.Early, s.OnTime, s.Late)
	}
}
