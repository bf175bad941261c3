package fault

import (
	"strings"
	"testing"
	"time"

	"herdscope/engine/wire"
)

// one is a server of one fault that is on from 1 s to 2 s.
func one(f Fault) Config {
	f.Name, f.Start, f.Length = "f", s, s
	return Config{Workers: 1, Service: Service{Mean: 100 * ms}, Faults: []Fault{f}}
}

func of(k Kind, change func(*Fault)) Fault {
	f := NewFault(k)
	if change != nil {
		change(&f)
	}
	return f
}

// kindScript is what one attempt meets at 1.1 s in a fault that is on from 1 s to
// 2 s.
type kindScript struct {
	name  string
	fault Fault
	want  []string
}

func kindScripts() []kindScript {
	const arrived, began, done = "1.1s   server_arrived c0001/1#1", "1.1s   server_began c0001/1#1",
		"1.2s   server_done c0001/1#1 delay=100ms status=200"
	const struck = "1.2s   fault_struck c0001/1#1 cause=fault fault=0"
	ended := func(reply string) []string { return []string{arrived, began, reply, struck, done} }
	at := func(k Kind, p Point) Fault { return of(k, func(f *Fault) { f.Point = p }) }
	return []kindScript{
		{"outage by reset", of(Outage, nil), []string{arrived,
			"1.1s   reset c0001/1#1",
			"1.1s   server_reset c0001/1#1 cause=fault fault=0"}},
		{"outage by refusing", of(Outage, func(f *Fault) { f.How = ByRefusing }), []string{
			"1.1s   refuse c0001/1#1",
			"1.1s   fault_struck c0001/1#1 cause=fault fault=0"}},
		{"black hole", of(Outage, func(f *Fault) { f.How = ByBlackHole }), []string{arrived,
			"1.1s   server_swallowed c0001/1#1 cause=fault fault=0"}},
		{"freeze", of(Outage, func(f *Fault) { f.How = ByFreezing }), []string{arrived,
			"1.1s   fault_struck c0001/1#1 cause=fault fault=0"}},
		{"errors", of(Errors, func(f *Fault) { f.Status = 418 }), []string{arrived,
			"1.1s   reply c0001/1#1 418",
			"1.1s   server_rejected c0001/1#1 status=418 cause=fault fault=0"}},
		{"latency", of(Latency, func(f *Fault) { f.Added = 50 * ms }), []string{arrived,
			"1.1s   server_began c0001/1#1 cause=fault fault=0",
			"1.25s  reply c0001/1#1 200",
			"1.25s  server_done c0001/1#1 delay=150ms status=200"}},
		{"latency in its place", of(Latency, func(f *Fault) { f.Added, f.Replace = 50*ms, true }),
			[]string{arrived,
				"1.1s   server_began c0001/1#1 cause=fault fault=0",
				"1.15s  reply c0001/1#1 200",
				"1.15s  server_done c0001/1#1 delay=50ms status=200"}},
		{"quota", of(Quota, func(f *Fault) { f.Limit.Rate = 1000 }), []string{arrived, began,
			"1.2s   reply c0001/1#1 200", done}},
		{"capacity", of(CapacityCut, nil), []string{arrived,
			"1.1s   fault_struck c0001/1#1 cause=fault fault=0"}},
		{"close at arrival", at(Close, PointArrival), []string{arrived,
			"1.1s   reset c0001/1#1 nothing",
			"1.1s   server_reset c0001/1#1 cause=fault fault=0"}},
		{"close", of(Close, nil), ended("1.2s   reset c0001/1#1 nothing")},
		{"close in the header", at(Close, PointHeader),
			ended("1.2s   reset c0001/1#1 cut_header")},
		{"close in the body", at(Close, PointBody),
			ended("1.2s   reset c0001/1#1 cut_body")},
		{"close at the end", at(Close, PointEnd),
			ended("1.2s   reply c0001/1#1 200 last")},
		{"reset", of(Reset, nil), ended("1.2s   reset c0001/1#1 nothing hard")},
		{"reset at arrival", at(Reset, PointArrival), []string{arrived,
			"1.1s   reset c0001/1#1 nothing hard",
			"1.1s   server_reset c0001/1#1 cause=fault fault=0"}},
		{"reset in the header", at(Reset, PointHeader), ended("1.2s   reset c0001/1#1 cut_header hard")},
		{"reset in the body", at(Reset, PointBody), ended("1.2s   reset c0001/1#1 cut_body hard")},
		{"reset at the end", at(Reset, PointEnd), ended("1.2s   reply c0001/1#1 200 last hard")},
		{"truncated", of(Truncated, nil), ended("1.2s   reset c0001/1#1 cut_body")},
		{"garbage", of(Garbage, nil), ended("1.2s   reply c0001/1#1 200 garbage")},
		{"bad chunk", of(BadChunk, nil), ended("1.2s   reset c0001/1#1 bad_chunk")},
		{"drip", of(Drip, nil), ended("1.2s   reply c0001/1#1 200 drip over=1s")},
		{"slow header", of(SlowHeader, nil), ended("1.2s   reply c0001/1#1 200 slow_header over=1s")},
		{"idle close", of(IdleClose, func(f *Fault) { f.After = 50 * ms }), []string{arrived, began,
			"1.2s   reply c0001/1#1 200", done,
			"1.9s   server_arrived c0001/2#1",
			"1.9s   fault_struck c0001/2#1 cause=fault fault=0",
			"1.9s   server_began c0001/2#1"}},
	}
}

