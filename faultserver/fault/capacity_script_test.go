package fault

import (
	"testing"
	"time"

	"herdscope/engine/wire"
)

// fill lets clients 1 to n arrive at once.
func (x *script) fill(at time.Duration, n int) {
	for client := 1; client <= n; client++ {
		x.arrive(at, get(client, 1, 1))
	}
	x.log.Reset()
}

func TestNoBacklogLetsNobodyWait(t *testing.T) {
	x := newScript(t, Config{Workers: 1, Backlog: NoBacklog, Service: Service{Mean: 100 * ms}})
	x.arrive(0, get(1, 1, 1))
	x.arrive(10*ms, get(2, 1, 1))
	x.arrive(100*ms, get(3, 1, 1)) // the worker is free at this moment
	x.want(
		"0s     server_arrived c0001/1#1",
		"0s     server_began c0001/1#1",
		"10ms   server_arrived c0002/1#1",
		"10ms   reply c0002/1#1 503",
		"10ms   server_rejected c0002/1#1 status=503 cause=full",
		"100ms  reply c0001/1#1 200",
		"100ms  server_done c0001/1#1 delay=100ms status=200",
		"100ms  server_arrived c0003/1#1",
		"100ms  server_began c0003/1#1",
	)
}

func TestBlockedAttemptsWaitOutside(t *testing.T) {
	x := newScript(t, Config{
		Workers: 1, Backlog: 1, WhenFull: Block, Order: LIFO, Service: Service{Mean: 100 * ms},
	})
	x.fill(0, 4)
	if got := x.s.Services()[0]; got != (ServiceState{OwnService, 1, 1, 2}) {
		t.Errorf("state %+v, want 1 in service, 1 in the backlog and 2 outside", got)
	}
	x.leave(50*ms, get(3, 1, 1)) // its place outside is kept
	x.to(s)
	x.want( // who is outside comes in as there is room, whatever the order inside
		"100ms  reply c0001/1#1 200",
		"100ms  server_done c0001/1#1 delay=100ms status=200",
		"100ms  server_began c0002/1#1 delay=100ms",
		"200ms  reply c0002/1#1 200",
		"200ms  server_done c0002/1#1 delay=100ms status=200",
		"200ms  server_began c0003/1#1 delay=200ms",
		"300ms  server_done c0003/1#1 delay=100ms status=200 wasted",
		"300ms  server_began c0004/1#1 delay=300ms",
		"400ms  reply c0004/1#1 200",
		"400ms  server_done c0004/1#1 delay=100ms status=200",
	)
}

func TestBlockWithoutBacklogGoesStraightToTheWorker(t *testing.T) {
	x := newScript(t, Config{
		Workers: 1, Backlog: NoBacklog, WhenFull: Block, Service: Service{Mean: 100 * ms},
	})
	x.fill(0, 2)
	x.to(100 * ms)
	x.want(
		"100ms  reply c0001/1#1 200",
		"100ms  server_done c0001/1#1 delay=100ms status=200",
		"100ms  server_began c0002/1#1 delay=100ms",
	)
}

func TestTheOldestIsDropped(t *testing.T) {
	x := newScript(t, Config{
		Workers: 1, Backlog: 2, WhenFull: DropOldest, Service: Service{Mean: 100 * ms},
	})
	x.fill(0, 3)
	x.leave(10*ms, get(3, 1, 1))
	x.arrive(20*ms, get(4, 1, 1))
	x.arrive(30*ms, get(5, 1, 1)) // pushes out one that has left: nobody is answered
	x.to(s)
	x.want(
		"20ms   server_arrived c0004/1#1",
		"20ms   reply c0002/1#1 503",
		"20ms   server_rejected c0002/1#1 status=503 cause=full",
		"30ms   server_arrived c0005/1#1",
		"30ms   server_rejected c0003/1#1 status=503 cause=full",
		"100ms  reply c0001/1#1 200",
		"100ms  server_done c0001/1#1 delay=100ms status=200",
		"100ms  server_began c0004/1#1 delay=80ms",
		"200ms  reply c0004/1#1 200",
		"200ms  server_done c0004/1#1 delay=100ms status=200",
		"200ms  server_began c0005/1#1 delay=170ms",
		"300ms  reply c0005/1#1 200",
		"300ms  server_done c0005/1#1 delay=100ms status=200",
	)
}

