package faultserver

import (
	"net/http"
	"time"

	"herdscope/engine/retryafter"
	"herdscope/engine/wire"
)

// replayedField says in a response that it is the stored one of an earlier
// attempt. There is no standard for it; payment services call it so.
const replayedField = "Idempotency-Replayed"

// setFields writes what a reply says in the fields of its response. Date is by
// the server's own clock, as are the dates in Retry-After, and not by that of
// the machine, so that a client that subtracts one from the other gets the wait
// that is meant.
func setFields(h http.Header, reply answered) {
	h.Set("Date", time.Unix(reply.date, 0).UTC().Format(http.TimeFormat))
	if reply.Hint.Form != wire.HintNone {
		h["Retry-After"] = retryafter.Fields(reply.Hint)
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