// TestEachKindDoesItsPart runs one attempt into each kind of fault.
func TestEachKindDoesItsPart(t *testing.T) {
	for _, c := range kindScripts() {
		t.Run(c.name, func(t *testing.T) {
			x := newScript(t, one(c.fault))
			x.to(s)
			x.log.Reset()
			x.arrive(1100*ms, get(1, 1, 1))
			x.to(1900 * ms)
			if c.fault.Kind == IdleClose { // which the client meets when it comes back
				x.arrive(1900*ms, get(1, 2, 1))
			}
			x.want(c.want...)
			if hits := x.s.Hits(0); hits != 1 && c.fault.Kind != Quota {
				t.Errorf("%d hits", hits)
			}
		})
	}
}

// TestNoWayOfAFaultIsWithoutAScript: each kind of fault, an outage in each manner,
// and the end of a connection at each point.
func TestNoWayOfAFaultIsWithoutAScript(t *testing.T) {
	type way struct {
		kind  Kind
		how   Manner
		point Point
	}
	scripted := make(map[way]bool)
	for _, c := range kindScripts() {
		scripted[way{c.fault.Kind, c.fault.How, c.fault.Point}] = true
	}
	check := func(w way) {
		if !scripted[w] {
			t.Errorf("no script for %v, how %v, point %v", w.kind, w.how, w.point)
		}
	}
	for i := range KindNames() {
		switch k := Kind(i); k {
		case Outage:
			for how := range MannerNames() {
				check(way{kind: k, how: Manner(how)})
			}
		case Close, Reset:
			for point := range PointNames() {
				check(way{kind: k, point: Point(point)})
			}
		default:
			check(way{kind: k})
		}
	}
}

func TestRefusingClosesTheListenerForItsWindow(t *testing.T) {
	x := newScript(t, one(of(Outage, func(f *Fault) { f.How = ByRefusing })))
	x.arrive(950*ms, get(1, 1, 1))
	x.log.Reset()
	x.to(3 * s)
	x.want(
		"1s     fault_began cause=fault fault=0 until=2s",
		"1s     close the listener",
		"1s     reset c0001/1#1",
		"1s     server_reset c0001/1#1 delay=50ms cause=fault fault=0 wasted",
		"2s     fault_ended cause=fault fault=0",
		"2s     open the listener",
	)
}

// TestOutagesOverlap: the listener is closed until the last of them has ended.
func TestOutagesOverlap(t *testing.T) {
	a := Fault{Name: "a", Kind: Outage, How: ByRefusing, Start: s, Length: 3 * s}
	b := Fault{Name: "b", Kind: Outage, How: ByRefusing, Start: 2 * s, Length: 5 * s}
	x := newScript(t, Config{Faults: []Fault{a, b}})
	x.to(10 * s)
	x.drop("fault_")
	x.want("1s     close the listener", "7s     open the listener")
}

func TestABlackHoleSwallowsWhatIsInFlight(t *testing.T) {
	x := newScript(t, one(of(Outage, func(f *Fault) { f.How = ByBlackHole })))
	x.arrive(950*ms, get(1, 1, 1))
	x.arrive(960*ms, get(2, 1, 1))
	x.log.Reset()
	x.to(5 * s)
	x.leave(5*s, get(1, 1, 1))
	x.want(
		"1s     fault_began cause=fault fault=0 until=2s",
		"1s     server_swallowed c0001/1#1 delay=50ms cause=fault fault=0 wasted",
		"1s     server_swallowed c0002/1#1 cause=fault fault=0",
		"2s     fault_ended cause=fault fault=0",
	)
}

