// Package scenarios is experiments as data: what a Scenario says, the file it is
// written in, the knobs by which it is changed, and a built-in library.
//
// A file is YAML that is read strictly: every field is known, every value is
// checked, and the first thing that is wrong is an *Error with file, line,
// column, field, what would be allowed, and the name that was probably meant.
//
//	version: 1
//	name: restart              # lower case words with hyphens; required
//	title: One line.
//	story: >-
//	  A few sentences.
//	seed: 1
//	duration: 60s              # of a headless run
//	drain: 10s
//	fleet: {clients: 1000}
//	arrival: {kind: closed, think: 1s, held: 1}
//	classes:                   # a class that is left out has no requests
//	  critical: {weight: 1, method: GET, path: /pay, scope: pay, deadline: 5s}
//	retry: {attempts: 3, base: 100ms}
//	breaker: {failures: 5, open_for: 10s}
//	queue: {limit: 4}          # 0 pauses; without a limit is unlimited
//	scopes:                    # of those that classes name
//	  pay: {limit: 1}          # in place of queue.limit
//	server: {workers: 20, service: {shape: exponential, mean: 50ms}}
//	services:                  # behind the same server, each with routes of its own
//	  - {name: payments, routes: [/pay], workers: 2, service: {mean: 80ms}}
//	routes:                    # that take a time of their own
//	  - {path: /report, shape: lognormal, mean: 2s}
//	network: {delay: 0.5ms}
//	faults:
//	  - {name: outage, kind: outage, start: 5s, length: 3s, every: 25s}
//	timeline:
//	  - {at: 12s, set: {retry.jitter: full}}
//	  - {at: 20s, fault: outage, do: now}
//
// Sections mirror the names of the knobs, retry.base being base in the section
// retry; under classes stand the knobs mix.CLASS.* and queue.CLASS.* together. The
// knobs of a scope, as in scopes.pay.limit, exist where the scenario has it.
// What a file leaves out is as in Default.
//
// The package imports the configuration types of engine, fleet and fault, and
// runs nothing.
package scenarios
