package live

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/wire"
)

// loop is a fleet of clients that send again as soon as they are answered.
type loop struct {
	clients, left int
	answered      int
	done          chan struct{}
}

func (l *loop) Step(_ clock.Instant, in fleet.Input, out []engine.Effect) []engine.Effect {
	switch in.Kind {
	case fleet.Tick:
		for i := range min(l.clients, l.left) {
			out = append(out, sendOf(attemptOf(i, wire.Get)))
		}
		l.left -= len(out)
	case fleet.Answered:
		l.answered--
		if l.answered == 0 {
			close(l.done)
		}
		if l.left > 0 {
			l.left--
			in.ID.Request++
			out = append(out, sendOf(wire.Attempt{ID: in.ID}))
		}
	}
	return out
}

func (l *loop) Deadline() (clock.Instant, bool) { return clock.Never, false }

// BenchmarkAttempts measures attempts through the driver, and the same number
// through bare net/http with the same number of callers; over_floor is the
// quotient of their times. The two take turns, so that a noisy machine slows
// both alike.
func BenchmarkAttempts(b *testing.B) {
	const clients, turn = 100, 2000
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	b.ReportAllocs()
	b.StopTimer()
	var floor time.Duration
	for left := b.N; left > 0; left -= turn {
		n := min(left, turn)
		floor += bareLoop(b, s.URL, clients, n)
		f := &loop{clients: clients, left: n, answered: n, done: make(chan struct{})}
		b.StartTimer()
		_, stop := begin(b, Config{Fleet: f, BaseURL: s.URL, Clients: clients})
		<-f.done
		b.StopTimer()
		stop()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "attempts/s")
	b.ReportMetric(b.Elapsed().Seconds()/floor.Seconds(), "over_floor")
}

// bareLoop is how long n requests take without a driver.
func bareLoop(b *testing.B, url string, clients, n int) time.Duration {
	sender, err := newSender(url, []string{"/"}, clients, NewClock())
	if err != nil {
		b.Fatal(err)
	}
	defer sender.close()
	var left atomic.Int64
	left.Store(int64(n))
	var callers sync.WaitGroup
	begun := time.Now()
	for range clients {
		callers.Go(func() {
			for left.Add(-1) >= 0 {
				req, _ := http.NewRequest(http.MethodGet, url+"/", nil)
				resp, err := sender.transport.RoundTrip(req)
				if err != nil {
					b.Error(err)
					return
				}
				sender.read(context.Background(), resp)
			}
		})
	}
	callers.Wait()
	return time.Since(begun)
}

// BenchmarkHerd measures a thousand attempts at once: how long after their Step
// the server has counted all of them, on new connections and on kept ones. The
// server holds them until then, as one that hangs does.
func BenchmarkHerd(b *testing.B) {
	const clients = 1000
	var all chan struct{}
	var arrived atomic.Int64
	var counted atomic.Int64 // when the last one arrived
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		round := all
		if arrived.Add(1) == clients {
			counted.Store(time.Now().UnixNano())
			close(round)
		}
		<-round
	}))
	defer s.Close()
	var took [2]time.Duration // new, kept
	for range b.N {
		all = make(chan struct{})
		arrived.Store(0)
		v := newVolleys(clients, 2, wire.Get)
		first, round := v.on, 0
		var sent time.Time
		v.on = func(now clock.Instant, in fleet.Input) []engine.Effect {
			out := first(now, in)
			if len(out) > 0 {
				if round > 0 {
					took[0] += time.Duration(counted.Load() - sent.UnixNano())
					all = make(chan struct{})
					arrived.Store(0)
				}
				round, sent = round+1, time.Now()
			}
			return out
		}
		_, stop := begin(b, Config{Fleet: v, BaseURL: s.URL, Clients: clients})
		<-v.done
		took[1] += time.Duration(counted.Load() - sent.UnixNano())
		stop()
	}
	b.ReportMetric(float64(took[0].Microseconds())/1e3/float64(b.N), "ms_new")
	b.ReportMetric(float64(took[1].Microseconds())/1e3/float64(b.N), "ms_kept")
}