func TestNobodyToDropIsARejection(t *testing.T) {
	x := newScript(t, Config{
		Workers: 1, Backlog: NoBacklog, WhenFull: DropOldest, Service: Service{Mean: s},
	})
	x.fill(0, 1)
	x.arrive(10*ms, get(2, 1, 1))
	x.want(
		"10ms   server_arrived c0002/1#1",
		"10ms   reply c0002/1#1 503",
		"10ms   server_rejected c0002/1#1 status=503 cause=full",
	)
}

func TestALowerBacklogKeepsWhoIsInIt(t *testing.T) {
	x := newScript(t, Config{Workers: 1, Backlog: 3, Service: Service{Mean: 100 * ms}})
	x.fill(0, 4)
	x.set(10*ms, "server.backlog", 1)
	x.arrive(20*ms, get(5, 1, 1))
	x.set(30*ms, "server.backlog", 0)
	x.arrive(40*ms, get(6, 1, 1))
	x.want(
		"20ms   server_arrived c0005/1#1",
		"20ms   reply c0005/1#1 503",
		"20ms   server_rejected c0005/1#1 status=503 cause=full",
		"40ms   server_arrived c0006/1#1",
	)
	if x.s.Waiting() != 4 {
		t.Errorf("%d wait, want 4", x.s.Waiting())
	}
}

func TestRejectionsTakeUpAWorker(t *testing.T) {
	x := newScript(t, Config{
		Workers: 1, Backlog: 1, RejectionCost: 200, Service: Service{Mean: 100 * ms},
	})
	x.fill(0, 2)
	x.arrive(10*ms, get(3, 1, 1))
	x.arrive(20*ms, get(4, 1, 1))
	x.leave(110*ms, get(3, 1, 1))
	x.to(s)
	x.want( // before the backlog, and for 20 ms each
		"10ms   server_arrived c0003/1#1",
		"20ms   server_arrived c0004/1#1",
		"100ms  reply c0001/1#1 200",
		"100ms  server_done c0001/1#1 delay=100ms status=200",
		"100ms  server_began c0003/1#1 delay=90ms",
		"120ms  server_rejected c0003/1#1 delay=20ms status=503 cause=full wasted",
		"120ms  server_began c0004/1#1 delay=100ms",
		"140ms  reply c0004/1#1 503",
		"140ms  server_rejected c0004/1#1 delay=20ms status=503 cause=full wasted",
		"140ms  server_began c0002/1#1 delay=140ms",
		"240ms  reply c0002/1#1 200",
		"240ms  server_done c0002/1#1 delay=100ms status=200",
	)
}

func TestLimitsCostAWorkerAndFaultsDoNot(t *testing.T) {
	x := newScript(t, Config{
		Workers: 1, RejectionCost: 500, Service: Service{Mean: 100 * ms},
		Limit:  RateLimit{Rate: 1000, Burst: 1},
		Faults: []Fault{{Name: "bad", Kind: Errors, Start: s, Length: s, Status: 500, Share: Always}},
	})
	x.arrive(0, get(1, 1, 1))
	x.arrive(200*ms, get(2, 1, 1))
	x.arrive(1200*ms, get(3, 1, 1))
	x.want(
		"0s     server_arrived c0001/1#1",
		"0s     server_began c0001/1#1",
		"100ms  reply c0001/1#1 200",
		"100ms  server_done c0001/1#1 delay=100ms status=200",
		"200ms  server_arrived c0002/1#1",
		"200ms  server_began c0002/1#1",
		"250ms  reply c0002/1#1 429",
		"250ms  server_rejected c0002/1#1 delay=50ms status=429 cause=rate_limit wasted",
		"1s     fault_began cause=fault fault=0 until=2s",
		"1.2s   server_arrived c0003/1#1",
		"1.2s   reply c0003/1#1 500",
		"1.2s   server_rejected c0003/1#1 status=500 cause=fault fault=0",
	)
}

func TestLeaverIsCancelled(t *testing.T) {
	x := newScript(t, Config{
		Workers: 1, Backlog: 1, WhenFull: Block, Abandoned: Cancel, Service: Service{Mean: 100 * ms},
	})
	x.fill(0, 4)
	x.leave(10*ms, get(2, 1, 1)) // in the backlog
	x.leave(20*ms, get(4, 1, 1)) // outside
	x.leave(30*ms, get(1, 1, 1)) // in service
	x.leave(40*ms, get(1, 1, 1)) // has gone
	x.to(s)
	x.want(
		"10ms   server_cancelled c0002/1#1",
		"20ms   server_cancelled c0004/1#1",
		"30ms   server_cancelled c0001/1#1 delay=30ms wasted",
		"30ms   server_began c0003/1#1 delay=30ms",
		"130ms  reply c0003/1#1 200",
		"130ms  server_done c0003/1#1 delay=100ms status=200",
	)
}

