// Herdscope is a terminal dashboard for load and fault testing: it drives a
// fleet of HTTP clients through a retry, backoff, breaker and priority engine
// against a server that fails on purpose, and shows what that does.
package main

import (
	"os"

	"herdscope/tui/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
