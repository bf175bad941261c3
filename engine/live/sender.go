package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/retryafter"
	"herdscope/engine/wire"
)

// maxBody is how much of a body is read, in bytes. A longer one counts as
// whole there, and its connection is closed.
const maxBody = 1 << 20

// sender does the HTTP of the attempts of a fleet. It is safe for concurrent
// use.
//
// Three things make one attempt one request head at the server:
//
//   - http.Transport sends a request again if a kept connection fails before
//     the first byte of a response and it deems the request replayable. One
//     with a body that it cannot rewind is not; so every request has such a
//     body, of no bytes. The transfer encoding "identity" keeps net/http from
//     announcing it as chunked: nothing of it is on the wire.
//   - The one case in which sending again is right, a kept connection that
//     failed before a single byte of the request was written, is then no longer
//     covered by http.Transport. The sender covers it, by counting bytes.
//   - Redirects are not followed; there is no http.Client at all.
type sender struct {
	transport *http.Transport
	// own gives each client connections of its own, which it shares with nobody.
	own bool
	// headers are the request fields of each class, as NAME: VALUE.
	headers [wire.NumClasses]string
	routes  []*url.URL
	clock   *Clock
}

// result is what came of an attempt.
type result struct {
	reply wire.Reply
	// date is the response's Date; the zero Time if it has none.
	date time.Time
	// aborted: the attempt ended in an error after it had been cancelled.
	aborted bool
	// connectedAt is when it had a connection, or had none to wait for any more.
	connectedAt clock.Instant
	// limit is the limit of this machine that the attempt ran into, if any.
	limit error
}

func newSender(base string, routes []string, clients int, c *Clock) (*sender, error) {
	urls, err := parseRoutes(base, routes)
	if err != nil {
		return nil, err
	}
	return &sender{transport: newTransport(clients), routes: urls, clock: c}, nil
}

func parseRoutes(base string, routes []string) ([]*url.URL, error) {
	b, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("parse base URL: %w", err)
	}
	if b.Scheme != "http" || b.Host == "" {
		return nil, fmt.Errorf("base URL %q: want http://host:port", base)
	}
	var urls []*url.URL
	for _, route := range routes {
		if !strings.HasPrefix(route, "/") {
			return nil, fmt.Errorf("route %q: want a path that begins with /", route)
		}
		u, err := url.Parse(strings.TrimSuffix(base, "/") + route)
		if err != nil {
			return nil, fmt.Errorf("parse route %q: %w", route, err)
		}
		urls = append(urls, u)
	}
	return urls, nil
}

// newTransport makes a Transport that keeps twice as many idle connections as
// there are clients, since an abort or an open loop may have a client use more
// than one for a moment; and that adds nothing to what it is asked to send.
func newTransport(clients int) *http.Transport {
	dialer := &net.Dialer{KeepAlive: -1}
	var http1 http.Protocols
	http1.SetHTTP1(true)
	return &http.Transport{
		Proxy:               nil,
		DialContext:         dialWith(dialer.DialContext),
		DisableCompression:  true,
		MaxIdleConns:        2 * clients,
		MaxIdleConnsPerHost: 2 * clients,
		Protocols:           &http1,
	}
}

// keepApart gives each client connections of its own.
func (s *sender) keepApart() {
	if len(s.routes) == 0 {
		return // there is nothing to send
	}
	s.own = true
	dialer := &net.Dialer{KeepAlive: -1}
	s.transport.DialContext = dialWith(dialServer(dialer.DialContext, s.routes[0].Host))
}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// dialWith makes dial mark its errors and count what its connections write.
func dialWith(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, dialError{err}
		}
		return &countedConn{Conn: conn}, nil
	}
}

// dialError marks an error as one of making a connection.
type dialError struct{ error }

func (e dialError) Unwrap() error { return e.error }

// countedConn counts the bytes that were written to it.
type countedConn struct {
	net.Conn
	written atomic.Int64
}

func (c *countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.written.Add(int64(n))
	return n, err
}

// do sends the attempt and reads the reply to the end of its body.
func (s *sender) do(ctx context.Context, a wire.Attempt) result {
	connectedAt := clock.Never
	resp, err := s.roundTrip(ctx, a, &connectedAt)
	if connectedAt == clock.Never {
		connectedAt = s.clock.Now()
	}
	var r result
	if err != nil {
		r = failed(ctx, err)
	} else {
		r = s.read(ctx, resp)
	}
	r.connectedAt = connectedAt
	return r
}

