package live_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"herdscope/engine"
	"herdscope/engine/live"
	"herdscope/engine/wire"
)

// A server that is busy for a moment, and a client that is patient: only the
// final outcome surfaces.
func ExampleNewTransport() {
	busy := 2
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if busy--; busy >= 0 {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, "booked")
	}))
	defer server.Close()

	policy := engine.Default()
	policy.Retry.Backoff.Base = 5 * time.Millisecond
	policy.Queue.Limit = 8
	transport, err := live.NewTransport(policy, live.WithDefaultTimeout(2*time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer transport.Close()
	client := &http.Client{Transport: transport}

	// What this request asks for beyond the policy is in its context: with a key
	// the server can tell a repetition, so that the POST may be retried.
	request, _ := http.NewRequest("POST", server.URL, nil)
	ctx := live.WithClass(request.Context(), wire.Critical)
	ctx = live.WithIdempotencyKey(ctx, "order-417")
	response, err := client.Do(request.WithContext(ctx))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	result, _ := live.ResultOf(response)
	fmt.Printf("%s: %s, in %d attempts\n", response.Status, body, result.Attempts)
	// Output: 200 OK: booked, in 3 attempts
}
