package live

import (
	"io"
	"net/http"
	"testing"
)

// BenchmarkTransport is what the policy costs a request: the base answers at
// once, without a network.
func BenchmarkTransport(b *testing.B) {
	base := tripFunc(func(*http.Request) (*http.Response, error) { return response(200, "ok"), nil })
	policy := patient()
	policy.Queue.Limit, policy.Breaker.Failures = 8, 5
	t, err := NewTransport(policy, WithBase(base))
	if err != nil {
		b.Fatal(err)
	}
	defer t.Close()
	for name, rt := range map[string]http.RoundTripper{"base alone": base, "transport": t} {
		b.Run(name, func(b *testing.B) {
			r := request(b, b.Context(), "GET", anywhere, nil)
			b.ReportAllocs()
			for b.Loop() {
				resp, err := rt.RoundTrip(r)
				if err != nil {
					b.Fatal(err)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
}
