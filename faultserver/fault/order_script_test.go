package fault

import (
	"slices"
	"testing"
	"time"

	"herdscope/engine/wire"
)

// began is the clients in the order in which they are taken up.
func (x *script) began() (clients []int) {
	for i := range x.events {
		if e := &x.events[i]; e.Kind == wire.ServerBegan {
			clients = append(clients, int(e.ID.Client))
		}
	}
	return clients
}

func TestOrders(t *testing.T) {
	for _, c := range []struct {
		order Order
		want  []int
	}{
		{FIFO, []int{1, 2, 3, 4, 5}},
		{LIFO, []int{1, 5, 4, 3, 2}},
		{AdaptiveLIFO, []int{1, 2, 3, 4, 5}}, // the queue does not stand yet
		{Codel, []int{1, 2, 3, 4, 5}},
		{Priority, []int{1, 3, 5, 2, 4}},
	} {
		t.Run(c.order.String(), func(t *testing.T) {
			x := newScript(t, Config{Workers: 1, Order: c.order, Service: Service{Mean: 10 * ms}})
			for client := 1; client <= 5; client++ {
				a := get(client, 1, 1)
				a.Class = wire.Background
				if client%2 == 1 {
					a.Class = wire.Critical
				}
				x.arrive(time.Duration(client)*ms, a)
			}
			x.to(s)
			if got := x.began(); !slices.Equal(got, c.want) {
				t.Errorf("taken up %v, want %v", got, c.want)
			}
		})
	}
}

// A queue stands when it has not been empty for an interval. Who joins it then
// may wait for the target only; who came before may wait for the interval.
func TestCodelTurnsAwayWhoWaitsTooLong(t *testing.T) {
	x := newScript(t, Config{
		Workers: 1, Order: Codel, Service: Service{Mean: 60 * ms},
		CodelTarget: 5 * ms, CodelInterval: 100 * ms,
	})
	x.fill(0, 4)
	x.arrive(101*ms, get(5, 1, 1))
	x.arrive(116*ms, get(6, 1, 1))
	x.to(s)
	x.want(
		"60ms   reply c0001/1#1 200",
		"60ms   server_done c0001/1#1 delay=60ms status=200",
		"60ms   server_began c0002/1#1 delay=60ms",
		"100ms  reply c0003/1#1 503",
		"100ms  server_rejected c0003/1#1 status=503 cause=elapsed",
		"100ms  reply c0004/1#1 503",
		"100ms  server_rejected c0004/1#1 status=503 cause=elapsed",
		"101ms  server_arrived c0005/1#1", // finds the backlog empty: it stands no longer
		"116ms  server_arrived c0006/1#1",
		"120ms  reply c0002/1#1 200",
		"120ms  server_done c0002/1#1 delay=60ms status=200",
		"120ms  server_began c0005/1#1 delay=19ms",
		"180ms  reply c0005/1#1 200",
		"180ms  server_done c0005/1#1 delay=60ms status=200",
		"180ms  server_began c0006/1#1 delay=64ms",
		"240ms  reply c0006/1#1 200",
		"240ms  server_done c0006/1#1 delay=60ms status=200",
	)
}

func TestWhoJoinsAStandingQueueMayWaitForTheTarget(t *testing.T) {
	for _, order := range []Order{Codel, AdaptiveLIFO} {
		t.Run(order.String(), func(t *testing.T) {
			x := newScript(t, Config{
				Workers: 1, Order: order, Service: Service{Mean: 60 * ms},
				CodelTarget: 5 * ms, CodelInterval: 100 * ms,
			})
			x.fill(0, 2)
			for at := 40 * ms; at <= 120*ms; at += 40 * ms {
				x.arrive(at, get(int(at/ms), 1, 1))
			}
			x.log.Reset()
			x.to(126 * ms) // 120 joined a queue that has stood since 0
			x.want(
				"125ms  reply c0120/1#1 503",
				"125ms  server_rejected c0120/1#1 status=503 cause=elapsed",
			)
		})
	}
}

func TestAdaptiveLIFOTurnsRoundWhileTheQueueStands(t *testing.T) {
	x := newScript(t, Config{
		Workers: 1, Order: AdaptiveLIFO, Service: Service{Mean: 60 * ms},
		CodelTarget: 50 * ms, CodelInterval: 100 * ms,
	})
	x.fill(0, 2)
	x.arrive(50*ms, get(3, 1, 1))
	x.arrive(105*ms, get(4, 1, 1))
	x.arrive(110*ms, get(5, 1, 1))
	x.to(s)
	if got := x.began(); !slices.Equal(got, []int{1, 2, 5}) { // 3 and 4 have waited too long by then
		t.Errorf("taken up %v, want 1, 2 and then the newest", got)
	}
}

func TestOrderChangesLive(t *testing.T) {
	x := newScript(t, Config{
		Workers: 1, Service: Service{Mean: 60 * ms}, CodelTarget: 5 * ms, CodelInterval: 100 * ms,
	})
	x.fill(0, 5)
	x.set(10*ms, "server.order", int64(LIFO))
	x.to(60 * ms)
	x.set(70*ms, "server.order", int64(Codel))
	x.set(80*ms, "server.order", int64(FIFO))
	x.set(90*ms, "server.order", int64(Codel))
	x.to(120 * ms)
	x.log.Reset()
	x.to(200 * ms) // 100 ms from the last change on
	x.want(
		"180ms  reply c0002/1#1 200",
		"180ms  server_done c0002/1#1 delay=60ms status=200",
		"180ms  server_began c0003/1#1 delay=180ms",
		"190ms  reply c0004/1#1 503",
		"190ms  server_rejected c0004/1#1 status=503 cause=elapsed",
	)
}
