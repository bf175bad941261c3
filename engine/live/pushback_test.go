package live

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"herdscope/engine/retryafter"
)

// A pushback decides the wait to the millisecond, or ends the request with the
// response that carried it.
func TestPushbackIsObeyed(t *testing.T) {
	for value, want := range map[string]struct {
		code int
		wait time.Duration
	}{
		"2345": {200, 2345 * time.Millisecond},
		"0":    {200, 0},
		"-1":   {503, 0},
		"soon": {503, 0},
	} {
		t.Run(value, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := patient()
				p.Retry.Pushback = true
				first := true
				tr := travel(t, p, WithBase(tripFunc(func(*http.Request) (*http.Response, error) {
					if !first {
						return response(200, ""), nil
					}
					first = false
					resp := response(503, "")
					resp.Header = http.Header{retryafter.PushbackName: {value}}
					return resp, nil
				})))
				began := time.Now()
				code, _, err := get(t, tr, t.Context(), anywhere)
				if d := time.Since(began); code != want.code || err != nil || d != want.wait {
					t.Errorf("%d after %v, %v; want %d after %v", code, d, err, want.code, want.wait)
				}
			})
		})
	}
}
