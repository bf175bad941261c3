package live

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"herdscope/engine/wire"
)

// newBase makes an HTTP client like http.DefaultTransport whose connections
// count what is written to them.
func newBase() *http.Transport {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialWith(dialer.DialContext),
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          100,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
}

// seal makes a copy of the request that net/http sends once: see Transport. The
// methods that only read need a body, since net/http repeats them otherwise;
// what else has no content is repeated only for its Idempotency-Key, and keeps
// the Content-Length: 0 that servers want of it.
func seal(r *http.Request) *http.Request {
	r = r.WithContext(r.Context())
	r.GetBody = nil
	//lint:ignore SA1019 The call watches it instead, so that it counts as a cancel.
	r.Cancel = nil
	if r.Body != nil && r.Body != http.NoBody {
		return r
	}
	if methodOf(r).Safe() {
		r.Body = io.NopCloser(strings.NewReader(""))
		r.TransferEncoding = []string{"identity"}
		return r
	}
	r.Header = r.Header.Clone()
	for _, field := range []string{wire.KeyHeader, "X-" + wire.KeyHeader} {
		if values, ok := r.Header[field]; ok {
			delete(r.Header, field)
			r.Header[strings.ToLower(field)] = values
		}
	}
	return r
}

// trace is how far the base got with a request. The base may still write to it
// after it has returned.
type trace struct {
	sought atomic.Bool // a connection was looked for
	use    atomic.Pointer[connUse]
}

func (tr *trace) into(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { tr.sought.Store(true) },
		GotConn: func(info httptrace.GotConnInfo) {
			use := connUse{conn: countedIn(info.Conn), kept: info.Reused}
			if use.conn != nil {
				use.before = use.conn.written.Load()
			}
			tr.use.Store(&use)
		},
	})
}

// countedIn is the counted connection in c; nil if there is none.
func countedIn(c net.Conn) *countedConn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	counted, _ := c.(*countedConn)
	return counted
}

// untouched says that a kept connection took no byte of the request.
func (tr *trace) untouched() bool {
	use := tr.use.Load()
	return use != nil && use.untouched()
}

// kind is how an attempt ended in err. A base that does not say how far it got
// is judged by the error alone.
func (tr *trace) kind(err error) wire.ReplyKind {
	var op *net.OpError
	refused := errors.As(err, &op) && op.Op == "dial"
	if tr.sought.Load() {
		refused = tr.use.Load() == nil
	}
	if refused && !errors.Is(err, syscall.ECONNRESET) {
		return wire.ReplyRefused
	}
	return wire.ReplyReset
}

// unsent says that net/http has refused the request before it looked for a
// connection: the request is at fault, not the server.
func (t *Transport) unsent(tr *trace) bool {
	_, known := t.base.(*http.Transport)
	return known && !tr.sought.Load()
}

// permanent says that an error will come again however often it is tried.
func permanent(err error) bool {
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &certificate)
}
