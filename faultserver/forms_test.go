package faultserver

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

var rewrite = flag.Bool("rewrite", false, "write the transcripts anew")

// spoilt is a server with one fault that is on from the beginning.
func spoilt(k fault.Kind, change func(*fault.Fault)) fault.Config {
	f := fault.NewFault(k)
	f.Name = "f"
	if change != nil {
		change(&f)
	}
	return fault.Config{Faults: []fault.Fault{f}}
}

// wireTest is one kind of fault as its clients see it.
type wireTest struct {
	name   string
	config fault.Config
	// status and body are what Go's client gets; wrong is the error that it gets
	// in place of them.
	status int
	body   string
	wrong  error
	// left says that no more than silence comes.
	left bool
	// client and talk take the place of what else is here, where it takes more
	// than one request to see the fault.
	client func(*testing.T, *bench)
	talk   func(*dialogue)
}

var errAny = errors.New("any error")

func wireTests() []wireTest {
	at := func(p fault.Point) func(*fault.Fault) { return func(f *fault.Fault) { f.Point = p } }
	outage := func(m fault.Manner) func(*fault.Fault) { return func(f *fault.Fault) { f.How = m } }
	return append(talkTests(), []wireTest{
		{name: "none", status: 200, body: "OK\n"},
		{name: "outage", config: spoilt(fault.Outage, nil), wrong: syscall.ECONNRESET},
		{name: "black-hole", config: spoilt(fault.Outage, outage(fault.ByBlackHole)), left: true},
		{name: "freeze", config: spoilt(fault.Outage, outage(fault.ByFreezing)), left: true},
		{name: "errors", config: spoilt(fault.Errors, func(f *fault.Fault) {
			f.Status, f.Body = 418, "{\"error\": \"short and stout\"}\n"
		}), status: 418, body: "{\"error\": \"short and stout\"}\n"},
		{name: "latency", config: spoilt(fault.Latency, func(f *fault.Fault) { f.Added = time.Hour }), left: true},
		{name: "capacity", config: func() fault.Config {
			c := spoilt(fault.CapacityCut, func(f *fault.Fault) { f.Left = 0 })
			c.Workers = 1
			return c
		}(), left: true},
		{name: "close-arrival", config: spoilt(fault.Close, at(fault.PointArrival)), wrong: io.EOF},
		{name: "close-reply", config: spoilt(fault.Close, nil), wrong: io.EOF},
		{name: "close-header", config: spoilt(fault.Close, at(fault.PointHeader)), wrong: io.ErrUnexpectedEOF},
		{name: "close-body", config: spoilt(fault.Close, at(fault.PointBody)), wrong: io.ErrUnexpectedEOF},
		{name: "close-end", config: spoilt(fault.Close, at(fault.PointEnd)), status: 200, body: payload},
		{name: "reset-arrival", config: spoilt(fault.Reset, at(fault.PointArrival)), wrong: syscall.ECONNRESET},
		{name: "reset-reply", config: spoilt(fault.Reset, nil), wrong: syscall.ECONNRESET},
		{name: "reset-header", config: spoilt(fault.Reset, at(fault.PointHeader)), wrong: errAny},
		{name: "reset-body", config: spoilt(fault.Reset, at(fault.PointBody)), wrong: errAny},
		{name: "reset-end", config: spoilt(fault.Reset, at(fault.PointEnd)), status: 200, body: payload},
		{name: "truncated", config: spoilt(fault.Truncated, nil), wrong: io.ErrUnexpectedEOF},
		{name: "bad-chunk", config: spoilt(fault.BadChunk, nil), wrong: errAny},
		{name: "garbage", config: spoilt(fault.Garbage, nil), status: 200, body: string(noise)},
		{name: "drip", config: spoilt(fault.Drip, nil), status: 200, body: payload},
		{name: "slow-header", config: spoilt(fault.SlowHeader, nil), status: 200, body: payload},
	}...)
}

// tickWhile lets the run clock go on until the test is over, for replies that
// take their time.
func (b *bench) tickWhile() (stop func()) {
	over, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for at := time.Duration(0); ; at += 50 * ms {
			b.clock.set(at)
			select {
			case <-over:
				return
			case <-time.After(ms):
			}
		}
	}()
	return func() { close(over); <-gone }
}

