package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/wire"
)

// once sends one GET to url and returns what the fleet was told of it.
func once(t *testing.T, c *Clock, url string) fleet.Input {
	t.Helper()
	v := newVolleys(1, 1, wire.Get)
	_, stop := begin(t, Config{Fleet: v, Clock: c, BaseURL: url})
	<-v.done
	stop()
	return v.fedSoFar(fleet.Answered)[0].in
}

func TestRepliesByKind(t *testing.T) {
	response := func(status uint16) wire.Reply {
		return wire.Reply{Kind: wire.ReplyResponse, Status: status}
	}
	lost := wire.Reply{Kind: wire.ReplyReset}
	long := maxBody + 1000
	tests := []struct {
		name, text string
		want       wire.Reply
	}{
		{"whole", okReply, response(200)},
		{"no body", "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", response(503)},
		{"ended by close", "HTTP/1.1 200 OK\r\n\r\nto the end", response(200)},
		{"redirect", "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", response(302)},
		{"informational first", "HTTP/1.1 103 Early Hints\r\n\r\n" + okReply, response(200)},
		{"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
			response(200)},
		{"longer than is read", fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", long) +
			strings.Repeat("x", long), response(200)},
		{"nothing", "", lost},
		{"half a status line", "HTTP/1.", lost},
		{"half a header", "HTTP/1.1 200 OK\r\nContent-Le", lost},
		{"half a body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", lost},
		{"half a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhal", lost},
		{"garbage", "\x00\x01\x02 what is this\r\n\r\n", lost},
		{"garbage in a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", lost},
		{"bad length", "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", lost},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &rawServer{handle: func(c *net.TCPConn, _ *http.Request, _ int) bool {
				answer(c, tt.text)
				return false
			}}
			if got := once(t, NewClock(), s.start(t)).Reply; got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if n := s.heads.Load(); n != 1 {
				t.Errorf("%d heads at the server for 1 send", n)
			}
		})
	}
}

func TestAConnectionClosedOnAcceptIsAReset(t *testing.T) {
	for name, closing := range map[string]func(*net.TCPConn){
		"reset": reset,
		"close": func(c *net.TCPConn) { c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			s := &rawServer{accepted: func(c *net.TCPConn) bool { closing(c); return false }}
			v := newVolleys(50, 2, wire.Get)
			_, stop := begin(t, Config{Fleet: v, BaseURL: s.start(t), Clients: 50})
			<-v.done
			stop()
			for _, r := range v.replies {
				if r.Kind != wire.ReplyReset {
					t.Fatalf("reply %+v, want a reset", r)
				}
			}
			if n := s.connections.Load(); n != 100 {
				t.Errorf("%d connections for 100 sends", n)
			}
		})
	}
}

func TestNobodyListeningIsRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	got := once(t, NewClock(), "http://"+l.Addr().String()).Reply
	if want := (wire.Reply{Kind: wire.ReplyRefused}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestFailuresByError(t *testing.T) {
	dialing := func(e error) error { return fmt.Errorf("round trip: %w", dialError{e}) }
	tests := []struct {
		name string
		err  error
		want result
	}{
		{"refused", dialing(syscall.ECONNREFUSED), result{reply: wire.Reply{Kind: wire.ReplyRefused}}},
		{"no files", dialing(&net.OpError{Op: "dial", Err: syscall.EMFILE}),
			result{reply: wire.Reply{Kind: wire.ReplyRefused}, limit: syscall.EMFILE}},
		{"no ports", dialing(syscall.EADDRNOTAVAIL),
			result{reply: wire.Reply{Kind: wire.ReplyRefused}, limit: syscall.EADDRNOTAVAIL}},
		{"reset in connect", dialing(syscall.ECONNRESET),
			result{reply: wire.Reply{Kind: wire.ReplyReset}}},
		{"reset", syscall.ECONNRESET, result{reply: wire.Reply{Kind: wire.ReplyReset}}},
		{"anything", errors.New("anything"), result{reply: wire.Reply{Kind: wire.ReplyReset}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := failed(context.Background(), tt.err); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			gone, cancel := context.WithCancel(context.Background())
			cancel()
			if got := failed(gone, tt.err); got != (result{aborted: true}) {
				t.Errorf("got %+v after an abort", got)
			}
		})
	}
}

func TestRetryAfterIsHandedOver(t *testing.T) {
	c := NewClock()
	date := c.Epoch().Add(90 * time.Second).Truncate(time.Second)
	tests := []struct {
		name, value string
		form        wire.HintForm
		at          func(received clock.Instant) clock.Instant
	}{
		{"seconds", "7", wire.HintSeconds,
			func(r clock.Instant) clock.Instant { return r.Add(7 * time.Second) }},
		{"date", date.UTC().Format(http.TimeFormat), wire.HintIMFDate,
			func(clock.Instant) clock.Instant { return clock.Instant(date.Sub(c.Epoch())) }},
		{"malformed", "soon", wire.HintNone, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", tt.value)
				w.WriteHeader(http.StatusTooManyRequests)
			}))
			defer s.Close()
			v := newVolleys(1, 1, wire.Get)
			_, stop := begin(t, Config{Fleet: v, Clock: c, BaseURL: s.URL})
			<-v.done
			stop()
			got := v.fedSoFar(fleet.Answered)[0]
			if got.in.Reply.Hint.Form != tt.form || got.in.Reply.Status != 429 {
				t.Fatalf("reply %+v, want the form %v", got.in.Reply, tt.form)
			}
			if tt.at != nil && got.in.NotBefore != tt.at(got.at) {
				t.Errorf("not before %v, want %v", got.in.NotBefore, tt.at(got.at))
			}
		})
	}
}

func TestRoutesAreJoinedToTheBase(t *testing.T) {
	urls, err := parseRoutes("http://h:1/base/", []string{"/", "/a?b=c"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range urls {
		got = append(got, u.String())
	}
	if diff := cmp.Diff([]string{"http://h:1/base/", "http://h:1/base/a?b=c"}, got); diff != "" {
		t.Errorf("URLs (-want +got):\n%s", diff)
	}
}

func TestConfigurationsThatAreRefused(t *testing.T) {
	good := func() Config {
		return Config{
			Fleet: &script{}, Clock: NewClock(), BaseURL: "http://127.0.0.1:1",
			Routes: []string{"/"}, Clients: 1,
		}
	}
	tests := []struct {
		want  string
		spoil func(*Config)
	}{
		{"no fleet", func(c *Config) { c.Fleet = nil }},
		{"no clock", func(c *Config) { c.Clock = nil }},
		{"at least 1", func(c *Config) { c.Clients = 0 }},
		{"http://host:port", func(c *Config) { c.BaseURL = "https://h" }},
		{"http://host:port", func(c *Config) { c.BaseURL = "h:80/x" }},
		{"parse base URL", func(c *Config) { c.BaseURL = "http://[" }},
		{"begins with /", func(c *Config) { c.Routes = []string{"a"} }},
		{"parse route", func(c *Config) { c.Routes = []string{"/%zz"} }},
	}
	if _, err := New(good()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		c := good()
		tt.spoil(&c)
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error is %v, want %q in it", err, tt.want)
		}
	}
}

func TestKeyGoesOutAsItsField(t *testing.T) {
	s, err := newSender("http://127.0.0.1:1", []string{"/"}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	a := wire.Attempt{ID: wire.AttemptID{Request: 1, Try: 2}, Method: wire.Post}
	if got, ok := s.request(a).Header["Idempotency-Key"]; ok {
		t.Errorf("an attempt without a key goes out with %q", got)
	}
	a.Key = 0xc0ffee
	if got := s.request(a).Header.Get("Idempotency-Key"); got != `"0000000000c0ffee"` {
		t.Errorf("the key goes out as %q", got)
	}
}