func TestAFrozenServerGoesOnWhereItWas(t *testing.T) {
	c := one(of(Outage, func(f *Fault) { f.How = ByFreezing }))
	c.Backlog = 2
	x := newScript(t, c)
	x.arrive(950*ms, get(1, 1, 1))
	x.arrive(960*ms, get(2, 1, 1))
	x.arrive(1500*ms, get(3, 1, 1))
	x.arrive(1600*ms, get(4, 1, 1)) // the door still works
	x.to(3 * s)
	x.want(
		"950ms  server_arrived c0001/1#1",
		"950ms  server_began c0001/1#1",
		"960ms  server_arrived c0002/1#1",
		"1s     fault_began cause=fault fault=0 until=2s",
		"1s     fault_struck c0001/1#1 cause=fault fault=0",
		"1s     fault_struck c0002/1#1 cause=fault fault=0",
		"1.5s   server_arrived c0003/1#1",
		"1.5s   fault_struck c0003/1#1 cause=fault fault=0",
		"1.6s   server_arrived c0004/1#1",
		"1.6s   reply c0004/1#1 503",
		"1.6s   server_rejected c0004/1#1 status=503 cause=full",
		"2s     fault_ended cause=fault fault=0",
		"2.05s  reply c0001/1#1 200",
		"2.05s  server_done c0001/1#1 delay=1.1s status=200",
		"2.05s  server_began c0002/1#1 delay=1.09s",
		"2.15s  reply c0002/1#1 200",
		"2.15s  server_done c0002/1#1 delay=100ms status=200",
		"2.15s  server_began c0003/1#1 delay=650ms",
		"2.25s  reply c0003/1#1 200",
		"2.25s  server_done c0003/1#1 delay=100ms status=200",
	)
	if hits := x.s.Hits(0); hits != 3 {
		t.Errorf("%d hits; want those that it held up: 3", hits)
	}
}

func TestAnOpenWindowNeverEnds(t *testing.T) {
	f := of(Errors, nil)
	f.Name, f.Start = "f", s
	x := newScript(t, Config{Faults: []Fault{f}})
	x.to(time.Hour)
	x.want("1s     fault_began cause=fault fault=0 until=open")
	if _, ok := x.s.Deadline(); ok {
		t.Error("an open window has an edge to come")
	}
}

func TestCapacityIsCutToAShare(t *testing.T) {
	f := of(CapacityCut, func(f *Fault) { f.Left = 500 })
	f.Name, f.Length = "f", s
	again := f
	again.Name = "again"
	x := newScript(t, Config{Workers: 8, Service: Service{Mean: 10 * s}, Faults: []Fault{f, again}})
	for client := range 9 {
		x.arrive(0, get(client, 1, 1))
	}
	if x.s.Busy() != 2 || x.s.Hits(0) != 7 {
		t.Errorf("%d of 8 workers are busy with two cuts to a half, and %d had to wait",
			x.s.Busy(), x.s.Hits(0))
	}
	x.to(s)
	if x.s.Busy() != 8 {
		t.Errorf("%d of 8 workers are busy after the cuts", x.s.Busy())
	}
}

// TestFaultsActInTheirOrder is the order of precedence.
func TestFaultsActInTheirOrder(t *testing.T) {
	named := func(name string, f Fault) Fault {
		f.Name, f.Length = name, s
		return f
	}
	slow := named("slow", of(Latency, func(f *Fault) { f.Added = 10 * ms }))
	instead := named("instead", of(Latency, func(f *Fault) { f.Added, f.Replace = s, true }))
	last := named("last", of(Latency, func(f *Fault) { f.Added, f.Replace = 20*ms, true }))
	for name, c := range map[string]struct {
		faults []Fault
		want   string
	}{
		"an outage before all": {
			[]Fault{named("e", of(Errors, nil)), named("o", of(Outage, nil))}, "reset c0001/1#1"},
		"errors before a spoilt reply": {
			[]Fault{named("g", of(Garbage, nil)), named("e", of(Errors, nil))}, "reply c0001/1#1 503"},
		"the first of two that spoil": {
			[]Fault{named("g", of(Garbage, nil)), named("t", of(Truncated, nil))}, "reply c0001/1#1 200 garbage"},
		"latency adds to the last that replaces": {
			[]Fault{instead, slow, last, named("more", slow)}, "40ms   reply c0001/1#1 200"},
	} {
		x := newScript(t, Config{Service: Service{Mean: 5 * s}, Faults: c.faults})
		x.arrive(0, get(1, 1, 1))
		x.to(20 * s)
		if !strings.Contains(x.log.String(), c.want) {
			t.Errorf("%s: want %q in\n%s", name, c.want, x.log.String())
		}
	}
}

func TestAFaultThatHitNobodyIsReported(t *testing.T) {
	x := newScript(t, one(of(Errors, nil)))
	x.to(3 * s)
	x.want(
		"1s     fault_began cause=fault fault=0 until=2s",
		"2s     fault_ended cause=fault fault=0",
		"2s     fault_missed cause=fault fault=0",
	)
	x = newScript(t, one(of(Errors, nil)))
	x.arrive(1500*ms, get(1, 1, 1))
	x.to(3 * s)
	if strings.Contains(x.log.String(), wire.FaultMissed.String()) {
		t.Error("a fault with a hit is said to have missed")
	}
}
