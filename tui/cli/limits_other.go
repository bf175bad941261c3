//go:build !unix

package cli

import "herdscope/scenarios"

// allowLive has nothing to check where there is no limit of open files.
func allowLive(scenarios.Scenario) error { return nil }

// mostConnections is any number.
func mostConnections() int { return 0 }
