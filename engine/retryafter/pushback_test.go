package retryafter

import (
	"net/http"
	"testing"

	"herdscope/engine/wire"
)

// gRFC A6: a number from 0 on is a wait, and everything else forbids the retry.
func TestPushbackIsANumberOrAStop(t *testing.T) {
	stop := wire.Hint{Form: wire.HintPushbackStop}
	for _, tc := range []struct {
		values []string
		want   wire.Hint
	}{
		{nil, wire.Hint{}},
		{[]string{"0"}, wire.Hint{Form: wire.HintPushback}},
		{[]string{"1500"}, wire.Hint{Form: wire.HintPushback, Value: 1500}},
		{[]string{"-1"}, stop},
		{[]string{"-1500"}, stop},
		{[]string{""}, stop},
		{[]string{"soon"}, stop},
		{[]string{"1.5"}, stop},
		{[]string{"99999999999999999999"}, stop},
		{[]string{"10", "10"}, stop},
	} {
		if got := ParsePushback(tc.values); got != tc.want {
			t.Errorf("%q is %+v, want %+v", tc.values, got, tc.want)
		}
	}
}

// Whoever sends both, as a gateway before a gRPC server may, means the standard
// field; one that is none does not hide the other.
func TestRetryAfterComesBeforePushback(t *testing.T) {
	for value, want := range map[string]wire.Hint{
		"7":    {Form: wire.HintSeconds, Value: 7},
		"soon": {Form: wire.HintPushback, Value: 20},
	} {
		h := http.Header{FieldName: {value}, PushbackName: {"20"}}
		if got := ParseFields(h.Values, 0); got != want {
			t.Errorf("%q and 20 ms are %+v, want %+v", value, got, want)
		}
	}
}
