package faultserver

import (
	"flag"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

var updateLimits = flag.Bool("update-limits", false, "rewrite the transcripts of limits and effects")

// talk is what goes over one bare connection each: request lines with > before
// them, and what came back with <, every byte of it.
type talk struct {
	*bench
	text strings.Builder
}

// send makes one request and writes down the answer. \r is left out at the ends of
// lines, where every one has it.
func (x *talk) send(head string, fields ...string) {
	x.t.Helper()
	lines := append([]string{head + " HTTP/1.1", "Host: h", "Connection: close"}, fields...)
	for _, line := range lines {
		x.text.WriteString("> " + line + "\n")
	}
	conn := x.dial()
	if _, err := io.WriteString(conn, strings.Join(lines, "\r\n")+"\r\n\r\n"); err != nil {
		x.t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		x.t.Fatal(err)
	}
	head, body, _ := strings.Cut(string(answer), "\r\n\r\n")
	for _, line := range strings.Split(head, "\r\n") {
		x.text.WriteString("< " + line + "\n")
	}
	for _, line := range strings.SplitAfter(body, "\n") {
		if line != "" {
			x.text.WriteString("< | " + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	x.text.WriteString("\n")
}

func (x *talk) at(now time.Duration) {
	x.clock.set(now)
	x.text.WriteString("# at " + now.String() + "\n")
}

// golden compares all that was said with a file.
func (x *talk) golden(name string) {
	x.t.Helper()
	path := "testdata/" + name + ".txt"
	if *updateLimits {
		if err := os.WriteFile(path, []byte(x.text.String()), 0o644); err != nil {
			x.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		x.t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), x.text.String()); diff != "" {
		x.t.Errorf("%s (-want +got); -update-limits rewrites it:\n%s", path, diff)
	}
}

// newTalk talks to a server whose run began at the beginning of 2020.
func newTalk(t *testing.T, c fault.Config) *talk {
	t.Helper()
	const epoch = 1_577_836_800 * int64(time.Second)
	return &talk{bench: newBench(t, c, func(config *Config) {
		model, err := fault.New(c, 1, epoch)
		if err != nil {
			t.Fatal(err)
		}
		config.Model = model
	})}
}

// Each form of Retry-After as it stands on the wire. The next token comes 2.5 s
// after the first request.
func TestTranscriptOfRetryAfterForms(t *testing.T) {
	var all strings.Builder
	for i, form := range wire.HintNames() {
		x := newTalk(t, fault.Config{Limit: fault.RateLimit{
			Rate: 400, Burst: 1, Form: wire.HintForm(i),
		}})
		x.at(1500 * ms)
		x.get("/")
		x.send("GET /" + form)
		all.WriteString(x.text.String())
	}
	x := newTalk(t, fault.Config{})
	x.text = all
	x.golden("retry-after")
}

func TestTranscriptOfRateLimitFields(t *testing.T) {
	x := newTalk(t, fault.Config{Limit: fault.RateLimit{
		Rate: 200, Law: fault.FixedWindow, Window: 10 * sec, Per: fault.PerClient,
		Answer: fault.AnswerUnavailable, Form: wire.HintSeconds, Fields: true,
	}})
	x.at(2500 * ms)
	for range 3 {
		x.send("GET /search", "X-Client-Id: shop")
	}
	x.send("GET /search", "X-Client-Id: bank")
	x.at(10 * sec)
	x.send("GET /search", "X-Client-Id: shop")
	x.golden("ratelimit-fields")
}

// The clock of the server is a minute ahead: in Date and in Retry-After alike.
func TestTranscriptOfASkewedClock(t *testing.T) {
	x := newTalk(t, fault.Config{
		ClockSkew: time.Minute,
		Limit:     fault.RateLimit{Rate: 500, Burst: 1, Form: wire.HintIMFDate},
	})
	x.at(0)
	x.send("GET /")
	x.send("GET /")
	x.golden("skewed-clock")
}

// A repeated key gets 409 while the first is under way, then the stored reply,
// and takes effect again when that has expired.
func TestTranscriptOfIdempotency(t *testing.T) {
	x := newTalk(t, fault.Config{
		Service: fault.Service{Mean: 2 * sec},
		Effects: fault.Effects{Idempotency: true, TTL: time.Minute},
	})
	x.at(0)
	first := make(chan result, 1)
	go func() { first <- x.call(t.Context(), "POST", "/pay", "Idempotency-Key: order-417") }()
	within(t, "in service", func() bool { return x.stats().Busy == 1 })
	x.at(sec)
	x.send("POST /pay", "Content-Length: 0", "Idempotency-Key: order-417")
	x.at(2 * sec)
	if r := wait(t, first); r.status != 200 {
		t.Errorf("the first: %+v, want 200", r)
	}
	x.at(3 * sec)
	x.send("POST /pay", "Content-Length: 0", "Idempotency-Key: order-417")
	x.golden("idempotency")
	x.clock.set(62 * sec) // a minute after the effect
	go func() { first <- x.call(t.Context(), "POST", "/pay", "Idempotency-Key: order-417") }()
	within(t, "in service again", func() bool { return x.stats().Busy == 1 })
	x.clock.set(64 * sec)
	if r := wait(t, first); r.status != 200 || r.header.Get("Idempotency-Replayed") != "" {
		t.Errorf("after the reply has expired: %+v, want a 200 of its own", r)
	}
	want := EffectStats{Done: 2, Repeated: 1, Replayed: 1, Listed: []RepeatStats{{
		Attempt: x.last(wire.ServerRepeated).ID.String(), Client: "127.0.0.1",
		Key: strings.Trim(wire.FormatKey(wire.ParseKey("order-417")), `"`), Times: 2, Seconds: 64,
	}}}
	if diff := cmp.Diff(want, x.stats().Effects); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
}