// TestGoClientsSeeEachFault runs Go's client into each kind of fault.
func TestGoClientsSeeEachFault(t *testing.T) {
	for _, tt := range wireTests() {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, tt.config)
			switch {
			case tt.client != nil:
				tt.client(t, b)
				return
			case tt.left:
				b.leaves(t)
				return
			}
			if strings.HasPrefix(tt.name, "drip") || strings.HasPrefix(tt.name, "slow") {
				defer b.tickWhile()()
			}
			r := b.call(t.Context(), http.MethodPost, "/") // net/http repeats no POST
			switch {
			case tt.wrong == errAny && r.err == nil:
				t.Errorf("got %d %q, want an error", r.status, r.body)
			case tt.wrong == errAny:
			case !errors.Is(r.err, tt.wrong):
				t.Errorf("error %v, want %v", r.err, tt.wrong)
			case tt.wrong == nil && (r.status != tt.status || r.body != tt.body):
				t.Errorf("got %d %q, want %d %q", r.status, r.body, tt.status, tt.body)
			}
			if n := len(tt.config.Faults); n > 0 && b.stats().Faults[0].Hits != 1 {
				t.Errorf("%d hits, want 1", b.stats().Faults[0].Hits)
			}
			if sent, seen := b.written.Load(), int64(b.count(wire.ServerArrived)); sent != 1 || seen != 1 {
				t.Errorf("%d requests sent, %d seen; want one each", sent, seen)
			}
		})
	}
}

// leaves makes a request that is never answered, and leaves.
func (b *bench) leaves(t *testing.T) {
	conn := b.dial()
	fmt.Fprint(conn, request)
	within(t, "the arrival", func() bool { return b.count(wire.ServerArrived) == 1 })
	conn.Close()
	within(t, "the leaving", func() bool { return b.stats().Open == 0 })
	if n := b.stats().Faults[0].Hits; n != 1 {
		t.Errorf("%d hits, want 1", n)
	}
}

// request is what a transcript begins with.
const request = "POST /orders HTTP/1.1\r\nHost: shop.test\r\nX-Client-Id: a\r\nContent-Length: 0\r\n\r\n"

// TestTheBytesOnTheWire holds what goes over a bare connection against the
// transcripts in testdata/wire.
func TestTheBytesOnTheWire(t *testing.T) {
	for _, tt := range wireTests() {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, tt.config)
			if strings.HasPrefix(tt.name, "drip") || strings.HasPrefix(tt.name, "slow") {
				defer b.tickWhile()()
			}
			file := filepath.Join("testdata", "wire", tt.name+".txt")
			got := b.transcript(t, &tt)
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
		})
	}
}

// The ends of a transcript.
const (
	staysOpen = "<the connection stays open>"
	closes    = "<the server closes the connection>"
	resets    = "<the server resets the connection>"
)

// transcript is the request, what comes back, and how the connection then ends.
func (b *bench) transcript(t *testing.T, tt *wireTest) string {
	if tt.talk != nil {
		x := dialogue{t: t, b: b}
		tt.talk(&x)
		return x.text.String()
	}
	conn := b.dial()
	fmt.Fprint(conn, request)
	read := b.readToEnd
	if tt.left {
		within(t, "the arrival", func() bool { return b.count(wire.ServerArrived) == 1 })
		read = hear
	}
	got, end := read(t, conn)
	return visible("> ", request) + "\n" + visible("< ", fixedDates(got)) + end + "\n"
}

// hear is what comes on a connection on which nothing should come, and how it
// ends meanwhile.
func hear(_ *testing.T, conn net.Conn) (got, end string) {
	_ = conn.SetReadDeadline(time.Now().Add(20 * ms))
	text, err := io.ReadAll(conn)
	return string(text), endBy(err)
}

// readToEnd is what comes on a connection, and how it ends. It stays open if the
// server waits for another request: then all there is has been written, and the
// client can end it without losing any.
func (b *bench) readToEnd(t *testing.T, conn net.Conn) (got, end string) {
	var text []byte
	kept := false
	within(t, "the end of the connection", func() bool {
		_ = conn.SetReadDeadline(time.Now().Add(5 * ms))
		piece, err := io.ReadAll(conn)
		text, end = append(text, piece...), endBy(err)
		if end != staysOpen || kept {
			return end != staysOpen
		}
		if kept = idleConns(b) == 1; kept {
			closeWrite(conn)
		}
		return false
	})
	if kept {
		end = staysOpen
	}
	return string(text), end
}

// endBy is the end of a connection that the error of a read tells.
func endBy(err error) string {
	switch {
	case err == nil:
		return closes
	case errors.Is(err, os.ErrDeadlineExceeded):
		return staysOpen
	}
	return resets
}

var dates = regexp.MustCompile(`Date: [^\r]*`)

func fixedDates(text string) string {
	return dates.ReplaceAllString(text, "Date: Thu, 01 Jan 1970 00:00:00 GMT")
}

// visible is a text with a mark before each line, and what is not printable
// escaped.
func visible(mark, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		quoted := fmt.Sprintf("%q", line)
		b.WriteString(mark + strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`) + "\n")
	}
	return b.String()
}
