// Package twins holds the engine's policies against the libraries that many
// programs use for the same work, at their newest versions: sony/gobreaker,
// cenkalti/backoff, failsafe-go and hashicorp/go-retryablehttp.
//
// Where the semantics are meant to agree, both are driven with the same random
// inputs, and every verdict, state and moment has to be the same. Where they are
// meant to differ, the table "Found by running" has a row, which runs both and
// says what each does; when a library mends its ways, its row fails.
//
// The libraries read the wall clock, so each test runs in a bubble of
// testing/synctest: nothing waits, and nothing depends on the machine's speed.
//
// The package has nothing but tests. It must not be imported, and no package
// outside a test may import one of these libraries.
package twins
