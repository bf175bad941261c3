package faultserver

import (
	"hash/fnv"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// FirstForeignClient is the lowest number of a client that is no member of the
// fleet. The number is a hash of what the client is known by, so that the draws
// for it do not depend on who called first; two may share one.
const FirstForeignClient wire.ClientID = 1 << 31

const (
	// maxGuests is how many foreign clients are told apart; the rest are counted
	// as one, overflow.
	maxGuests               = 1 << 16
	overflow  wire.ClientID = math.MaxUint32
	// maxName is how much is kept of what a client calls itself, in bytes.
	maxName = 64
	// maxFailures is how many failed attempts are remembered, to know a retry by.
	maxFailures = 1 << 16
)

// RetryWindow is how long after a failure, or after the moment that its
// Retry-After named, a repetition counts as a likely retry.
const RetryWindow = time.Minute

// ClientHeader and ClientCookie are what a foreign client may be known by.
const (
	ClientHeader = "X-Client-Id"
	ClientCookie = "client_id"
)

// guests numbers the requests of foreign clients. Its zero value knows nobody.
type guests struct {
	mu       sync.Mutex
	arrivals map[wire.ClientID]wire.RequestID
	// names is what those clients are known by, cut to maxName bytes.
	names map[wire.ClientID]string
	// failed is the failed attempts that may come again, the oldest of a kind
	// first; order is all of them as they came, to forget the oldest.
	failed map[repeatable][]failure
	order  []ordered
	likely int64
}

// repeatable is what is the same when a client tries again: its method and path,
// or its Idempotency-Key, as a hash.
type repeatable struct {
	client wire.ClientID
	what   uint64
}

// failure is an attempt that failed, and until when it may be repeated.
type failure struct {
	id    wire.AttemptID
	until clock.Instant
}

// ordered is a failure in the order in which they came.
type ordered struct {
	key repeatable
	id  wire.AttemptID
}

// guest is one arrival of a foreign client.
type guest struct {
	id wire.AttemptID
	// nth counts the arrivals of the client from 1.
	nth wire.RequestID
	key repeatable
}

// arrive is the next arrival of a client. Nobody tells a server which attempt is
// a retry. One that does the same as an earlier one that failed, soon enough
// after it, is likely to be: it is the next try of that request. Any other is
// the first try of a new request, whose number is that of the arrival.
func (g *guests) arrive(r *http.Request, now clock.Instant) guest {
	name := caller(r)
	client := clientNamed(name)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.arrivals == nil {
		g.arrivals = make(map[wire.ClientID]wire.RequestID)
		g.names = make(map[wire.ClientID]string)
		g.failed = make(map[repeatable][]failure)
	}
	switch _, known := g.arrivals[client]; {
	case known:
	case len(g.arrivals) >= maxGuests:
		client = overflow
	default:
		g.names[client] = strings.Clone(name[:min(len(name), maxName)])
	}
	g.arrivals[client]++
	v := guest{nth: g.arrivals[client], key: repeatable{client, hash(what(r))}}
	v.id = wire.AttemptID{Client: client, Request: v.nth, Try: 1}
	if f, ok := g.take(v.key, now); ok {
		g.likely++
		v.id = f.id
		v.id.Try = min(v.id.Try, math.MaxUint16-1) + 1
	}
	return v
}

// take removes the oldest failure that may be repeated at now.
func (g *guests) take(key repeatable, now clock.Instant) (f failure, ok bool) {
	known := g.failed[key]
	for len(known) > 0 && !ok {
		f, known = known[0], known[1:]
		ok = now <= f.until
	}
	g.keep(key, known)
	return f, ok
}

func (g *guests) keep(key repeatable, known []failure) {
	if len(known) == 0 {
		delete(g.failed, key)
		return
	}
	g.failed[key] = known
}

// fail remembers that an arrival has come to nothing, and that it may be
// repeated until RetryWindow after the given moment.
func (g *guests) fail(v guest, from clock.Instant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.order) >= maxFailures {
		g.forget()
	}
	g.order = append(g.order, ordered{v.key, v.id})
	g.failed[v.key] = append(g.failed[v.key], failure{v.id, from.Add(RetryWindow)})
}

// forget drops the older half of the failures, those that nobody has repeated.
func (g *guests) forget() {
	half := len(g.order) / 2
	for _, old := range g.order[:half] {
		if known := g.failed[old.key]; len(known) > 0 && known[0].id == old.id {
			g.keep(old.key, known[1:])
		}
	}
	g.order = append(g.order[:0], g.order[half:]...)
}

// name is what a foreign client is known by; empty for a member of the fleet.
func (g *guests) name(client wire.ClientID) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.names[client]
}

// counts is how many clients there are, and how many likely retries there were.
func (g *guests) counts() (clients int, likely int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.arrivals), g.likely
}

// forgetCounts sets the number of likely retries to 0.
func (g *guests) forgetCounts() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.likely = 0
}

// Transient says whether clients try again after a status.
func Transient(status uint16) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= http.StatusInternalServerError
}

// caller is what a foreign client is known by: what it says in ClientHeader, or
// else in the cookie ClientCookie, or else its address without the port, which
// changes from one connection to the next.
func caller(r *http.Request) string {
	if id := r.Header.Get(ClientHeader); id != "" {
		return id
	}
	if cookie, err := r.Cookie(ClientCookie); err == nil && cookie.Value != "" {
		return cookie.Value
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// what is what a request asks for, by which its repetition is known.
func what(r *http.Request) string {
	if key := r.Header.Get(wire.KeyHeader); key != "" {
		return r.Method + " key " + key
	}
	return r.Method + " " + r.URL.RequestURI()
}

// clientNamed is the number of the foreign client that is known by a name.
func clientNamed(name string) wire.ClientID {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	return FirstForeignClient | wire.ClientID(h.Sum32()>>1)
}

func hash(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	return h.Sum64()
}
