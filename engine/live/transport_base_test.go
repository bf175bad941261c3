package live

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"herdscope/engine/wire"
)

// TestOneAttemptIsOneRequest holds where net/http would send again by itself:
// the server answers the first request on a connection and resets it at the
// second.
func TestOneAttemptIsOneRequest(t *testing.T) {
	ctx := t.Context()
	for _, tt := range []struct {
		name, method string
		ctx          context.Context
		body         func() io.Reader
		attempts     int
	}{
		{"GET", "GET", ctx, nil, 3},
		{"HEAD", "HEAD", ctx, nil, 3},
		{"DELETE", "DELETE", ctx, nil, 3},
		{"POST", "POST", ctx, nil, 1},
		{"POST with a key", "POST", WithIdempotencyKey(ctx, "k"), nil, 3},
		{"POST with a key and a body", "POST", WithIdempotencyKey(ctx, "k"),
			func() io.Reader { return strings.NewReader("x") }, 3},
		{"PUT with a stream", "PUT", ctx,
			func() io.Reader { return &stream{Reader: strings.NewReader("x")} }, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &rawServer{handle: func(c *net.TCPConn, r *http.Request, nth int) bool {
				if nth > 1 {
					reset(c)
					return false
				}
				if r.Header.Get("Warm") == "" {
					reset(c) // every request of the test fails, on whichever connection
					return false
				}
				return answer(c, okReply)
			}}
			url := s.start(t)
			tr := travel(t, patient())
			warm := request(t, ctx, "GET", url, nil)
			warm.Header.Set("Warm", "yes")
			if _, _, err := do(tr, warm); err != nil {
				t.Fatal(err)
			}
			var body io.Reader
			if tt.body != nil {
				body = tt.body()
			}
			_, _, err := do(tr, request(t, tt.ctx, tt.method, url, body))
			if !errors.Is(err, ErrFailed) {
				t.Errorf("%v, want ErrFailed", err)
			}
			sent := tr.count(wire.AttemptSent) - 1
			if heads := int(s.heads.Load()) - 1; sent != tt.attempts || heads != sent {
				t.Errorf("%d attempts and %d at the server, want %d", sent, heads, tt.attempts)
			}
		})
	}
}

// TestAConnectionThatDiedUnusedCostsNoAttempt has kept connections on which no
// byte of a second request gets out.
func TestAConnectionThatDiedUnusedCostsNoAttempt(t *testing.T) {
	for _, method := range []string{"GET", "POST", "PUT"} {
		t.Run(method, func(t *testing.T) {
			var bodies []string
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				text, _ := io.ReadAll(r.Body)
				bodies = append(bodies, string(text))
				io.WriteString(w, "ok")
			})
			tr := travel(t, patient())
			var dialer net.Dialer
			tr.base.(*http.Transport).DialContext = dialWith(
				func(ctx context.Context, network, address string) (net.Conn, error) {
					c, err := dialer.DialContext(ctx, network, address)
					return &dying{Conn: c}, err
				})
			for range 3 {
				var body io.Reader
				if method != "GET" {
					body = strings.NewReader("all of it")
				}
				if _, text, err := do(tr, request(t, t.Context(), method, url, body)); text != "ok" {
					t.Fatalf("%q %v", text, err)
				}
			}
			if n := tr.count(wire.AttemptSent); n != 3 || len(bodies) != 3 {
				t.Errorf("%d attempts, %d at the server, want 3", n, len(bodies))
			}
			for _, text := range bodies {
				if method != "GET" && text != "all of it" {
					t.Errorf("a body of %q", text)
				}
			}
		})
	}
}

// dying is a connection that takes nothing after its first answer.
type dying struct {
	net.Conn
	answered atomic.Bool
}

func (c *dying) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.answered.Store(true)
	return n, err
}

func (c *dying) Write(p []byte) (int, error) {
	if c.answered.Load() {
		return 0, syscall.EPIPE
	}
	return c.Conn.Write(p)
}

