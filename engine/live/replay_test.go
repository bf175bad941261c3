package live

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/wire"
)

var methods = []wire.Method{
	wire.Get, wire.Head, wire.Options, wire.Trace, wire.Put, wire.Delete, wire.Post, wire.Patch,
}

// TestOneSendIsOneRequestHead breaks connections at each point, new ones and
// kept ones, and finds as many heads at the server as were sent. net/http alone
// would send the safe methods again, on kept connections without end.
func TestOneSendIsOneRequestHead(t *testing.T) {
	breaks := map[string]func(c *net.TCPConn, r *http.Request, nth int) bool{
		"reset after first head": func(c *net.TCPConn, _ *http.Request, _ int) bool {
			reset(c)
			return false
		},
		"close after first head": func(*net.TCPConn, *http.Request, int) bool { return false },
		"reset after second head": func(c *net.TCPConn, r *http.Request, nth int) bool {
			if nth == 2 {
				reset(c)
				return false
			}
			return answer(c, replyTo(r))
		},
		"close after second head": func(c *net.TCPConn, r *http.Request, nth int) bool {
			return nth < 2 && answer(c, replyTo(r))
		},
		"close inside second reply": func(c *net.TCPConn, r *http.Request, nth int) bool {
			if nth == 2 {
				answer(c, "HTTP/1.1 200 OK\r\nContent-Le")
				return false
			}
			return answer(c, replyTo(r))
		},
		"close announced": func(c *net.TCPConn, r *http.Request, _ int) bool {
			answer(c, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
			return false
		},
	}
	const clients, rounds = 20, 6
	for name, handle := range breaks {
		for _, m := range methods {
			t.Run(name+"/"+m.String(), func(t *testing.T) {
				s := &rawServer{handle: handle}
				v := newVolleys(clients, rounds, m)
				_, stop := begin(t, Config{Fleet: v, BaseURL: s.start(t), Clients: clients})
				<-v.done
				stop()
				if got := s.heads.Load(); got != clients*rounds {
					t.Errorf("%d heads at the server for %d sends", got, clients*rounds)
				}
			})
		}
	}
}

func replyTo(r *http.Request) string {
	if r.Method == http.MethodHead {
		return "HTTP/1.1 200 OK\r\n\r\n"
	}
	return okReply
}

// TestAThousandResetsAreAThousandAttempts has a thousand kept connections reset
// under their second request.
func TestAThousandResetsAreAThousandAttempts(t *testing.T) {
	const clients = 1000
	var first sync.WaitGroup // all requests of the first round are in
	first.Add(clients)
	s := &rawServer{handle: func(c *net.TCPConn, r *http.Request, nth int) bool {
		if nth == 2 {
			reset(c)
			return false
		}
		first.Done()
		first.Wait()
		return answer(c, okReply)
	}}
	v := newVolleys(clients, 2, wire.Get)
	_, stop := begin(t, Config{Fleet: v, BaseURL: s.start(t), Clients: clients})
	<-v.done
	stop()
	if heads, conns := s.heads.Load(), s.connections.Load(); heads != 2*clients || conns != clients {
		t.Errorf("%d heads on %d connections, want %d on %d", heads, conns, 2*clients, clients)
	}
	kinds := map[wire.ReplyKind]int{}
	for _, r := range v.replies {
		kinds[r.Kind]++
	}
	want := map[wire.ReplyKind]int{wire.ReplyResponse: clients, wire.ReplyReset: clients}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("replies by kind (-want +got):\n%s", diff)
	}
}

// deadConn is a connection that takes one request and fails later ones before
// it has taken a byte of them, without its reader having noticed: a kept
// connection whose peer has gone, as a writer may find it.
type deadConn struct {
	net.Conn
	writes atomic.Int64
}

func (c *deadConn) Write(p []byte) (int, error) {
	if c.writes.Add(1) > 1 {
		return 0, errors.New("broken pipe")
	}
	return c.Conn.Write(p)
}

