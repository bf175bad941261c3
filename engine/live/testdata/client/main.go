// Command client is a program of another module that uses herdscope's engine:
// it asks a server that fails twice, and prints what came of it.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"herdscope/engine"
	"herdscope/engine/live"
	"herdscope/engine/wire"
)

func main() {
	failures := 2
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if failures--; failures >= 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, "hello")
	}))
	defer server.Close()
	if err := ask(server.URL); err != nil {
		log.Fatal(err)
	}
}

func ask(url string) error {
	policy := engine.Default()
	policy.Retry.Backoff.Base = 10 * time.Millisecond
	transport, err := live.NewTransport(policy)
	if err != nil {
		return err
	}
	defer transport.Close()
	client := &http.Client{Transport: transport}
	request, err := http.NewRequest("GET", url, nil)
	if err != nil {
		return err
	}
	request = request.WithContext(live.WithClass(request.Context(), wire.Critical))
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	result, _ := live.ResultOf(response)
	fmt.Printf("%d after %d attempts: %s\n", response.StatusCode, result.Attempts, body)
	return err
}