func TestWhatStandsOnTheWire(t *testing.T) {
	for _, tt := range []struct {
		method, key string
		want, not   []string
	}{
		{"GET", "", nil, []string{"Content-Length", "Transfer-Encoding"}},
		{"POST", "", []string{"Content-Length: 0"}, []string{"Transfer-Encoding"}},
		{"POST", "k", []string{"Content-Length: 0", "idempotency-key: k"}, []string{"Transfer-Encoding"}},
		{"DELETE", "k", []string{"idempotency-key: k"}, []string{"Transfer-Encoding"}},
	} {
		t.Run(tt.method+tt.key, func(t *testing.T) {
			ours, theirs := net.Pipe()
			defer theirs.Close()
			tr := travel(t, patient())
			tr.base.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
				return ours, nil
			}
			head := make(chan string, 1)
			go func() {
				var text strings.Builder
				for lines := bufio.NewScanner(theirs); lines.Scan() && lines.Text() != ""; {
					text.WriteString(lines.Text() + "\n")
				}
				head <- text.String()
				io.WriteString(theirs, okReply)
			}()
			ctx := t.Context()
			if tt.key != "" {
				ctx = WithIdempotencyKey(ctx, tt.key)
			}
			if _, _, err := do(tr, request(t, ctx, tt.method, anywhere, nil)); err != nil {
				t.Fatal(err)
			}
			text := <-head
			for _, want := range tt.want {
				if !strings.Contains(text, want+"\n") {
					t.Errorf("%q is not in\n%s", want, text)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(text, not) {
					t.Errorf("%q is in\n%s", not, text)
				}
			}
		})
	}
}

func TestRequestsThatNetHTTPRefusesSayNothingOfTheServer(t *testing.T) {
	p := patient()
	p.Breaker.Failures = 1
	tr := travel(t, p)
	for name, spoil := range map[string]func(*http.Request){
		"scheme":  func(r *http.Request) { r.URL.Scheme = "gopher" },
		"host":    func(r *http.Request) { r.URL.Host = "" },
		"header":  func(r *http.Request) { r.Header.Set("A", "b\nc") },
		"no URL":  func(r *http.Request) { r.URL = nil },
		"no head": func(r *http.Request) { r.Header = nil },
	} {
		r := request(t, t.Context(), "GET", anywhere, nil)
		spoil(r)
		if _, _, err := do(tr, r); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if n := tr.count(wire.AttemptSent); tr.Breaker(0) != wire.Closed || n != 3 {
		t.Errorf("breaker %v after %d attempts, want one for each that was sent", tr.Breaker(0), n)
	}
}

func TestRefusedAndReset(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + l.Addr().String()
	l.Close()
	s := &rawServer{handle: func(c *net.TCPConn, _ *http.Request, _ int) bool { reset(c); return false }}
	for url, want := range map[string]wire.Cause{nobody: wire.CauseRefused, s.start(t): wire.CauseReset} {
		_, _, err := get(t, travel(t, patient()), t.Context(), url)
		var e *Error
		if !errors.As(err, &e) || e.Reason != want || e.Attempts != 3 {
			t.Errorf("%v, want %v in 3 attempts", err, want)
		}
	}
}

func TestOverTLSAndHTTP2(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("http2=%v", http2), func(t *testing.T) {
			var seen atomic.Int64
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if seen.Add(1)%2 == 1 {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
				body, _ := io.ReadAll(r.Body)
				fmt.Fprintf(w, "%d%s", r.ProtoMajor, body)
			}))
			s.EnableHTTP2 = http2
			s.Config.ErrorLog = log.New(io.Discard, "", 0)
			s.StartTLS()
			defer s.Close()
			tr := travel(t, patient())
			untrusted := travel(t, patient())
			tr.base.(*http.Transport).TLSClientConfig = &tls.Config{
				RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs,
			}
			want := map[bool]string{false: "1", true: "2"}[http2]
			if code, text, err := get(t, tr, t.Context(), s.URL); code != 200 || text != want {
				t.Errorf("GET: %d %q %v", code, text, err)
			}
			r := request(t, t.Context(), "PUT", s.URL, strings.NewReader("!"))
			if code, text, err := do(tr, r); code != 200 || text != want+"!" {
				t.Errorf("PUT: %d %q %v", code, text, err)
			}
			if n := tr.count(wire.AttemptSent); n != 4 || seen.Load() != 4 {
				t.Errorf("%d attempts, %d at the server, want 4", n, seen.Load())
			}
			_, _, err := get(t, untrusted, t.Context(), s.URL)
			var certificate *tls.CertificateVerificationError
			if !errors.As(err, &certificate) || untrusted.count(wire.AttemptSent) != 1 {
				t.Errorf("%v after %d attempts, want one", err, untrusted.count(wire.AttemptSent))
			}
			tr.rests(t)
		})
	}
}