func TestARequestOfWhichNothingWasWrittenIsSentOnANewConnection(t *testing.T) {
	for _, m := range methods {
		t.Run(m.String(), func(t *testing.T) {
			s := &rawServer{handle: func(c *net.TCPConn, r *http.Request, _ int) bool {
				return answer(c, replyTo(r))
			}}
			const rounds = 5
			v := newVolleys(1, rounds, m)
			d, err := New(Config{
				Fleet: v, Clock: NewClock(), BaseURL: s.start(t), Routes: []string{"/"}, Clients: 1,
			})
			if err != nil {
				t.Fatal(err)
			}
			d.sender.transport.DialContext = dialWith(
				func(ctx context.Context, network, address string) (net.Conn, error) {
					c, err := new(net.Dialer).DialContext(ctx, network, address)
					return &deadConn{Conn: c}, err
				})
			stop := runIt(t, d)
			<-v.done
			stop()
			for _, r := range v.replies {
				if r.Kind != wire.ReplyResponse {
					t.Errorf("reply %+v, want a response", r)
				}
			}
			if got := s.heads.Load(); got != rounds {
				t.Errorf("%d heads at the server for %d sends", got, rounds)
			}
		})
	}
}

func TestConnectionsAreKept(t *testing.T) {
	s := &rawServer{handle: func(c *net.TCPConn, r *http.Request, _ int) bool {
		return answer(c, okReply)
	}}
	v := newVolleys(1, 50, wire.Get)
	begin(t, Config{Fleet: v, BaseURL: s.start(t)})
	<-v.done
	if got := s.connections.Load(); got != 1 {
		t.Errorf("50 requests in a row took %d connections", got)
	}
}

// TestRequestsOnTheWire pins every byte that is sent.
func TestRequestsOnTheWire(t *testing.T) {
	for _, m := range methods {
		t.Run(m.String(), func(t *testing.T) {
			got := make(chan string, 1)
			s := &rawServer{accepted: func(c *net.TCPConn) bool {
				head := make([]byte, 1<<10)
				n, _ := c.Read(head) // a head this short comes whole
				answer(c, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
				rest, _ := io.ReadAll(c)
				got <- string(head[:n]) + string(rest)
				return false
			}}
			v := newVolleys(1, 1, m)
			url := s.start(t)
			begin(t, Config{Fleet: v, BaseURL: url, Routes: []string{"/a?b=c"}})
			want := strings.Join([]string{
				m.String() + " /a?b=c HTTP/1.1",
				"Host: " + strings.TrimPrefix(url, "http://"),
				"User-Agent: Go-http-client/1.1",
				"Herdscope-Attempt: 0.1.1.critical.0.-",
				"", "",
			}, "\r\n")
			if diff := cmp.Diff(want, <-got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

// closeSeen is a connection that tells when its owner closes it.
type closeSeen struct {
	net.Conn
	closed chan struct{}
	once   sync.Once
}

func (c *closeSeen) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

func TestAConnectionThatDiedIdleIsNotUsed(t *testing.T) {
	s := &rawServer{handle: func(c *net.TCPConn, r *http.Request, _ int) bool {
		answer(c, okReply)
		return false
	}}
	f := &script{}
	answered := make(chan wire.Reply, 1)
	f.on = func(_ clock.Instant, in fleet.Input) []engine.Effect {
		if in.Kind == fleet.Answered {
			answered <- in.Reply
			return nil
		}
		a := attemptOf(0, wire.Get)
		a.ID.Request = wire.RequestID(1 + len(f.seen))
		return []engine.Effect{sendOf(a)}
	}
	d, err := New(Config{
		Fleet: f, Clock: NewClock(), BaseURL: s.start(t), Routes: []string{"/"}, Clients: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	d.sender.transport.DialContext = dialWith(
		func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, address)
			return &closeSeen{Conn: c, closed: closed}, err
		})
	runIt(t, d)
	<-answered
	<-closed
	closed = make(chan struct{})
	if err := d.Do(fleet.Input{Kind: fleet.Set}); err != nil {
		t.Fatal(err)
	}
	if r := <-answered; r.Kind != wire.ReplyResponse || s.heads.Load() != 2 {
		t.Errorf("reply %+v, %d heads, want a response and 2", r, s.heads.Load())
	}
}
