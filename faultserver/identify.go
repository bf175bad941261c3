package faultserver

import (
	"hash/fnv"
	"math"
	"net"
	"net/http"
	"slices"
	"sync"

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
)

// guests numbers the requests of foreign clients.
type guests struct {
	mu       sync.Mutex
	requests map[wire.ClientID]wire.RequestID
}

// next is the ID of the next attempt of the client known by a key. A retry is
// not known as such: every attempt is the first of a request.
func (g *guests) next(key string) wire.AttemptID {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(key)) // never fails
	client := FirstForeignClient | wire.ClientID(hash.Sum32()>>1)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.requests == nil {
		g.requests = make(map[wire.ClientID]wire.RequestID)
	}
	if _, known := g.requests[client]; !known && len(g.requests) >= maxGuests {
		client = overflow
	}
	g.requests[client]++
	return wire.AttemptID{Client: client, Request: g.requests[client], Try: 1}
}

// identify is the attempt that a request is. The error says what is wrong with
// its wire.AttemptHeader.
func (s *Server) identify(r *http.Request) (wire.Attempt, error) {
	// The router lets no other methods through.
	method := wire.Method(slices.Index(wire.MethodNames(), r.Method))
	key := wire.ParseKey(r.Header.Get(wire.KeyHeader))
	if field := r.Header.Get(wire.AttemptHeader); field != "" {
		a, err := wire.ParseAttempt(field)
		a.Method, a.Key = method, key
		return a, err
	}
	class, ok := wire.ParseClass(r.Header.Get("X-Priority"))
	if !ok {
		class = wire.Interactive
	}
	return wire.Attempt{
		ID: s.guests.next(caller(r)), Class: class, Method: method, Key: key,
	}, nil
}

// caller is what a foreign client is known by.
func caller(r *http.Request) string {
	if id := r.Header.Get("X-Client-Id"); id != "" {
		return id
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