func (s *sender) roundTrip(ctx context.Context, a wire.Attempt,
	connectedAt *clock.Instant) (*http.Response, error) {
	var use connUse
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			use = useOf(info)
			*connectedAt = s.clock.Now()
		},
	})
	for {
		use = connUse{}
		resp, err := s.transport.RoundTrip(s.request(a).WithContext(traced))
		if err == nil || ctx.Err() != nil || !use.untouched() {
			return resp, err
		}
	}
}

// connUse is one request's use of a connection.
type connUse struct {
	conn   *countedConn
	kept   bool  // it has carried an earlier request
	before int64 // bytes written to it before this one
}

func useOf(info httptrace.GotConnInfo) connUse {
	conn, ok := info.Conn.(*countedConn)
	if !ok {
		return connUse{}
	}
	return connUse{conn: conn, kept: info.Reused, before: conn.written.Load()}
}

// untouched says that the connection was a kept one and took no byte of the
// request: the server cannot have seen it, and a new connection may fare
// better. A new connection that fails is not tried again, so this ends.
func (u connUse) untouched() bool {
	return u.conn != nil && u.kept && u.conn.written.Load() == u.before
}

// request has no content, whatever the method: a body would have to be read by
// the server before net/http there could see the caller leave.
func (s *sender) request(a wire.Attempt) *http.Request {
	header := http.Header{wire.AttemptHeader: {wire.FormatAttempt(a)}}
	if a.Key != 0 {
		header[wire.KeyHeader] = []string{wire.FormatKey(a.Key)}
	}
	if name, value, ok := strings.Cut(s.headers[a.Class], ":"); ok {
		header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return &http.Request{
		Method:           a.Method.String(),
		URL:              s.url(a),
		Host:             s.routes[a.Route].Host,
		Header:           header,
		Body:             io.NopCloser(strings.NewReader("")),
		TransferEncoding: []string{"identity"},
	}
}

// url is where an attempt goes. http.Transport keeps connections by the host in
// it: one that has the client's number before it is that client's alone, and
// what it is dialled as is the server all the same.
func (s *sender) url(a wire.Attempt) *url.URL {
	u := s.routes[a.Route]
	if !s.own {
		return u
	}
	own := *u
	own.Host = "c" + strconv.FormatUint(uint64(a.ID.Client), 10) + "." + u.Host
	return &own
}

// dialServer makes a dialFunc that goes to the server, whatever the address.
func dialServer(dial dialFunc, server string) dialFunc {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dial(ctx, network, server)
	}
}

func (s *sender) read(ctx context.Context, resp *http.Response) result {
	defer resp.Body.Close()
	_, err := io.CopyN(io.Discard, resp.Body, maxBody+1)
	if err != nil && err != io.EOF {
		return failed(ctx, err)
	}
	return result{date: dateOf(resp.Header), reply: wire.Reply{
		Kind:   wire.ReplyResponse,
		Status: uint16(resp.StatusCode),
		Hint:   s.hint(resp.Header),
	}}
}

// hint is the response's Retry-After, or what stands in for it; one that cannot
// be read is none.
func (s *sender) hint(h http.Header) wire.Hint {
	now := s.clock.Epoch().Add(s.clock.Now().Duration())
	return retryafter.ParseFields(h.Values, now.Unix())
}

// dateOf is a response's Date; the zero Time if it has none that can be read.
func dateOf(h http.Header) time.Time {
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return time.Time{}
	}
	return date
}

// lead is how far the clock behind a Date is ahead of this one, whose epoch is
// given; 0 if there is no Date.
func lead(date time.Time, received clock.Instant, epochUnixNanos int64) time.Duration {
	if date.IsZero() {
		return 0
	}
	return retryafter.Lead(date.Unix(), received, epochUnixNanos)
}

// failed is the result of an attempt without a whole response. A response that
// cannot be understood counts as reset: its connection is closed for it. So does
// a connection that was made and reset before connect(2) had returned.
func failed(ctx context.Context, err error) result {
	if ctx.Err() != nil {
		return result{aborted: true}
	}
	r := result{reply: wire.Reply{Kind: wire.ReplyReset}, limit: limitIn(err)}
	if errors.As(err, new(dialError)) && !errors.Is(err, syscall.ECONNRESET) {
		r.reply.Kind = wire.ReplyRefused
	}
	return r
}

func (s *sender) close() { s.transport.CloseIdleConnections() }
