package faultserver

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"herdscope/engine/retryafter"
	"herdscope/engine/wire"
)

// replayedField says in a response that it is the stored one of an earlier
// attempt. There is no standard for it; payment services call it so.
const replayedField = "Idempotency-Replayed"

// padded writes a reply whose Retry-After has spaces around its value, which
// net/http would take away.
func (x *exchange) padded() {
	conn, _ := x.take()
	if conn == nil {
		return
	}
	defer conn.Close()
	defer x.s.closeWith(conn)()
	h, body := http.Header{"Content-Type": {textPlain}, "Connection": {"close"}}, x.body()
	h.Set("Content-Length", strconv.Itoa(len(body)))
	setFields(h, x.reply)
	h.Del("Retry-After")
	status := int(x.reply.Status)
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	_ = h.Write(&b) // a buffer takes everything
	fmt.Fprintf(&b, "Retry-After: %s\r\n\r\n", retryafter.Format(x.reply.Hint))
	if x.r.Method != http.MethodHead {
		b.WriteString(body)
	}
	_, _ = conn.Write(b.Bytes()) // an error means that the client has gone
}

// setFields writes what a reply says in the fields of its response. Date is by
// the server's own clock, as are the dates in Retry-After, and not by that of
// the machine, so that a client that subtracts one from the other gets the wait
// that is meant.
func setFields(h http.Header, reply answered) {
	h.Set("Date", time.Unix(reply.date, 0).UTC().Format(http.TimeFormat))
	if reply.Hint.Form != wire.HintNone {
		h[retryafter.NameOf(reply.Hint.Form)] = retryafter.Fields(reply.Hint)
	}
	if reply.Quota.Units > 0 {
		// Not Set: the field's name has a capital that net/http would take away.
		h["RateLimit-Policy"] = []string{retryafter.FormatPolicy(reply.Quota)}
		h["RateLimit"] = []string{retryafter.FormatQuota(reply.Quota)}
	}
	if reply.Replayed {
		h.Set(replayedField, "true")
	}
}
