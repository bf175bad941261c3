package live

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fed is an input that a script was fed.
type fed struct {
	at clock.Instant
	in fleet.Input
}

// script is a fleet that a test writes.
type script struct {
	mu   sync.Mutex
	due  []clock.Instant // the instants at which it wants a Tick
	seen []fed
	// on answers an input with effects.
	on func(now clock.Instant, in fleet.Input) []engine.Effect
}

func (s *script) Step(now clock.Instant, in fleet.Input, out []engine.Effect) []engine.Effect {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, fed{now, in})
	for len(s.due) > 0 && s.due[0] <= now {
		s.due = s.due[1:]
	}
	if s.on == nil {
		return out
	}
	return append(out, s.on(now, in)...)
}

func (s *script) Deadline() (clock.Instant, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.due) == 0 {
		return clock.Never, false
	}
	return s.due[0], true
}

// fedSoFar is what the script was fed, of the given kinds.
func (s *script) fedSoFar(kinds ...fleet.InputKind) []fed {
	s.mu.Lock()
	defer s.mu.Unlock()
	var some []fed
	for _, f := range s.seen {
		for _, k := range kinds {
			if f.in.Kind == k {
				some = append(some, f)
			}
		}
	}
	return some
}

func attemptOf(client int, m wire.Method) wire.Attempt {
	return wire.Attempt{
		ID:     wire.AttemptID{Client: wire.ClientID(client), Request: 1, Try: 1},
		Method: m,
	}
}

func sendOf(a wire.Attempt) engine.Effect { return engine.Effect{Kind: engine.Send, Attempt: a} }

func abortOf(a wire.Attempt) engine.Effect { return engine.Effect{Kind: engine.Abort, Attempt: a} }

// volleys sends rounds of attempts, one per client and round, each when the
// round before has been answered whole.
type volleys struct {
	script
	clients, rounds int
	method          wire.Method
	replies         []wire.Reply // in the order of their coming
	done            chan struct{}
}

func newVolleys(clients, rounds int, m wire.Method) *volleys {
	v := &volleys{clients: clients, rounds: rounds, method: m, done: make(chan struct{})}
	v.on = v.step
	return v
}

func (v *volleys) step(_ clock.Instant, in fleet.Input) []engine.Effect {
	switch in.Kind {
	case fleet.Tick:
		return v.round(1)
	case fleet.Answered:
		v.replies = append(v.replies, in.Reply)
		n := len(v.replies)
		if n == v.clients*v.rounds {
			close(v.done)
		} else if n%v.clients == 0 {
			return v.round(n/v.clients + 1)
		}
	}
	return nil
}

func (v *volleys) round(n int) []engine.Effect {
	var out []engine.Effect
	for i := range v.clients {
		a := attemptOf(i, v.method)
		a.ID.Request = wire.RequestID(n)
		out = append(out, sendOf(a))
	}
	return out
}

// begin runs a driver until stop is called or the test ends.
func begin(t testing.TB, c Config) (d *Driver, stop func()) {
	t.Helper()
	if c.Routes == nil {
		c.Routes = []string{"/"}
	}
	if c.Clock == nil {
		c.Clock = NewClock()
	}
	if c.Clients == 0 {
		c.Clients = 1
	}
	d, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return d, runIt(t, d)
}

func runIt(t testing.TB, d *Driver) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

// rawServer reads request heads and lets the test do what it likes with the
// connection then.
type rawServer struct {
	net.Listener
	// handle is told how many requests the connection has brought, and returns
	// false to be done with it.
	handle func(c *net.TCPConn, r *http.Request, nth int) bool
	// accepted, if set, may be done with a connection before it is read.
	accepted    func(c *net.TCPConn) bool
	heads       atomic.Int64
	connections atomic.Int64
	conns       sync.WaitGroup
}

func (s *rawServer) start(t testing.TB) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Listener = l
	s.conns.Go(s.accept)
	t.Cleanup(func() {
		l.Close()
		s.conns.Wait()
	})
	return "http://" + l.Addr().String()
}

func (s *rawServer) accept() {
	for {
		c, err := s.Accept()
		if err != nil {
			return
		}
		s.connections.Add(1)
		s.conns.Go(func() { s.serve(c.(*net.TCPConn)) })
	}
}

func (s *rawServer) serve(c *net.TCPConn) {
	defer c.Close()
	if s.accepted != nil && !s.accepted(c) {
		return
	}
	r := bufio.NewReader(c)
	for nth := 1; ; nth++ {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		s.heads.Add(1)
		if !s.handle(c, req, nth) {
			return
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return
		}
	}
}

// reset closes a connection with RST.
func reset(c *net.TCPConn) { c.SetLinger(0); c.Close() }

func answer(c net.Conn, text string) bool {
	_, err := c.Write([]byte(text))
	return err == nil
}

const okReply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
