package retryafter

import (
	"math"
	"strconv"
	"time"

	"herdscope/engine/wire"
)

// The names of the two fields, as net/http writes them.
const (
	// FieldName is the field of RFC 9110, section 10.2.3.
	FieldName = "Retry-After"
	// PushbackName is gRPC's field grpc-retry-pushback-ms (gRFC A6).
	PushbackName = "Grpc-Retry-Pushback-Ms"
)

// pushbackStop is what a server writes that wants no retry.
const pushbackStop = "-1"

// NameOf is the name of the field that a form is written in.
func NameOf(f wire.HintForm) string {
	if f.Pushback() {
		return PushbackName
	}
	return FieldName
}

// ParsePushback reads all pushback fields of one response. A number of
// milliseconds from 0 on says when to retry; everything else, several fields
// among it, says not to (gRFC A6, and stream.go of grpc-go). No fields are no
// hint.
func ParsePushback(values []string) wire.Hint {
	if len(values) == 0 {
		return wire.Hint{}
	}
	ms, err := strconv.ParseInt(values[0], 10, 64)
	if err != nil || ms < 0 || len(values) > 1 {
		return wire.Hint{Form: wire.HintPushbackStop}
	}
	return wire.Hint{Form: wire.HintPushback, Value: ms}
}

// ParseFields reads what a response with the given fields asks for: its
// Retry-After as ParseValues does, and where that is missing or none its
// pushback. The function field gives all values of the field of a name.
func ParseFields(field func(name string) []string, nowUnix int64) wire.Hint {
	if h, err := ParseValues(field(FieldName), nowUnix); err == nil && h.Form != wire.HintNone {
		return h
	}
	return ParsePushback(field(PushbackName))
}

// milliseconds is n of them, 0 if n is negative, saturating as time.Duration does.
func milliseconds(n int64) time.Duration {
	const ms = int64(time.Millisecond)
	if n > math.MaxInt64/ms {
		return math.MaxInt64
	}
	return time.Duration(max(n, 0) * ms)
}