func TestOutageResetsWhereverTheyAre(t *testing.T) {
	x := newScript(t, Config{
		Workers: 1, Backlog: 1, WhenFull: Block, Order: LIFO, Service: Service{Mean: s},
		Faults: []Fault{{Name: "down", Kind: Outage, Start: 100 * ms, Length: 100 * ms}},
	})
	x.fill(0, 3)
	x.to(100 * ms)
	x.want(
		"100ms  fault_began cause=fault fault=0 until=200ms",
		"100ms  reset c0001/1#1",
		"100ms  server_reset c0001/1#1 delay=100ms cause=fault fault=0 wasted",
		"100ms  reset c0002/1#1",
		"100ms  server_reset c0002/1#1 cause=fault fault=0",
		"100ms  reset c0003/1#1",
		"100ms  server_reset c0003/1#1 cause=fault fault=0",
	)
	if x.s.Busy()+x.s.Waiting() != 0 {
		t.Errorf("busy %d, waiting %d after an outage", x.s.Busy(), x.s.Waiting())
	}
}

// twoBackends has a service for route 1 beside the server's own.
func twoBackends() Config {
	return Config{
		Workers: 1, Backlog: 1, Service: Service{Mean: 100 * ms},
		Services: []Backend{{Name: "pay", Routes: []uint8{1, 2}, Capacity: Capacity{
			Workers: 1, Backlog: NoBacklog, Service: Service{Mean: 30 * ms},
		}}},
		RouteTimes: []RouteTime{{Route: 2, Service: Service{Mean: 70 * ms}}},
	}
}

func on(route uint8, a wire.Attempt) wire.Attempt {
	a.Route = route
	return a
}

func TestServicesDoNotShareWorkers(t *testing.T) {
	x := newScript(t, twoBackends())
	x.arrive(0, on(0, get(1, 1, 1)))
	x.arrive(0, on(1, get(2, 1, 1)))
	x.arrive(0, on(2, get(3, 1, 1))) // the same service as route 1, which is full
	x.arrive(40*ms, on(2, get(4, 1, 1)))
	x.to(s)
	x.want(
		"0s     server_arrived c0001/1#1",
		"0s     server_began c0001/1#1",
		"0s     server_arrived c0002/1#1",
		"0s     server_began c0002/1#1",
		"0s     server_arrived c0003/1#1",
		"0s     reply c0003/1#1 503",
		"0s     server_rejected c0003/1#1 status=503 cause=full",
		"30ms   reply c0002/1#1 200",
		"30ms   server_done c0002/1#1 delay=30ms status=200",
		"40ms   server_arrived c0004/1#1",
		"40ms   server_began c0004/1#1",
		"100ms  reply c0001/1#1 200",
		"100ms  server_done c0001/1#1 delay=100ms status=200",
		"110ms  reply c0004/1#1 200",
		"110ms  server_done c0004/1#1 delay=70ms status=200",
	)
}

func TestServiceOfARoute(t *testing.T) {
	server := mustNew(t, twoBackends())
	for route, want := range map[uint8]uint8{0: 0, 1: 1, 2: 1, 3: 0, 15: 0, 200: 0} {
		a := on(route, get(1, 1, 1))
		if got := server.service(&a); got != want {
			t.Errorf("route %d belongs to service %d, want %d", route, got, want)
		}
	}
}

func TestClassesTakeAsLongAsTheirFactorSays(t *testing.T) {
	c := Config{Service: Service{Mean: 100 * ms}}
	c.ClassFactor[wire.Critical], c.ClassFactor[wire.Background] = 500, 3000
	x := newScript(t, c)
	for class, want := range []time.Duration{50 * ms, 100 * ms, 300 * ms} {
		a := get(1, class+1, 1)
		a.Class = wire.Class(class)
		at := time.Duration(class) * s
		x.arrive(at, a)
		end, _ := x.s.Deadline()
		if got := end.Duration() - at; got != want {
			t.Errorf("%v takes %v, want %v", a.Class, got, want)
		}
	}
}
