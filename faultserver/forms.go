package faultserver

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"herdscope/engine/wire"
)

// exchange is a request that waits for its reply, and what the reply is.
type exchange struct {
	s     *Server
	w     http.ResponseWriter
	r     *http.Request
	reply answered
}

// forms is how each form of a reply is written. Those that break the rules take
// the connection from net/http, which keeps them, and end it.
var forms = [wire.NumReplyForms]func(*exchange){
	wire.FormWhole:      (*exchange).whole,
	wire.FormGarbage:    (*exchange).garbage,
	wire.FormDrip:       (*exchange).drip,
	wire.FormSlowHeader: (*exchange).slowHeader,
	wire.FormLast:       (*exchange).last,
	wire.FormNothing:    (*exchange).nothing,
	wire.FormCutHeader:  (*exchange).cutHeader,
	wire.FormCutBody:    (*exchange).cutBody,
	wire.FormBadChunk:   (*exchange).badChunk,
}

// pieces is in how many parts a reply is written that comes bit by bit.
const pieces = 16

// payload is the body of a reply that is spoilt on its way: long enough to be
// cut, and JSON, so that a client has something to read.
var payload = func() string {
	var b strings.Builder
	b.WriteString(`{"items": [`)
	for i := range 32 {
		fmt.Fprintf(&b, `{"id": %d, "name": "item %d"}, `, 10+i, 10+i)
	}
	b.WriteString(`null]}` + "\n")
	return b.String()
}()

// noise is what a garbage body holds: bytes that are neither JSON nor UTF-8, the
// same in every run.
var noise = func() []byte {
	b := make([]byte, 256)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223 // Numerical Recipes, section 7.1
		b[i] = byte(x >> 24)
	}
	return b
}()

const (
	typeJSON  = "application/json"
	textPlain = "text/plain; charset=utf-8"
	// unknownLength leaves the length of a body to net/http.
	unknownLength = -1
)

// body is the text of a whole reply.
func (x *exchange) body() string {
	if x.reply.text != "" {
		return x.reply.text
	}
	return http.StatusText(int(x.reply.Status)) + "\n"
}

// begin writes the head of a reply by net/http.
func (x *exchange) begin(contentType string, length int) {
	h := x.w.Header()
	h["Content-Type"] = []string{contentType}
	if length >= 0 {
		h["Content-Length"] = []string{strconv.Itoa(length)}
	}
	setFields(h, x.reply)
	x.w.WriteHeader(int(x.reply.Status))
}

func (x *exchange) whole() {
	if x.reply.Hint.Form == wire.HintPadded {
		x.padded()
		return
	}
	x.s.deadline(http.NewResponseController(x.w).SetWriteDeadline, x.s.limits.write)
	x.begin(textPlain, unknownLength)
	_, _ = io.WriteString(x.w, x.body()) // an error means that the client has gone
}

func (x *exchange) garbage() {
	x.begin(typeJSON, len(noise))
	_, _ = x.w.Write(noise) // likewise
}

func (x *exchange) drip() {
	x.begin(typeJSON, len(payload))
	flush := http.NewResponseController(x.w).Flush
	if flush() != nil {
		return
	}
	x.bitByBit([]byte(payload), func(piece []byte) error {
		if _, err := x.w.Write(piece); err != nil {
			return err
		}
		return flush()
	})
}

func (x *exchange) slowHeader() {
	conn, _ := x.take()
	if conn == nil {
		return
	}
	defer conn.Close()
	defer x.s.closeWith(conn)()
	head := x.head(typeJSON, "Content-Length: "+strconv.Itoa(len(payload)), "Connection: close")
	if x.bitByBit(head, func(piece []byte) error { _, err := conn.Write(piece); return err }) {
		_, _ = conn.Write([]byte(payload))
	}
}

func (x *exchange) last() {
	conn, buffered := x.take()
	if conn == nil {
		return
	}
	_, _ = conn.Write(append(x.head(typeJSON, "Content-Length: "+strconv.Itoa(len(payload))), payload...))
	if x.reply.Hard {
		abort(conn)
		return
	}
	x.s.farewell(conn, buffered)
}

func (x *exchange) nothing() { x.leaveAfter(nil) }

func (x *exchange) cutHeader() {
	head := x.head(typeJSON, "Content-Length: "+strconv.Itoa(len(payload)))
	x.leaveAfter(head[:len(head)/2])
}

func (x *exchange) cutBody() {
	head := x.head(typeJSON, "Content-Length: "+strconv.Itoa(len(payload)))
	x.leaveAfter(append(head, payload[:len(payload)/2]...))
}

func (x *exchange) badChunk() {
	head := x.head(typeJSON, "Transfer-Encoding: chunked")
	good := payload[:len(payload)/2]
	x.leaveAfter(fmt.Appendf(head, "%x\r\n%s\r\nsize?\r\n%s\r\n", len(good), good, payload[len(good):]))
}

// leaveAfter writes what there is to write and ends the connection.
func (x *exchange) leaveAfter(text []byte) {
	conn, _ := x.take()
	if conn == nil {
		return
	}
	_, _ = conn.Write(text)
	if x.reply.Hard {
		abort(conn)
		return
	}
	_ = conn.Close()
}

// take takes the connection from net/http, with what has been read of it.
func (x *exchange) take() (net.Conn, *bufio.Reader) {
	conn, buffered, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // net/http then closes the connection itself
	}
	_ = conn.SetDeadline(time.Time{})
	return conn, buffered.Reader
}

// head is the head of a reply that is not written by net/http, with more fields.
func (x *exchange) head(contentType string, fields ...string) []byte {
	h := http.Header{"Content-Type": {contentType}}
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		h[name] = []string{value}
	}
	setFields(h, x.reply)
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 200 OK\r\n")
	_ = h.Write(&b) // a buffer takes everything
	b.WriteString("\r\n")
	return b.Bytes()
}

// bitByBit writes a text in pieces, the last of them when Reply.Over has passed
// on the run clock; it says whether it came to its end.
func (x *exchange) bitByBit(text []byte, write func([]byte) error) bool {
	began := x.s.clock.Now()
	for i := range pieces {
		from, to := i*len(text)/pieces, (i+1)*len(text)/pieces
		if !x.pause(began.Add(x.reply.Over*time.Duration(i+1)/pieces)) || write(text[from:to]) != nil {
			return false
		}
	}
	return true
}
