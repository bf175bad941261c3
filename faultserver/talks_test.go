package faultserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

// talkTests are the kinds of fault that one request does not show.
func talkTests() []wireTest {
	return []wireTest{
		{name: "quota", config: spoilt(fault.Quota, func(f *fault.Fault) { f.Limit.Rate = 1 }),
			client: meetsQuota, talk: talkOfQuota},
		{name: "refuse", config: refusing(), client: meetsRefusal, talk: talkOfRefusal},
		{name: "idle-close", config: spoilt(fault.IdleClose, func(f *fault.Fault) { f.After = 50 * ms }),
			client: meetsIdleClose, talk: talkOfIdleClose},
	}
}

func meetsQuota(t *testing.T, b *bench) {
	for _, want := range []int{200, 429} {
		if r := b.call(t.Context(), http.MethodPost, "/"); r.status != want {
			t.Errorf("%+v, want %d", r, want)
		}
	}
}

func meetsRefusal(t *testing.T, b *bench) {
	served := func() bool { return b.call(t.Context(), http.MethodPost, "/").status == 200 }
	within(t, "a reply before the outage", served)
	b.clock.set(sec)
	within(t, "a refusal", func() bool {
		return errors.Is(b.call(t.Context(), http.MethodPost, "/").err, syscall.ECONNREFUSED)
	})
	b.clock.set(2 * sec)
	within(t, "a reply after the outage", served)
}

func meetsIdleClose(t *testing.T, b *bench) {
	for i := range 3 {
		if r := b.call(t.Context(), http.MethodPost, "/"); r.status != 200 {
			t.Errorf("%+v, want 200", r)
		}
		within(t, "an idle connection", func() bool { return idleConns(b) == 1 })
		b.clock.set(time.Duration(i+1) * 60 * ms)
		within(t, "its end on both sides", func() bool { return openConns(b) == 0 })
	}
	within(t, "a hit for each connection", func() bool { return b.stats().Faults[0].Hits == 3 })
}

// dialogue is a transcript of more than one request.
type dialogue struct {
	t    *testing.T
	b    *bench
	text strings.Builder
}

// notes writes what is no bytes: how a connection begins or ends, and when.
func (x *dialogue) notes(format string, args ...any) { fmt.Fprintf(&x.text, "<"+format+">\n", args...) }

// asks makes the request.
func (x *dialogue) asks(c net.Conn) {
	if _, err := io.WriteString(c, request); err != nil {
		x.t.Fatal(err)
	}
	x.text.WriteString(visible("> ", request))
}

// hears waits for a reply.
func (x *dialogue) hears(c net.Conn) {
	var got bytes.Buffer
	_ = c.SetReadDeadline(time.Now().Add(patience))
	r, err := http.ReadResponse(bufio.NewReader(io.TeeReader(c, &got)), nil)
	if err != nil {
		x.t.Fatal(err)
	}
	_, err = io.Copy(io.Discard, r.Body)
	if err = errors.Join(err, r.Body.Close()); err != nil {
		x.t.Fatal(err)
	}
	x.text.WriteString(visible("< ", fixedDates(got.String())))
}

// ends waits for the end of what the server says, which nothing more comes before.
func (x *dialogue) ends(c net.Conn) (end string) {
	_ = c.SetReadDeadline(time.Now().Add(patience))
	text, err := io.ReadAll(c)
	if end = endBy(err); end == staysOpen || len(text) > 0 {
		x.t.Fatalf("%q, and %s", text, end)
	}
	return end
}

func talkOfQuota(x *dialogue) {
	conn := x.b.dial()
	for range 2 {
		x.asks(conn)
		x.hears(conn)
	}
}

// talkOfRefusal: a connection that is kept ends, another finds no listener, and
// after the window all is well at the same address.
func talkOfRefusal(x *dialogue) {
	kept := x.b.dial()
	x.asks(kept)
	x.hears(kept)
	within(x.t, "an idle connection", func() bool { return idleConns(x.b) == 1 })
	x.notes("at 1s the outage begins")
	x.b.clock.set(sec)
	x.text.WriteString(x.ends(kept) + "\n")
	within(x.t, "a refusal", func() bool {
		_, err := net.Dial("tcp", x.b.Addr())
		return errors.Is(err, syscall.ECONNREFUSED)
	})
	x.notes("a new connection is refused")
	x.notes("at 2s the outage ends")
	x.b.clock.set(2 * sec)
	var next net.Conn
	within(x.t, "a listener", func() (ok bool) {
		c, err := net.Dial("tcp", x.b.Addr())
		next = c
		return err == nil
	})
	defer next.Close()
	x.notes("a new connection is accepted")
	x.asks(next)
	x.hears(next)
}

// talkOfIdleClose: P-L10: the server closes its side alone. A client that has not
// seen that yet, or does not look, sends one more request: it is read and counted,
// and no reply can come.
func talkOfIdleClose(x *dialogue) {
	conn := x.b.dial()
	x.asks(conn)
	x.hears(conn)
	within(x.t, "an idle connection", func() bool { return idleConns(x.b) == 1 })
	x.notes("the connection is idle for 50ms")
	x.b.clock.set(50 * ms)
	if end := x.ends(conn); end != closes {
		x.t.Fatal(end)
	}
	x.notes("the server closes its side")
	x.asks(conn)
	within(x.t, "the end of both", func() bool {
		return x.b.count(wire.ServerDone)+x.b.count(wire.ServerReset) == 2 && openConns(x.b) == 0
	})
	x.notes("the server has read %d requests, answered %d, and closes the connection",
		x.b.count(wire.ServerArrived), x.b.count(wire.ServerDone))
}

// way is one of the ways in which a kind of fault shows.
type way struct {
	kind  fault.Kind
	how   fault.Manner
	point fault.Point
}

func wayOf(f *fault.Fault) way { return way{f.Kind, f.How, f.Point} }

func (w way) String() string { return fmt.Sprintf("%v, how %v, point %v", w.kind, w.how, w.point) }

// everyWay is each kind of fault, an outage in each manner, and the end of a
// connection at each point.
func everyWay() (ways []way) {
	for k := range fault.KindNames() {
		f := fault.NewFault(fault.Kind(k))
		switch f.Kind {
		case fault.Outage:
			for how := range fault.MannerNames() {
				ways = append(ways, way{f.Kind, fault.Manner(how), f.Point})
			}
		case fault.Close, fault.Reset:
			for point := range fault.PointNames() {
				ways = append(ways, way{f.Kind, f.How, fault.Point(point)})
			}
		default:
			ways = append(ways, wayOf(&f))
		}
	}
	return ways
}

// TestEveryFaultIsShownOnTheWire: no kind of fault is without a run of Go's client
// into it and a transcript, and no transcript is without a test.
func TestEveryFaultIsShownOnTheWire(t *testing.T) {
	var shown []way
	files := make(map[string]bool)
	for _, tt := range wireTests() {
		for i := range tt.config.Faults {
			shown = append(shown, wayOf(&tt.config.Faults[i]))
		}
		file := filepath.Join("testdata", "wire", tt.name+".txt")
		if text, err := os.ReadFile(file); err != nil || len(text) == 0 {
			t.Errorf("%s: %d bytes, %v", file, len(text), err)
		}
		files[file] = true
	}
	for _, w := range everyWay() {
		if !slices.Contains(shown, w) {
			t.Errorf("nothing shows %v", w)
		}
	}
	all, err := filepath.Glob(filepath.Join("testdata", "wire", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		if !files[file] {
			t.Errorf("%s belongs to no test", file)
		}
	}
}
